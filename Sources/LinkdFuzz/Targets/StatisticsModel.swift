internal import DispatchWorker
internal import KafkaClient
internal import StrictJSON

/// A reading of statistics documents from their tree, with which the worker's reading is compared.
enum StatisticsModel {
    /// The limit of nested objects and arrays in a document.
    static let maxDepth = 8

    /// The error for a value of the wrong type.
    private struct WrongType: Error {}

    /// Returns the figures of a document, or nil if it has a member of the wrong type.
    static func statistics(_ json: JSONValue) -> LibraryStatistics? { try? read(json) }

    private static func read(_ json: JSONValue) throws -> LibraryStatistics {
        _ = try members(json)
        var result = LibraryStatistics()
        result.messages = try integer(json["msg_cnt"]) ?? 0
        result.messageBytes = try integer(json["msg_size"]) ?? 0
        result.brokers = Array(
            try members(json["brokers"]).compactMap { try broker($0.value) }.prefix(LibraryStatistics.brokerLimit))
        for topic in try members(json["topics"]) where topic.name.utf8.count <= LibraryStatistics.nameLimit {
            _ = try members(topic.value)
            try readPartitions(try members(topic.value["partitions"]), of: topic.name, into: &result)
        }
        let group = json["cgrp"]
        _ = try members(group)
        result.rebalances = try integer(group?["rebalance_cnt"])
        result.joinState = try text(group?["join_state"])
        let transactions = json["eos"]
        _ = try members(transactions)
        result.idempotenceState = try text(transactions?["idemp_state"])
        result.transactionState = try text(transactions?["txn_state"])
        result.producerEpoch = try integer(transactions?["producer_epoch"])
        result.epochs = try integer(transactions?["epoch_cnt"])
        return result
    }

    private static func broker(_ json: JSONValue) throws -> LibraryStatistics.Broker? {
        _ = try members(json)
        var result = LibraryStatistics.Broker()
        result.name = try text(json["name"]) ?? ""
        result.id = try integer(json["nodeid"]) ?? -1
        result.roundTrip = try durations(json["rtt"])
        result.internalLatency = try durations(json["int_latency"])
        result.outputLatency = try durations(json["outbuf_latency"])
        return try text(json["source"]) == "logical" || result.id < 0 ? nil : result
    }

    private static func durations(_ json: JSONValue?) throws -> LibraryStatistics.Durations {
        _ = try members(json)
        var result = LibraryStatistics.Durations()
        result.p50 = try integer(json?["p50"]) ?? 0
        result.p95 = try integer(json?["p95"]) ?? 0
        result.p99 = try integer(json?["p99"]) ?? 0
        result.count = try integer(json?["cnt"]) ?? 0
        return result
    }

    private static func readPartitions(
        _ members: [JSONMember], of topic: String, into result: inout LibraryStatistics
    ) throws {
        for member in members where member.name.utf8.count <= 10 {
            guard let number = Int32(member.name), number >= 0,
                result.partitions.count < LibraryStatistics.partitionLimit
            else { continue }
            let json = member.value
            _ = try self.members(json)
            var partition = LibraryStatistics.Partition(
                low: try offset(json["lo_offset"]), high: try offset(json["hi_offset"]),
                stable: try offset(json["ls_offset"]))
            partition.fetched = try integer(json["fetchq_cnt"]) ?? 0
            result.partitions[TopicPartition(topic: topic, partition: number)] = partition
        }
    }

    // MARK: Values, which are nil if the member is missing

    private static func members(_ json: JSONValue?) throws -> [JSONMember] {
        guard let json else { return [] }
        guard let members = json.object else { throw WrongType() }
        return members
    }

    private static func text(_ json: JSONValue?) throws -> String? {
        guard let json else { return nil }
        guard let text = json.string else { throw WrongType() }
        return text.utf8.count <= LibraryStatistics.nameLimit ? text : ""
    }

    private static func integer(_ json: JSONValue?) throws -> Int64? {
        guard let json else { return nil }
        guard case .number(let text) = json.kind, let value = Int64(text) else { throw WrongType() }
        return value
    }

    private static func offset(_ json: JSONValue?) throws -> Int64? {
        try integer(json).flatMap { $0 >= 0 ? $0 : nil }
    }
}
