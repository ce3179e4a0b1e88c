import ByteStorage
@testable import KafkaClient
import Synchronization
import TestSupport
import Testing

@testable import DispatchWorker
import LinkDecider

/// The header `traceparent`, and the times of records with sampled traces.
@Suite struct TraceTests {
    private static let id = "0af7651916cd43dd8448eb211c80319c"
    private static let parent = "b7ad6b7169203331"

    /// A header and the flag that is read from it, or nil if it is not valid.
    static let headers: [(text: String, isSampled: Bool?)] = [
        ("00-\(id)-\(parent)-01", true), ("00-\(id)-\(parent)-00", false), ("00-\(id)-\(parent)-03", true),
        ("00-\(id)-\(parent)-fe", false), ("01-\(id)-\(parent)-01", true), ("cc-\(id)-\(parent)-01-more", true),
        ("00-\(id)-\(parent)-01-more", nil), ("01-\(id)-\(parent)-01x", nil), ("ff-\(id)-\(parent)-01", nil),
        ("00-\(id.uppercased())-\(parent)-01", nil), ("00-\(String(repeating: "0", count: 32))-\(parent)-01", nil),
        ("00-\(id)-\(String(repeating: "0", count: 16))-01", nil), ("0-\(id)-\(parent)-01", nil),
        ("00-\(id)-\(parent)-1", nil), ("00_\(id)-\(parent)-01", nil), ("00-\(id)-\(parent)-0g", nil),
        (" 00-\(id)-\(parent)-01", nil), ("00-\(id)-\(parent)-01 ", nil), ("", nil), ("00-1", nil),
        ("00-1\(String(repeating: "0", count: 31))-\(parent)-01", true),
        ("00-\(String(repeating: "0", count: 31))1-\(parent)-01", true),
    ]

    @Test("A traceparent is read as W3C Trace Context defines it", arguments: headers.indices)
    func header(index: Int) {
        let (text, isSampled) = Self.headers[index]
        let bytes = Array(text.utf8)
        let trace = bytes.withUnsafeBufferPointer { TraceParent(ByteView($0)) }
        #expect(trace?.isSampled == isSampled, "\(text)")
        if let trace { #expect(text.contains("-\(trace.traceID)-") && trace.traceID.utf8.count == 32) }
    }

    @Test("A transaction has a limited number of samples, and none after it has ended")
    func limit() {
        var tally = BatchTally()
        for offset in 0..<20 {
            tally.traces.add(
                TraceSample(traceID: Self.id, topic: "in", partition: 0, offset: Int64(offset), received: 1))
        }
        #expect(tally.traces.samples.map(\.offset) == Array(0..<16) && tally.traces.more == 4)
        tally.traces.produced(at: 5)
        tally.traces.produced(at: 6)
        #expect(tally.traces.samples.allSatisfy { $0.produced == 5 })
        tally.removeAll()
        #expect(tally.traces.isEmpty && tally.traces.more == 0)
    }

    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
    }

    @Test("A sampled record has one line with its times when it is committed, also after aborts", arguments: [0, 20])
    func lines(callsPerFault: Int) throws {
        let world = SimulatedWorld(seed: 7, callsPerFault: callsPerFault, lanes: 0, partitions: 1, isStable: true)
        let values = ["one:/", "{", "one:/", "one:/"]
        let flags = ["01", "01", "00", nil]
        for (value, flag) in zip(values, flags) {
            let headers = flag.map { flag in
                [
                    RecordHeader(name: Array("x".utf8), value: nil),
                    RecordHeader(
                        name: Array("traceparent".utf8), value: Array("00-\(Self.id)-\(Self.parent)-\(flag)".utf8)),
                ]
            }
            world.broker.logs[TopicPartition(topic: world.input, partition: 0)]?.append(
                SimulatedEntry(
                    state: .committed, key: Array("k".utf8), value: Array(value.utf8), headers: headers ?? [],
                    timestamp: 1_000, writtenAt: world.broker.now))
        }
        var configuration = WorkerConfiguration(bootstrap: [])
        configuration.input = .topics([world.input])
        configuration.outputs = OutputTopics("out")
        var policy = world.policy
        policy.logsTraces = true
        let lines = Lines()
        let log = Log(level: .info, format: .json) { line in lines.all.withLock { $0.append(line) } }
        let identity = LaneIdentity(group: "g", instance: "i", isStable: true, lane: 0)
        let lane = Lane(
            number: 0, policy: policy, topics: LaneTopics(configuration), commitBytes: configuration.commit.bytes,
            worker: WorkerIdentity(group: "g", instance: "i", version: "1"),
            environment: SimulatedEnvironment(world, SimulatedLife(), identity),
            processing: RecordProcessor(try LaneHeaderTests.configuration()),
            shared: WorkerShared(stopAfter: 0, log: log))
        for _ in 0..<10_000 where !world.isSettled { #expect(lane.step()) }
        log.close()
        let traces = lines.all.withLock { $0 }.filter { $0.contains(#""event":"trace""#) }
        try #require(traces.count == 2, "\(traces)")
        for (offset, line) in traces.enumerated() {
            #expect(line.contains(#""trace_id":"\#(Self.id)","topic":"in","partition":0,"offset":\#(offset),"#))
            let names = ["received_ms", "resolved_ms", "produced_ms", "committed_ms"]
            let times = names.map { name in
                line.split(separator: "\"\(name)\":").dropFirst().first?.prefix { $0.isNumber }
            }.map { Int($0 ?? "") }
            #expect(times.allSatisfy { $0 != nil } && times.compactMap(\.self) == times.compactMap(\.self).sorted())
        }
    }
}
