package import KafkaClient
package import ByteStorage

/// A topic that a lane produces to.
package struct OpenTopic: Sendable, Equatable {
    /// The producer's handle of the topic.
    package var handle: Int
    /// The number of partitions, at least 1.
    package var partitions: Int32
    /// `max.message.bytes` of the topic.
    package var messageLimit: Int

    /// Creates an open topic.
    package init(handle: Int, partitions: Int32, messageLimit: Int) {
        self.handle = handle
        self.partitions = partitions
        self.messageLimit = messageLimit
    }
}

/// The producer of a lane: transactions, or with at-least-once idempotent delivery.
///
/// All calls come from the lane's thread. Timeouts are in milliseconds. -1 selects the implementation's own limit.
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
    func sendOffsets(_ offsets: [PartitionOffset], _ group: Group, timeoutMilliseconds: Int32) throws(KafkaError)
    /// Commits the transaction.
    func commit(timeoutMilliseconds: Int32) throws(KafkaError)
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
    /// Creates a producer.
    func makeProducer() throws(KafkaError) -> Producer
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
