import Foundation
@testable import KafkaClient
import Testing

@testable import DispatchWorker

/// The page `/metrics`.
@Suite struct PrometheusTextTests {
    /// A sample of a page.
    struct Sample: Hashable {
        var name: String
        var labels: [[String]]
        var value: String

        /// Returns the value of a label, or nil.
        func label(_ name: String) -> String? { labels.first { $0[0] == name }?[1] }
    }

    struct Failure: Error, CustomStringConvertible { var description: String }

    /// Parses a page strictly, and returns the samples by the name of their metric.
    static func parse(_ page: [UInt8]) throws -> [(name: String, kind: String, samples: [Sample])] {
        let text = try #require(String(validating: page, as: UTF8.self))
        try #require(text.hasSuffix("\n"))
        var result: [(name: String, kind: String, samples: [Sample])] = []
        var described = ""
        for line in text.dropLast().split(separator: "\n", omittingEmptySubsequences: false) {
            let words = line.split(separator: " ", maxSplits: 3).map(String.init)
            if line.hasPrefix("# HELP "), words.count == 4 {
                described = words[2]
            } else if line.hasPrefix("# TYPE "), words.count == 4, words[2] == described {
                result.append((words[2], words[3], []))
            } else if !result.isEmpty {
                result[result.count - 1].samples.append(try sample(line))
            } else {
                throw Failure(description: "not a line of a metric: \(line)")
            }
        }
        return result
    }

    private static func sample(_ line: Substring) throws -> Sample {
        let form = #/([a-z_]+)(?:\{(.*)\})? ([0-9]+(?:\.[0-9]+)?)/#
        guard let match = line.wholeMatch(of: form) else { throw Failure(description: "not a sample: \(line)") }
        var labels: [[String]] = []
        var rest = match.2 ?? ""
        while !rest.isEmpty {
            guard let label = rest.prefixMatch(of: #/([a-z]+)="((?:[^"\\]|\\[\\"n])*)"(?:,(?!$)|$)/#) else {
                throw Failure(description: "not a label: \(rest)")
            }
            labels.append([String(label.1), String(label.2)])
            rest = rest[label.range.upperBound...]
        }
        return Sample(name: String(match.1), labels: labels, value: String(match.3))
    }

    @Test(
        "A page is strict text in which each sample has the labels of its metric, also with names from outside",
        arguments: ["shop", "a\"b\\c\nd", "\u{1B}[31m<script>\u{0}\u{9B}", String(repeating: "é", count: 1_000), ""])
    func strict(name: String) throws {
        let metrics = try Self.parse(PrometheusPage.text(.sample(topic: "in.\(name)", name: name)))
        let descriptions = MetricCatalog.all.map(\.description)
        #expect(metrics.map(\.name) == descriptions.map(\.name))
        for (metric, description) in zip(metrics, descriptions) {
            #expect(metric.kind == description.kind.rawValue)
            let isHistogram = description.kind == .histogram
            for sample in metric.samples {
                let suffix = isHistogram ? sample.name.dropFirst(metric.name.count) : ""
                #expect(sample.name == metric.name + suffix)
                #expect(!isHistogram || ["_bucket", "_sum", "_count"].contains(suffix))
                #expect(sample.labels.map { $0[0] } == description.labels + (suffix == "_bucket" ? ["le"] : []))
                #expect(sample.labels.allSatisfy { $0[1].utf8.count <= 2 * PrometheusText.labelLimit })
                let scalars = sample.labels.joined().joined().unicodeScalars
                #expect(!scalars.contains { $0.properties.generalCategory == .control })
            }
            #expect(Set(metric.samples.map { [$0.name, "\($0.labels)"] }).count == metric.samples.count)
        }
    }

