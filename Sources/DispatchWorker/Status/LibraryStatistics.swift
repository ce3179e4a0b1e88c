package import KafkaClient
internal import ByteStorage
internal import StrictJSON

/// The figures of a client's statistics document that the worker uses.
///
/// librdkafka writes the document every `statistics.interval.ms`. Members that the worker does not use are skipped.
package struct LibraryStatistics: Sendable, Equatable {
    /// The maximum size of a document in bytes.
    package static let documentLimit = 4 << 20
    /// The maximum number of partitions, after which further ones are skipped.
    package static let partitionLimit = 8_192
    /// The maximum number of brokers, after which further ones are skipped.
    package static let brokerLimit = 128
    /// The maximum length of a topic's name and of other texts in bytes, beyond which they are skipped.
    package static let nameLimit = 512

    /// The durations of a rolling window, in microseconds.
    package struct Durations: Sendable, Equatable {
        /// Half of the durations are at most as long.
        package var p50: Int64 = 0
        /// 95 % of the durations are at most as long.
        package var p95: Int64 = 0
        /// 99 % of the durations are at most as long.
        package var p99: Int64 = 0
        /// The number of durations.
        package var count: Int64 = 0

        /// Creates durations that are zero.
        package init() {}
    }

    /// A broker.
    package struct Broker: Sendable, Equatable {
        /// The name: host, port, and id.
        package var name = ""
        package var id: Int64 = -1
        /// The time from a request to its response.
        package var roundTrip = Durations()
        /// The time of records in the producer's queue.
        package var internalLatency = Durations()
        /// The time of requests in the queue of the connection.
        package var outputLatency = Durations()

        /// Creates a broker without figures.
        package init() {}
    }

    /// A partition.
    package struct Partition: Sendable, Equatable {
        /// The first offset, or nil if unknown.
        package var low: Int64?
        /// The high watermark, or nil if unknown.
        package var high: Int64?
        /// The last stable offset, or nil if unknown.
        package var stable: Int64?
        /// The records that were fetched and not consumed.
        package var fetched: Int64 = 0

        /// Creates the figures of a partition.
        package init(low: Int64? = nil, high: Int64? = nil, stable: Int64? = nil) {
            self.low = low
            self.high = high
            self.stable = stable
        }
    }

    /// The records in the producer's queue.
    package var messages: Int64 = 0
    /// The size of the records in the producer's queue in bytes.
    package var messageBytes: Int64 = 0
    /// The brokers of the cluster, without bootstrap addresses and without the logical brokers of coordinators.
    package var brokers: [Broker] = []
    package var partitions: [TopicPartition: Partition] = [:]
    /// The number of rebalances, or nil for a producer.
    package var rebalances: Int64?
    /// The state of joining the group, such as `steady`, or nil for a producer.
    package var joinState: String?
    /// A Boolean value that indicates whether the client does not wait for an assignment.
    package var isSettled: Bool { joinState == nil || joinState == "steady" }
    /// The state of the idempotent producer, such as `Assigned`, or nil for a consumer.
    package var idempotenceState: String?
    /// The state of the transaction, such as `InTransaction`, or nil for a consumer.
    package var transactionState: String?
    /// The epoch of the producer, or nil for a consumer.
    package var producerEpoch: Int64?
    /// The number of epochs of the producer, or nil for a consumer.
    package var epochs: Int64?

    /// Reads a document.
    ///
    /// Returns nil if it is too large, is not strict JSON, or has a member of the wrong type.
    package init?(_ document: [UInt8]) {
        guard document.count <= Self.documentLimit,
            let statistics = document.withUnsafeBufferPointer({ Self.read(ByteView($0)) })
        else { return nil }
        self = statistics
    }

    /// Creates statistics without figures.
    package init() {}

    private static func read(_ text: ByteView) -> LibraryStatistics? {
        var reader = StatisticsReader(text)
        var result = LibraryStatistics()
        do throws(JSONError) {
            try reader.read(into: &result)
        } catch {
            return nil
        }
        return result
    }
}

/// The reader of one statistics document.
private struct StatisticsReader: ~Copyable {
    private var cursor = JSONCursor(maxDepth: 8)

    init(_ text: ByteView) { cursor.open(text) }

    mutating func read(into result: inout LibraryStatistics) throws(JSONError) {
        var scope = try cursor.enterObject()
        while try cursor.nextMember(&scope) {
            switch scope.name.string {
            case "msg_cnt": result.messages = try integer()
            case "msg_size": result.messageBytes = try integer()
            case "brokers": try readBrokers(into: &result)
            case "topics": try readTopics(into: &result)
            case "cgrp": try readGroup(into: &result)
            case "eos": try readTransactions(into: &result)
            default: try cursor.skip()
            }
        }
        try cursor.finish()
    }

