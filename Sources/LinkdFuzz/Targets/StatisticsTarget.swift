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
            return "the result differs from that of the tree\n\(statistics.debugText)\n\(expected.debugText)"
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
                let view = PartitionView(
                    partition: partition, next: 0, settled: 0, committed: 0, start: nil, end: end, isCurrent: true,
                    isPaused: true)
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
