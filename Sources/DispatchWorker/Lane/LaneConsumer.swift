package import KafkaClient
package import ByteStorage

/// The consumer of a lane: a member of the group that reads committed records.
///
/// All calls come from the lane's thread. The rebalance handler also runs on it, inside `poll` and `close`.
package protocol LaneConsumer: AnyObject {
    /// The metadata of the group membership, for a transaction's offsets.
    associatedtype Group

    /// Joins the group.
    func subscribe() throws(KafkaError)
    /// Waits for the first record or event, then returns everything that is available. Releases the previous batch.
    func poll(max limit: Int, timeoutMilliseconds: Int32) -> PollOutcome
    /// The records of the last poll.
    var records: UnsafeBufferPointer<ConsumedRecord> { get }
    /// The events of the last poll.
    var events: [ConsumerEvent] { get }
    /// Releases the batch and invalidates all views into it.
    func releaseBatch()
    /// Appends a record's headers as views that are valid as long as the batch.
    func headerViews(of index: Int32, into views: inout [HeaderView])
    /// Returns a Boolean value that indicates whether a broker has set a record's timestamp.
    func hasBrokerTimestamp(_ index: Int32) -> Bool
    /// Returns the bytes of a topic's name, which are valid as long as the consumer.
    func topicNameBytes(at index: Int32) -> ByteView
    /// Returns the index of a topic, as it is in records.
    func topicIndex(of name: String) -> Int32
    /// Fetches the group's committed offsets.
    func committed(_ partitions: [TopicPartition], timeoutMilliseconds: Int32) throws(KafkaError) -> [PartitionResult]
    /// Fetches the low and high watermarks of a partition from its leader.
    func watermarks(of partition: TopicPartition, timeoutMilliseconds: Int32) throws(KafkaError) -> Watermarks
    /// Returns the watermarks of a partition from the last fetch without a request, or nil before the first fetch.
    func cachedWatermarks(of partition: TopicPartition) -> Watermarks?
    /// Answers an assignment. `added` are the new partitions, and `all` are the owned partitions including the new
    /// ones.
    func assign(_ added: [PartitionOffset], all: [PartitionOffset]) throws(KafkaError)
    /// Answers a revocation of `revoked`.
    func unassign(_ revoked: [TopicPartition]) throws(KafkaError)
    /// Seeks owned partitions. Returns the results, with an error for each partition that could not be moved.
    func seek(_ offsets: [PartitionOffset]) throws(KafkaError) -> [PartitionResult]
    /// Removes owned partitions and assigns them again at these offsets. `all` are the owned partitions.
    func reassign(_ offsets: [PartitionOffset], all: [PartitionOffset]) throws(KafkaError)
    /// Stops fetching owned partitions. Returns the results, with an error for each partition that is still fetched.
    func pause(_ partitions: [TopicPartition]) throws(KafkaError) -> [PartitionResult]
    /// Fetches paused partitions again. Returns the results, with an error for each partition that is still paused.
    func resume(_ partitions: [TopicPartition]) throws(KafkaError) -> [PartitionResult]
    /// Commits offsets without a transaction and waits for the answer up to the timeout.
    func commit(_ offsets: [PartitionOffset], timeoutMilliseconds: Int32) throws(KafkaError)
    /// Returns the current group metadata, or nil outside of a group.
    func group() -> Group?
    /// The fatal error of the client, which is the cause of a `fatal` event, or nil.
    var fatalError: KafkaError? { get }
    /// Returns and removes the log lines and errors that have arrived.
    func takeEvents() -> [ClientEvent]
    /// Leaves the group.
    func close() throws(KafkaError)
}
