internal import ByteStorage
internal import DecisionIndex
internal import KafkaClient
internal import LinkDecider
internal import StrictJSON

/// The limits and the source of a feed.
struct FeedOptions: Sendable {
    /// The connection to the cluster.
    var connection: Connection
    /// The settings, which determine the topics.
    var settings: Settings
    /// The first time to read, in milliseconds since 1970.
    var since: Int64
    /// A Boolean value that indicates whether rows contain no values that identify people.
    var masks = false
    /// The limit of rows.
    var capacity = DecisionIndex.defaultCapacity
}

/// The state that the reader and the endpoints share, under one lock.
struct FeedState {
    /// The index.
    var index: DecisionIndex
    /// The state of the reader.
    var status = FeedStatus()
    /// The topics, which are known when a broker has answered.
    var topics: FeedTopics
    /// The offset after the last one that was read, for each partition.
    var next: [RowSource: Int64] = [:]
    /// The number of times that the reader has begun with other records.
    var epoch = 0
    /// The clients that see records as they arrive.
    var live = LiveClients()
}

/// The state of the index that every list begins with.
struct FeedSummary {
    private let status: FeedStatus
    private let count: Int
    private let dropped: Int64
    private let oldest: RowKey?
    /// The newest row.
    let newest: RowKey?

    /// Creates the summary of a state.
    init(_ state: FeedState) {
        status = state.status
        count = state.index.count
        dropped = state.index.dropped
        oldest = state.index.oldest
        newest = state.index.newest
    }

    /// Writes its members.
    func write(_ json: inout JSONText) {
        json.object("state") { json in status.write(&json) }
        json.number("indexed", Int64(count))
        json.boolean("truncated", dropped > 0 || status.isShortened)
        let from = max(status.from, dropped > 0 ? oldest?.time ?? 0 : 0)
        json.number("from", from)
    }
}

/// The topics that a console reads: the topics of the decisions, then the topics of the dead letters.
struct FeedTopics: Equatable, Sendable {
    /// The names.
    let names: [String]
    /// The topics of the decisions.
    let outputs: OutputTopics
    /// The input topics, from which events are read.
    let inputs: Set<String>

    /// Creates a list of topics.
    init(_ outputs: OutputTopics, deadLetters: [String], inputs: [String] = []) {
        self.inputs = Set(inputs)
        self.outputs = outputs
        names = Array((outputs.names + deadLetters).unique.prefix(RowSource.applicationTopics))
    }

    /// Returns the place of a partition in the index, or nil if the topic is not read.
    func source(_ partition: TopicPartition) -> RowSource? {
        names.firstIndex(of: partition.topic).flatMap { source(of: $0, partition.partition) }
    }

    /// Returns the place of the partition of a name in the index.
    func source(of index: Int, _ partition: Int32) -> RowSource? {
        let others = outputs.names.count - 1
        let topic = index == 0 ? 0 : index <= others ? RowSource.applicationTopics + index - 1 : index - others
        return RowSource(topic: topic, partition: partition)
    }

    /// Returns the partition of a place in the index, or nil if the topic is not read.
    func partition(_ source: RowSource) -> TopicPartition? {
        let (topic, others) = (source.topic, outputs.names.count - 1)
        let application = topic - RowSource.applicationTopics + 1
        let index = application > 0 ? application : topic == 0 ? 0 : topic + others
        return names.indices.contains(index) ? TopicPartition(topic: names[index], partition: source.partition) : nil
    }
}

/// The state of the reader of decisions and dead letters.
struct FeedStatus: Sendable, Equatable {
    /// A phase of the reader.
    enum Phase: Sendable, Equatable {
        /// No broker has answered so far.
        case connecting
        /// The records since the look-back are read.
        case loading
        /// New records are read as they arrive.
        case live
        /// The broker does not answer, or refuses. What was read before can still be searched.
        case broken(message: String, next: String)
    }

    /// The phase.
    var phase = Phase.connecting
    /// The time since when the reader is in the phase, in milliseconds since 1970.
    var since: Int64 = 0
    /// The offsets that were read since the last start, and those to read until its end.
    var progress: (done: Int64, total: Int64) = (0, 0)
    /// The time from which records are read, in milliseconds since 1970.
    var from: Int64 = 0
    /// A Boolean value that indicates whether there are more records since the look-back than the index can hold.
    var isShortened = false
    /// The number of records read.
    var read: Int64 = 0

    static func == (a: FeedStatus, b: FeedStatus) -> Bool {
        a.phase == b.phase && a.since == b.since && a.progress == b.progress && a.from == b.from
            && a.isShortened == b.isShortened && a.read == b.read
    }

    /// A Boolean value that indicates whether the broker does not answer, or refuses.
    var isBroken: Bool {
        if case .broken = phase { true } else { false }
    }

    /// Changes the phase, and its time if it is another one.
    mutating func enter(_ phase: Phase, now: Int64) {
        guard phase != self.phase else { return }
        self.phase = phase
        since = now
    }

    /// Writes the members of the state's JSON object.
    func write(_ json: inout JSONText) {
        switch phase {
        case .connecting: json.text("phase", "connecting")
        case .loading: json.text("phase", "loading")
        case .live: json.text("phase", "live")
        case .broken(let message, let next):
            json.text("phase", "broken")
            json.text("message", message)
            json.text("next", next)
        }
        json.number("since", since)
        json.number("done", min(progress.done, progress.total))
        json.number("total", progress.total)
        json.number("from", from)
        json.boolean("shortened", isShortened)
        json.number("read", read)
    }
}
