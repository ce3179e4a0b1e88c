package import ByteStorage
package import KafkaClient

/// The producer of a lane: transactions, or with at-least-once idempotent delivery.
///
/// All calls come from the lane's thread. Timeouts are in milliseconds. Nil selects the implementation's own limit.
package protocol LaneProducer: AnyObject {
    /// The metadata of the consumer's group membership.
    associatedtype Group

    /// Ends a predecessor's transaction and fences it. The call can be resumed.
    func initTransactions(timeoutMilliseconds: Int32) throws(KafkaError)
    /// A Boolean value that indicates whether a broker cannot fence a group's generation. Valid after
    /// `initTransactions`.
    var isFencingUnsupported: Bool { get }
    /// Opens a topic and fetches its partition count.
    func open(_ topic: String, timeoutMilliseconds: Int32) throws(KafkaError) -> (handle: Int, partitions: Int32)
    /// Begins a transaction.
    func begin() throws(KafkaError)
    /// Produces records to a partition in order. Their values are borrowed until the transaction has ended.
    ///
    /// Returns the number of accepted records. A smaller number comes with an error. After a full queue, the rest can
    /// be produced again.
    func produce(
        topic: Int, partition: Int32, _ records: UnsafeBufferPointer<OutboundRecord>
    ) -> (accepted: Int, error: KafkaError?)
    /// Produces one record with headers and copies everything. A nil timestamp means the current time.
    func produce(
        topic: Int, partition: Int32, key: ByteView?, value: ByteView?, headers: [HeaderView], timestamp: Int64?
    ) throws(KafkaError)
    /// Serves delivery reports.
    func poll(timeoutMilliseconds: Int32)
    /// Adds offsets to the transaction.
    func sendOffsets(_ offsets: [PartitionOffset], _ group: Group, timeoutMilliseconds: Int32?) throws(KafkaError)
    /// Commits the transaction.
    func commit(timeoutMilliseconds: Int32?) throws(KafkaError)
    /// Aborts the transaction.
    func abort() throws(KafkaError)
    /// Waits until all records are delivered. Returns the number of records that are not.
    func flush(timeoutMilliseconds: Int32) throws(KafkaError) -> Int
    /// The last error since `forgetErrors` that a record itself caused, such as its size, or nil.
    var refusal: KafkaError? { get }
    /// The last error of any failed delivery since `forgetErrors`, or nil.
    var deliveryError: KafkaError? { get }
    /// Resets the delivery errors.
    func forgetErrors()
    /// The number of times that the connection to the transaction coordinator was lost.
    var coordinatorDrops: Int { get }
    /// The fatal error of the client, or nil.
    var fatalError: KafkaError? { get }
    /// Returns and removes the log lines and errors that have arrived.
    func takeEvents() -> [ClientEvent]
    /// Destroys the client. Borrowed memory is not used afterward.
    func close()
}

/// The environment of a lane: its clients, its clocks, and the limits of its topics.
package protocol LaneEnvironment: AnyObject {
    /// The consumer's type.
    associatedtype Consumer: LaneConsumer
    /// The producer's type.
    associatedtype Producer: LaneProducer where Producer.Group == Consumer.Group

    /// Creates a consumer that passes every rebalance to `rebalance`, on the polling thread.
    func makeConsumer(rebalance: @escaping (RebalanceEvent) -> Void) throws(KafkaError) -> Consumer
    /// Joins the group with a consumer.
    func subscribe(_ consumer: Consumer) throws(KafkaError)
    /// Creates a producer.
    func makeProducer() throws(KafkaError) -> Producer
    /// Fetches the members of the group that have the lane's instance name, with a new client.
    func instanceHolders(timeoutMilliseconds: Int32) throws(KafkaError) -> InstanceHolders
    /// A Boolean value that indicates whether the broker is a mock, which does not fence.
    var isMock: Bool { get }
    /// Returns `max.message.bytes` of a topic.
    func messageLimit(of topic: String) -> Int
    /// Replaces the set of unmet needs of the lane.
    func setUnmetNeeds(_ needs: [ClientNeed])
    /// Returns the monotonic clock's time in nanoseconds.
    func now() -> UInt64
    /// Returns the milliseconds since 1970, for dead letters.
    func wallMilliseconds() -> Int64
    /// Blocks the thread.
    func sleep(milliseconds: Int)
}

/// The consumer of a lane: a member of the group that reads committed records.
///
/// All calls come from the lane's thread. The rebalance handler also runs on it, inside `poll` and `close`.
package protocol LaneConsumer: AnyObject {
    /// The metadata of the group membership, for a transaction's offsets.
    associatedtype Group

    /// Waits for the first record or event, then returns everything that is available. Releases the previous batch.
    func poll(max limit: Int, timeoutMilliseconds: Int32) -> PollOutcome
    /// The records of the last poll.
    var records: UnsafeBufferPointer<ConsumedRecord> { get }
    /// The events of the last poll.
    var events: [ConsumerEvent] { get }
    /// Returns and removes what interrupted the fetches before the records of the last poll were fetched.
    func takeInterruptions() -> FetchInterruptions
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
    /// Fetches the ids of topics by their names. A topic whose id is unknown is absent.
    func topicIDs(of names: [String], timeoutMilliseconds: Int32) throws(KafkaError) -> [String: String]
    /// Returns the watermarks of a partition from the last fetch without a request, or nil before the first fetch.
    func cachedWatermarks(of partition: TopicPartition) -> Watermarks?
    /// Answers an assignment. `added` are the new partitions, and `all` are the owned partitions including the new
    /// ones.
    func assign(_ added: [PartitionOffset], all: [PartitionOffset]) throws(KafkaError)
    /// Answers a revocation of `revoked`, whose pauses end.
    func unassign(_ revoked: [TopicPartition]) throws(KafkaError)
    /// Seeks owned partitions. Returns the results, with an error for each partition that could not be moved.
    func seek(_ offsets: [PartitionOffset]) throws(KafkaError) -> [PartitionResult]
    /// Removes owned partitions and assigns them again at these offsets. `all` are the owned partitions, whose pauses
    /// end.
    func reassign(_ offsets: [PartitionOffset], all: [PartitionOffset]) throws(KafkaError)
    /// Stops fetching owned partitions. Returns the results, with an error for each partition that is still fetched.
    func pause(_ partitions: [TopicPartition]) throws(KafkaError) -> [PartitionResult]
    /// Fetches paused partitions again. Returns the results, with an error for each partition that is still paused.
    func resume(_ partitions: [TopicPartition]) throws(KafkaError) -> [PartitionResult]
    /// Commits offsets without a transaction and waits for the answer up to the timeout.
    func commit(_ offsets: [PartitionOffset], timeoutMilliseconds: Int32) throws(KafkaError)
    /// Returns the current group metadata, or nil outside of a group.
    func groupMetadata() -> Group?
    /// The id that the group's coordinator gave to this member, or nil before the first answer.
    var memberID: String? { get }
    /// The fatal error of the client, which is the cause of a `fatal` event, or nil.
    var fatalError: KafkaError? { get }
    /// Returns and removes the log lines and errors that have arrived.
    func takeEvents() -> [ClientEvent]
    /// Leaves the group.
    func close() throws(KafkaError)
    /// Destroys the client without leaving the group and without a rebalance.
    func abandon()
}
