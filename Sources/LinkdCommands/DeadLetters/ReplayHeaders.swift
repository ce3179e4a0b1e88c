internal import ByteStorage
internal import DispatchWorker
internal import LinkIngest

/// The headers of a replayed record: those of the source, and two by which the worker counts replays.
struct ReplayHeaders: ~Copyable {
    /// The limit of the bytes of the two headers.
    static let limit = 640
    /// The limit of `dlq.origin` in bytes, at which a worker cuts it.
    private static let originLimit = 512

    private var arena = OutputArena(chunkBytes: 4096)
    /// The headers of the last record, which end with the next one.
    private(set) var list: [HeaderView] = []

    /// Writes the headers of a dead letter's replay.
    mutating func write(_ head: DeadLetterHead) {
        list.removeAll(keepingCapacity: true)
        arena.reset()
        for header in head.original where !DeadLetterHeaders.isWorkerHeader(header.name) { list.append(header) }
        if head.item != nil { list = RecordBatch.headers(list) }
        arena.begin()
        arena.append(decimal: Self.count(after: head))
        list.append(HeaderView(name: ByteView("dlq.replay.count"), value: arena.finish()))
        arena.begin()
        appendOrigin(head)
        list.append(HeaderView(name: ByteView("dlq.origin"), value: arena.finish()))
    }

    /// Returns the number of replays after the next one.
    static func count(after head: DeadLetterHead) -> Int64 { min(head.replayCount, .max - 1) + 1 }

    /// Appends the position at which the record, or the item, first became a dead letter.
    private mutating func appendOrigin(_ head: DeadLetterHead) {
        if let origin = head.origin { return arena.append(origin.slice(0, min(origin.count, Self.originLimit))) }
        guard let topic = head.sourceTopic, let partition = head.sourcePartition, let offset = head.sourceOffset
        else { return }
        arena.append(topic)
        arena.append("-")
        arena.append(decimal: Int64(partition))
        arena.append("-")
        arena.append(decimal: offset)
        guard let item = head.item else { return }
        arena.append(".")
        arena.append(decimal: Int64(item))
    }
}