    private mutating func readBrokers(into result: inout LibraryStatistics) throws(JSONError) {
        var scope = try cursor.enterObject()
        while try cursor.nextMember(&scope) {
            let broker = try broker()
            if let broker, result.brokers.count < LibraryStatistics.brokerLimit { result.brokers.append(broker) }
        }
    }

    /// Reads a broker, or nil for one that is not a broker of the cluster.
    private mutating func broker() throws(JSONError) -> LibraryStatistics.Broker? {
        var result = LibraryStatistics.Broker()
        var isLogical = false
        var scope = try cursor.enterObject()
        while try cursor.nextMember(&scope) {
            switch scope.name.string {
            case "name": result.name = try text()
            case "nodeid": result.id = try integer()
            case "source": isLogical = try text() == "logical"
            case "rtt": result.roundTrip = try durations()
            case "int_latency": result.internalLatency = try durations()
            case "outbuf_latency": result.outputLatency = try durations()
            default: try cursor.skip()
            }
        }
        return isLogical || result.id < 0 ? nil : result
    }

    private mutating func durations() throws(JSONError) -> LibraryStatistics.Durations {
        var result = LibraryStatistics.Durations()
        var scope = try cursor.enterObject()
        while try cursor.nextMember(&scope) {
            switch scope.name.string {
            case "p50": result.p50 = try integer()
            case "p95": result.p95 = try integer()
            case "p99": result.p99 = try integer()
            case "cnt": result.count = try integer()
            default: try cursor.skip()
            }
        }
        return result
    }

    private mutating func readTopics(into result: inout LibraryStatistics) throws(JSONError) {
        var scope = try cursor.enterObject()
        while try cursor.nextMember(&scope) {
            guard scope.name.count <= LibraryStatistics.nameLimit else {
                try cursor.skip()
                continue
            }
            let topic = scope.name.string
            var members = try cursor.enterObject()
            while try cursor.nextMember(&members) {
                if members.name.equals("partitions") {
                    try readPartitions(of: topic, into: &result)
                } else {
                    try cursor.skip()
                }
            }
        }
    }

    private mutating func readPartitions(of topic: String, into result: inout LibraryStatistics) throws(JSONError) {
        var scope = try cursor.enterObject()
        while try cursor.nextMember(&scope) {
            // The number -1 stands for records whose partition is not known.
            guard scope.name.count <= 10, let number = Int32(scope.name.string), number >= 0,
                result.partitions.count < LibraryStatistics.partitionLimit
            else {
                try cursor.skip()
                continue
            }
            result.partitions[TopicPartition(topic: topic, partition: number)] = try partition()
        }
    }

    private mutating func partition() throws(JSONError) -> LibraryStatistics.Partition {
        var result = LibraryStatistics.Partition()
        var scope = try cursor.enterObject()
        while try cursor.nextMember(&scope) {
            switch scope.name.string {
            case "lo_offset": result.low = try offset()
            case "hi_offset": result.high = try offset()
            case "ls_offset": result.stable = try offset()
            case "fetchq_cnt": result.fetched = try integer()
            default: try cursor.skip()
            }
        }
        return result
    }

    private mutating func readGroup(into result: inout LibraryStatistics) throws(JSONError) {
        var scope = try cursor.enterObject()
        while try cursor.nextMember(&scope) {
            switch scope.name.string {
            case "rebalance_cnt": result.rebalances = try integer()
            case "join_state": result.joinState = try text()
            default: try cursor.skip()
            }
        }
    }

    private mutating func readTransactions(into result: inout LibraryStatistics) throws(JSONError) {
        var scope = try cursor.enterObject()
        while try cursor.nextMember(&scope) {
            switch scope.name.string {
            case "idemp_state": result.idempotenceState = try text()
            case "txn_state": result.transactionState = try text()
            case "producer_epoch": result.producerEpoch = try integer()
            case "epoch_cnt": result.epochs = try integer()
            default: try cursor.skip()
            }
        }
    }

    /// Reads an offset, or nil for a logical one, which means that it is unknown.
    private mutating func offset() throws(JSONError) -> Int64? {
        let value = try integer()
        return value >= 0 ? value : nil
    }

    private mutating func integer() throws(JSONError) -> Int64 {
        let text = try cursor.number()
        guard let value = Int64(text.string) else { throw cursor.failure(.wrongType) }
        return value
    }

    /// Reads a string, cut at the limit of names.
    private mutating func text() throws(JSONError) -> String {
        let text = cursor.unescaped(try cursor.string())
        return text.count <= LibraryStatistics.nameLimit ? text.string : ""
    }
}
