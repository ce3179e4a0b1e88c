package import KafkaClient
package import ByteStorage

/// What a lane needs of a consumer: a member of the group that reads committed records.
///
/// All calls come from the lane's thread; the rebalance handler runs on it too, inside `poll` and `close`.
package protocol LaneConsumer: AnyObject {
    /// The member's place in the group, for a transaction's offsets.
    associatedtype Group

    /// Joins the group.
    func subscribe() throws(KafkaError)
    /// Waits for the first record or event, then takes what is there at once; ends the batch before.
    func poll(max limit: Int, timeoutMilliseconds: Int32) -> PollOutcome
    /// The records of the last poll.
    var records: UnsafeBufferPointer<ConsumedRecord> { get }
    /// What the last poll brought beside records.
    var events: [ConsumerEvent] { get }
    /// Ends the batch and all views into it.
    func releaseBatch()
    /// Appends a record's headers, as views that live as long as the batch.
    func headerViews(of index: Int32, into views: inout [HeaderView])
    /// Bytes of a topic's name; they live as long as the consumer.
    func topicNameBytes(at index: Int32) -> ByteView
    /// A topic's index, which records carry.
    func topicIndex(of name: String) -> Int32
    /// The group's committed offsets.
    func committed(_ partitions: [TopicPartition], timeoutMilliseconds: Int32) throws(KafkaError) -> [PartitionResult]
    /// The ends of a partition, asked from its leader.
    func watermarks(of partition: TopicPartition, timeoutMilliseconds: Int32) throws(KafkaError) -> Watermarks
    /// The ends of a partition as the last fetch told them; nil before the first one. Asks nobody.
    func cachedWatermarks(of partition: TopicPartition) -> Watermarks?
    /// Answers an assignment: `added` are new, `all` is what is owned then.
    func take(_ added: [PartitionOffset], all: [PartitionOffset]) throws(KafkaError)
    /// Answers a revocation of `given`.
    func give(_ given: [TopicPartition]) throws(KafkaError)
    /// Moves owned partitions; returns those that could not be moved.
    func seek(_ offsets: [PartitionOffset]) throws(KafkaError) -> [PartitionResult]
    /// Takes owned partitions away and assigns them anew at these offsets; `all` is what is owned.
    func reassign(_ offsets: [PartitionOffset], all: [PartitionOffset]) throws(KafkaError)
    /// Commits offsets without a transaction and waits for the answer, at most so long.
    func commit(_ offsets: [PartitionOffset], timeoutMilliseconds: Int32) throws(KafkaError)
    /// A fresh place in the group, or nil outside of one.
    func group() -> Group?
    /// The fatal error, once there is one: what a consumed "fatal" stands for.
    var fatalError: KafkaError? { get }
    /// Log lines and errors that have come.
    func takeEvents() -> [ClientEvent]
    /// Leaves the group.
    func close() throws(KafkaError)
}
