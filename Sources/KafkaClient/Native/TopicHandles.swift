internal import CRdKafka

/// The owner of a client's topic handles.
///
/// A producer creates them at its start. Producing by name delays the first record of a new producer by up to a second
/// (librdkafka issue 5032).
struct TopicHandles: ~Copyable {
    private var handles: [OpaquePointer] = []
    private var names: [String] = []

    init() {}

    deinit {
        for handle in handles { rd_kafka_topic_destroy(handle) }
    }

    /// Returns the index of a topic's handle, which is created if it does not exist.
    mutating func add(_ name: String, to client: ClientHandle) throws(KafkaError) -> Int {
        if let known = names.firstIndex(of: name) { return known }
        guard let handle = client.callWithoutWaiting({ rd_kafka_topic_new($0, name, nil) }) else {
            let code = KafkaErrorCode(rd_kafka_last_error())
            throw KafkaError(code: code, text: "cannot open the topic \(name): \(code.text)")
        }
        handles.append(handle)
        names.append(name)
        return handles.count - 1
    }

    /// Returns the handle at an index.
    subscript(index: Int) -> OpaquePointer { handles[index] }

    /// Destroys all handles, because destroying the instance waits until they are destroyed.
    mutating func release() {
        for handle in handles { rd_kafka_topic_destroy(handle) }
        handles.removeAll()
        names.removeAll()
    }
}
