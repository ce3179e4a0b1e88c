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

    /// Creates the state before the first contact with a broker.
    init(_ index: DecisionIndex, _ topics: FeedTopics) {
        self.index = index
        self.topics = topics
    }
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

/// The topics that a console reads: those of the decisions, then those of the dead letters.
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
