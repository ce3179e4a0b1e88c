internal import DecisionIndex

/// The state that the reader and the endpoints share, under one lock.
struct FeedState {
    /// The index.
    var index: DecisionIndex
    /// The state of the reader.
    var status = FeedStatus()
    /// The topics, which are known when a broker has answered.
    var topics: FeedTopics
    /// The number of partitions of the topic of decisions, or 0 if it is unknown.
    var partitions: Int32 = 0
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
