package import KafkaClient
package import ByteStorage

/// A topic that a lane produces to.
package struct OpenTopic: Sendable, Equatable {
    /// The producer's number for it.
    package var handle: Int
    /// Its partitions, at least 1.
    package var partitions: Int32
    /// Its `max.message.bytes`.
    package var messageLimit: Int

    /// Names an open topic.
    package init(handle: Int, partitions: Int32, messageLimit: Int) {
        self.handle = handle
        self.partitions = partitions
        self.messageLimit = messageLimit
    }
}

/// What a lane needs of a producer: transactions, or at least once idempotent deliveries.
///
/// All calls come from the lane's thread. Timeouts are milliseconds; -1 is the library's own bound.
package protocol LaneProducer: AnyObject {
    /// The consumer's place in its group.
    associatedtype Group

    /// Ends a predecessor's transaction and fences it; resumable.
    func initTransactions(timeoutMilliseconds: Int32) throws(KafkaError)
    /// Whether a broker was seen that cannot fence a group's generation; known after `initTransactions`.
    var lacksFencing: Bool { get }
    /// Opens a topic and asks for its partitions.
    func open(_ topic: String, timeoutMilliseconds: Int32) throws(KafkaError) -> (handle: Int, partitions: Int32)
    /// Begins a transaction.
    func begin() throws(KafkaError)
    /// Offers records to a partition in their order; values are lent until the transaction has ended.
    ///
    /// Returns how many were taken; fewer with an error, of which "queue full" may be tried again from there.
    func produce(
        topic: Int, partition: Int32, _ records: UnsafeBufferPointer<OutboundRecord>
    ) -> (accepted: Int, error: KafkaError?)
    /// Offers one record with headers; everything is copied. A timestamp of nil is now.
    func produce(
        topic: Int, partition: Int32, key: ByteView?, value: ByteView?, headers: [HeaderView], timestamp: Int64?
    ) throws(KafkaError)
    /// Serves delivery reports.
    func poll(timeoutMilliseconds: Int32)
    /// Adds offsets to the transaction.
    func sendOffsets(_ offsets: [PartitionOffset], _ group: Group, timeoutMilliseconds: Int32) throws(KafkaError)
    /// Commits.
    func commit(timeoutMilliseconds: Int32) throws(KafkaError)
    /// Aborts.
    func abort() throws(KafkaError)
    /// Waits until everything is delivered; returns what is not.
    func flush(timeoutMilliseconds: Int32) throws(KafkaError) -> Int
    /// The error of a delivery that failed for what it is, since errors were forgotten last.
    var refusal: KafkaError? { get }
    /// The error of any delivery that failed, since errors were forgotten last.
    var deliveryError: KafkaError? { get }
    /// Forgets both.
    func forgetErrors()
    /// How often the connection to the transaction coordinator was seen to go down.
    var coordinatorDrops: Int { get }
    /// The fatal error, once there is one.
    var fatalError: KafkaError? { get }
    /// Log lines and errors that have come.
    func takeEvents() -> [ClientEvent]
    /// Destroys the client; nothing it was lent is used after this.
    func close()
}

/// Where a lane's clients, its time and its topics' limits come from.
package protocol LaneEnvironment: AnyObject {
    /// The consumer's type.
    associatedtype Consumer: LaneConsumer
    /// The producer's type.
    associatedtype Producer: LaneProducer where Producer.Group == Consumer.Group

    /// Makes a consumer that hands every rebalance to `rebalance`, on the polling thread.
    func makeConsumer(rebalance: @escaping (RebalanceEvent) -> Void) throws(KafkaError) -> Consumer
    /// Makes a producer.
    func makeProducer() throws(KafkaError) -> Producer
    /// Whether the broker is a mock, which fences nobody.
    var isMock: Bool { get }
    /// `max.message.bytes` of a topic.
    func messageLimit(of topic: String) -> Int
    /// The lane asks for `needs` in vain, and for nothing else.
    func lack(_ needs: [ClientNeed])
    /// Nanoseconds of a monotonic clock.
    func now() -> UInt64
    /// Milliseconds since 1970; only dead letters say the time of day.
    func wallMilliseconds() -> Int64
    /// Blocks.
    func sleep(milliseconds: Int)
}
