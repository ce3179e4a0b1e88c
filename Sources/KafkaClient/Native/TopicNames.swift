internal import CRdKafka
internal import ByteStorage

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The indices of the topics of a consumer, so that a record carries an index instead of a name.
struct TopicNames: ~Copyable {
    private var names: [UnsafeMutablePointer<CChar>] = []
    private var strings: [String] = []
    // A topic object may be freed once no message refers to it, and its address may be reused. Pointers are therefore
    // only compared within one batch.
    private var lastPointer: OpaquePointer?
    private var lastIndex: Int32 = 0

    init() {}

    deinit {
        for name in names { free(name) }
    }

    /// The number of topics.
    var count: Int { strings.count }

    /// Discards the pointer of the previous batch.
    mutating func beginBatch() { lastPointer = nil }

    /// Returns the index of a message's topic.
    @inline(__always)
    mutating func index(of topic: OpaquePointer) -> Int32 {
        if topic == lastPointer { return lastIndex }
        return find(topic)
    }

    /// Returns the name as text.
    func name(at index: Int32) -> String { strings[Int(index)] }

    /// Returns the name's bytes, which are valid as long as the consumer.
    func bytes(at index: Int32) -> ByteView { ByteView(cString: names[Int(index)]) }

    /// Returns the index of a name, which is added if it is new.
    mutating func index(ofName name: UnsafePointer<CChar>) -> Int32 {
        for (index, known) in names.enumerated() where strcmp(known, name) == 0 { return Int32(index) }
        names.append(strdup(name))
        strings.append(String(cString: name))
        return Int32(names.count - 1)
    }

    @inline(never)
    private mutating func find(_ topic: OpaquePointer) -> Int32 {
        lastIndex = index(ofName: rd_kafka_topic_name(topic))
        lastPointer = topic
        return lastIndex
    }
}
