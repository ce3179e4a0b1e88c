internal import DispatchWorker
internal import KafkaClient
internal import StrictJSON

/// The target `statistics`. An input is a statistics document of librdkafka, as a recipe.
extension FuzzRunner {
    func runStatistics(_ input: [UInt8]) -> String? {
        let document = Recipe.expand(input, limit: Self.recipeLimit)
        let statistics = LibraryStatistics(document)
        let excess = cost.excess(devices: 1) {
            _ = LibraryStatistics(document)
            return document.count
        }
        if let excess { return "the document takes \(excess / 1_000) µs: \(document.count) bytes" }
        if LibraryStatistics(document) != statistics { return "the second reading has a different result" }
        let json = try? JSONValue.parse(document, maxDepth: StatisticsModel.maxDepth)
        let expected = json.flatMap(StatisticsModel.statistics)
        if statistics != expected {
            return "the result differs from the result of the tree\n\(statistics.debugText)\n\(expected.debugText)"
        }
        guard let json, let statistics else { return nil }
        // Escapes and white space are different, and the figures are equal.
        if LibraryStatistics(Array(json.text.utf8)) != statistics { return "another spelling has a different result" }
        return pageViolation(statistics)
    }

    /// Returns a violation of the format of the pages that contain the figures, or nil.
    private func pageViolation(_ statistics: LibraryStatistics) -> String? {
        var snapshot = WorkerSnapshot(now: 1)
        let machine = LaneMachine(policy: LanePolicy())
        var lane = LaneView(snapshot: LaneSnapshot(lane: 0, machine: machine, at: 1))
        (lane.consumer, lane.producer, lane.statisticsAt) = (statistics, statistics, 1)
        snapshot.lanes = [lane]
        for (partition, figures) in statistics.partitions.prefix(4) {
            for end in [0, Int64.max] {
                var view = PartitionView(partition)
                (view.committed, view.end, view.isCurrent, view.isPaused) = (0, end, true, true)
                snapshot.partitions.append(PartitionLag(lane: 0, view, figures))
            }
        }
        if snapshot.partitions.contains(where: { ($0.lag ?? 0) < 0 || ($0.unstable ?? 0) < 0 }) {
            return "a lag is negative"
        }
        guard let page = String(validating: PrometheusPage.text(snapshot), as: UTF8.self) else {
            return "the page of metrics is not UTF-8"
        }
        for line in page.split(separator: "\n") where !line.hasPrefix("#") {
            guard let value = line.split(separator: " ").last.flatMap({ Double($0) }), value >= 0, value.isFinite else {
                return "a sample is not a number: \(line.prefix(1_000))"
            }
        }
        do {
            _ = try JSONValue.parse(Array(StatusDocument.json(snapshot).utf8))
            return nil
        } catch {
            return "the status document is not valid JSON: \(error)"
        }
    }
}

extension LibraryStatistics? {
    /// The start of the figures as text.
    fileprivate var debugText: String { map { String("\($0)".prefix(2_000)) } ?? "refused" }
}

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
