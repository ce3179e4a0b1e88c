internal import CRdKafka
internal import ByteStorage

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Numbers for the topics that a consumer has met, so that a record carries an index and no name.
struct TopicNames: ~Copyable {
    private var names: [UnsafeMutablePointer<CChar>] = []
    private var strings: [String] = []
    // A topic object may be freed and its address used for another one once no message refers to it, so pointers are
    // believed within one batch only.
    private var lastPointer: OpaquePointer?
    private var lastIndex: Int32 = 0

    init() {}

    deinit {
        for name in names { free(name) }
    }

    /// How many topics have been met.
    var count: Int { strings.count }

    /// Forgets the pointers of the batch before.
    mutating func beginBatch() { lastPointer = nil }

    /// The index of a message's topic.
    @inline(__always)
    mutating func index(of topic: OpaquePointer) -> Int32 {
        if topic == lastPointer { return lastIndex }
        return find(topic)
    }

    /// The name, as text.
    func name(at index: Int32) -> String { strings[Int(index)] }

    /// The name's bytes, which live as long as the consumer.
    func bytes(at index: Int32) -> ByteView { ByteView(cString: names[Int(index)]) }

    /// The index of a name, new where it was not known.
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
