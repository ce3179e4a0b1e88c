internal import CRdKafka

/// Owns a client's topic handles.
///
/// A producer makes them at start: producing by name delays the first record of a fresh producer by up to a second
/// (librdkafka issue 5032).
struct TopicHandles: ~Copyable {
    private var handles: [OpaquePointer] = []
    private var names: [String] = []

    init() {}

    deinit {
        for handle in handles { rd_kafka_topic_destroy(handle) }
    }

    /// The place of a topic's handle, made where it is not there yet.
    mutating func add(_ name: String, to client: ClientHandle) throws(KafkaError) -> Int {
        if let known = names.firstIndex(of: name) { return known }
        guard let handle = client.quickly({ rd_kafka_topic_new($0, name, nil) }) else {
            throw KafkaError(code: KafkaErrorCode(rd_kafka_last_error()), text: "topic \(name)")
        }
        handles.append(handle)
        names.append(name)
        return handles.count - 1
    }

    /// The handle at a place.
    subscript(index: Int) -> OpaquePointer { handles[index] }

    /// Destroys all handles; the instance waits for that when it is destroyed.
    mutating func release() {
        for handle in handles { rd_kafka_topic_destroy(handle) }
        handles.removeAll()
        names.removeAll()
    }
}