    @Test("A page has exactly the expected text")
    func golden() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Fixtures/metrics.txt")
        let text = String(decoding: PrometheusPage.text(.sample()), as: UTF8.self)
        if ProcessInfo.processInfo.environment["RECORD_SNAPSHOTS"] != nil {
            try Data(text.utf8).write(to: file)
            Issue.record("recorded \(file.lastPathComponent)")
        }
        #expect(try text == String(contentsOf: file, encoding: .utf8))
    }

    @Test("A page of 64 lanes of 16 partitions has less than 2 MiB")
    func size() {
        let sample = WorkerSnapshot.sample()
        var snapshot = sample
        (snapshot.lanes, snapshot.partitions) = ([], [])
        for lane in 0..<64 {
            var machine = MachineTests.ready()
            let partitions = (0..<16).map { TopicPartition(topic: "link-events", partition: Int32(lane * 16 + $0)) }
            MachineTests.assign(&machine, partitions, now: 1)
            var view = LaneView(
                snapshot: LaneSnapshot(
                    lane: lane, machine: machine, at: 0, metrics: sample.lanes[0].snapshot.metrics))
            (view.consumer, view.producer) = (sample.lanes[0].consumer, sample.lanes[0].producer)
            for partition in partitions { view.consumer?.partitions[partition] = LibraryStatistics.Partition() }
            snapshot.lanes.append(view)
            snapshot.partitions += partitions.map { PartitionLag(lane: lane, partition: $0, lag: 1_000_000) }
        }
        #expect((500_000..<2 << 20).contains(PrometheusPage.text(snapshot).count))
    }

    @Test("A worker that has only begun has no samples of lanes and partitions")
    func empty() throws {
        let metrics = try Self.parse(PrometheusPage.text(WorkerSnapshot(now: 0)))
        #expect(metrics.map(\.name).contains("linkd_build_info"))
        #expect(metrics.flatMap(\.samples).allSatisfy { $0.label("lane") == nil && $0.label("topic") == nil })
    }

    @Test("The buckets of a histogram are cumulative, and the last one is the count")
    func histogram() throws {
        var metrics = LaneMetrics()
        for milliseconds in [1, 2, 2, 70_000] as [UInt64] { metrics.observe(.commitSeconds, milliseconds * 1_000_000) }
        var snapshot = WorkerSnapshot(now: 0)
        snapshot.lanes = [
            LaneView(
                snapshot: LaneSnapshot(lane: 0, machine: LaneMachine(policy: LanePolicy()), at: 0, metrics: metrics))
        ]
        let page = try Self.parse(PrometheusPage.text(snapshot))
        let samples = try #require(page.first { $0.name == "linkd_txn_commit_seconds" }).samples
        #expect(samples.prefix(3).map { $0.label("le") } == ["0.001", "0.0025", "0.005"])
        #expect(samples.map(\.value).prefix(3) == ["1", "3", "3"])
        #expect(samples.suffix(3).map(\.value) == ["4", "70.005", "4"])
        #expect(samples.suffix(3).first?.label("le") == "+Inf")
    }

    @Test("The series of a topic begin at 0 before its first record is committed, and end with its partitions")
    func topicsBegin() throws {
        var snapshot = WorkerSnapshot(now: 0)
        func topics(_ name: String) throws -> [String?] {
            try Self.parse(PrometheusPage.text(snapshot)).first { $0.name == name }?.samples.map { $0.label("topic") }
                ?? []
        }
        snapshot.lanes = [LaneView(snapshot: LaneSnapshot(lane: 0, machine: MachineTests.ready(), at: 0))]
        snapshot.partitions = [PartitionLag(lane: 0, partition: MachineTests.partition, lag: 0)]
        #expect(try topics("linkd_records_in_total") == ["in"])
        #expect(try topics("linkd_consumer_lag") == ["in"])
        #expect(try topics("linkd_unstable_records") == [])
        // The lane that had the partition has not published its loss.
        snapshot.partitions.append(PartitionLag(lane: 1, partition: MachineTests.partition, lag: 4))
        #expect(try topics("linkd_consumer_lag") == ["in"])
        snapshot.partitions = []
        #expect(try topics("linkd_consumer_lag") == [])
    }

    @Test(
        "Nanoseconds are written as exact seconds without an exponent",
        arguments: [
            (0, "0"), (1, "0.000000001"), (1_000_000_000, "1"), (1_500_000_000, "1.5"), (60_000_000_000, "60"),
            (UInt64.max, "18446744073.709551615"),
        ] as [(UInt64, String)])
    func seconds(nanoseconds: UInt64, text: String) { #expect(PrometheusText.seconds(nanoseconds) == text) }

    @Test("The rate covers the last ten seconds, and does not depend on the number of readers")
    func rate() {
        var rate = RecordRate()
        #expect(rate.add(0, at: 0) == 0)
        #expect(rate.add(0, at: 0) == 0)
        for second in 1...30 as ClosedRange<UInt64> {
            let records = second <= 10 ? 0 : Int(second - 10) * 100
            let value = rate.add(records, at: second * WorkerSnapshot.second)
            _ = rate.add(records, at: second * WorkerSnapshot.second + 1)
            if second == 10 { #expect(value == 0) }
            if second == 15 { #expect(value == 50) }
            if second >= 20 { #expect(value == 100) }
        }
    }
}
