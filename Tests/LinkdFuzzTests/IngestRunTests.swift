import ByteStorage
@testable import LinkdFuzz
import Testing

/// A short form of the search `ingest` of the benchmarks.
@Suite("Mutated records of all envelopes")
struct IngestRunTests {
    @Test("Long-lived processors yield the same results as fresh ones")
    func run() throws {
        let seed: UInt64 = 5
        let seeds = try IngestSeeds.records()
        #expect(seeds.count > 2_000)
        var run = IngestRun(environments: try FuzzEnvironment.ingest(), seeds: seeds, seed: seed, cost: .none)
        for number in 0..<1_500 {
            for finding in run.run(number) {
                Issue.record("seed \(seed), record \(number): \(finding.text)\n\(CorpusFile.line(finding.input))")
            }
        }
        // The comparison is meaningful only if all kinds of results occur.
        for outcome in [
            "navigate", "none", "reject", "bad_json", "missing_link", "missing_device", "batch_unsupported",
            "schema_unsupported", "ambiguous_event", "encoding_unsupported",
        ] {
            #expect(run.outcomes[outcome, default: 0] > 0, "\(outcome)")
        }
    }

    @Test("A record depends on the seed and its number only")
    func records() throws {
        let environments = try FuzzEnvironment.ingest()
        let seeds = try IngestSeeds.records()
        func run(_ seed: UInt64) -> IngestRun {
            IngestRun(environments: environments, seeds: seeds, seed: seed, cost: .none)
        }
        var used = run(1)
        _ = used.run(0)
        #expect(used.input(of: 7) == run(1).input(of: 7))
        #expect((0..<20).map(used.input(of:)) != (0..<20).map(run(2).input(of:)))
    }

    @Test("An input is read as it was written")
    func inputs() {
        let header = RecordHeader(name: Array("a=\t\n\\".utf8), value: [0xFF, 0x3D, 0x09])
        for record in [
            FuzzRecord(value: Array("{}\n\t".utf8), offset: 7), FuzzRecord(key: [], value: [], offset: 7),
            FuzzRecord(key: [0x3D, 0x0A], headers: [header, .init(name: [], value: nil)], value: [0], offset: 7),
        ] {
            let read = IngestInput.record(IngestInput.input(record, letter: UInt8(ascii: "b")))
            #expect(read.letter == UInt8(ascii: "b"))
            #expect(read.record == record)
        }
    }
}
