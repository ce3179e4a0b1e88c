internal import ByteStorage
internal import CPlatform
internal import Foundation
internal import LinkdFuzz

/// The search `ingest`, which compares long-lived processors with fresh ones over mutated records of all envelopes.
///
/// After the first tenth of the records, the memory that the process has allocated may grow by 12 MB, because the
/// buffers of four processors and four readers double for a record that is larger in one respect. A leak of 2 bytes per
/// record exceeds that in 10,000,000 records. Resident memory may grow by 64 MB.
enum IngestSearch {
    private static let allocatedBound: Int64 = 12_000_000
    private static let residentBound: Int64 = 64_000_000

    static func run(_ options: BenchmarkOptions) throws -> Int32 {
        let environments = try FuzzEnvironment.ingest()
        let cost = ViewLease.isChecked ? CostBound.sanitized : CostBound.release
        if let file = options.replay { return try replay(file, environments, cost) }
        let seeds = try IngestSeeds.records()
        var run = IngestRun(environments: environments, seeds: seeds, seed: options.seed, cost: cost)
        if let batch = options.batch { return try repeatBatch(batch, &run, environments, cost, options) }
        say("\(options.records) inputs from \(seeds.count) seeds, seed \(options.seed)")
        CrashReplay.install(
            [CommandLine.arguments[0], "ingest", "--seed", "\(options.seed)", "--output", options.output, "--batch"])
        return try search(&run, options)
    }

    private static func search(_ run: inout IngestRun, _ options: BenchmarkOptions) throws -> Int32 {
        let clock = ContinuousClock()
        let start = clock.now
        var reported = start
        var findings = 0
        var number = 0
        var warm: Memory?
        var most = Memory()
        CrashReplay.expectProgress()
        while run.compared < options.records {
            CrashReplay.begin(number + 1)
            for finding in run.run(number) {
                findings += 1
                if findings <= 5 { try report(finding, number, options) }
            }
            number += 1
            guard number % 512 == 0 else { continue }
            if warm != nil || run.compared > options.records / 10 {
                let now = Memory.current()
                warm = warm ?? now
                most = Memory(
                    allocated: max(most.allocated, now.allocated), resident: max(most.resident, now.resident))
            }
            if clock.now - reported > .seconds(5) {
                reported = clock.now
                CrashReplay.expectProgress()
                say("\(run.compared) inputs, \(findings) findings, \(Memory.current())")
            }
        }
        let growth = Memory(
            allocated: most.allocated - (warm ?? most).allocated, resident: most.resident - (warm ?? most).resident)
        let isGrown = growth.allocated > allocatedBound || growth.resident > residentBound
        let seconds = Int(Double((clock.now - start).components.seconds) + 0.5)
        print(
            "\(run.compared) inputs, \(findings) findings, seed \(options.seed), \(seconds) s; growth: \(growth)"
                + (isGrown ? ", OVER the bound" : "")
                + String(format: "; greatest cost %.2f of the bound", run.slowest.share))
        let counts = run.outcomes.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        print("outcomes: " + counts.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
        return findings == 0 && !isGrown ? 0 : 1
    }

    /// The memory of the process, in bytes.
    private struct Memory: CustomStringConvertible {
        var allocated: Int64 = 0
        var resident: Int64 = 0

        static func current() -> Memory {
            let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
            let resident = pages.flatMap { $0.count > 1 ? Int64($0[1]) : nil } ?? 0
            return Memory(allocated: max(0, linkd_allocated_bytes()), resident: resident * Int64(getpagesize()))
        }

        var description: String {
            String(
                format: "%.2f MB allocated, %.2f MB resident", Double(allocated) / 1_000_000,
                Double(resident) / 1_000_000)
        }
    }

    // MARK: Findings

    private static func report(_ finding: IngestRun.Finding, _ batch: Int, _ options: BenchmarkOptions) throws {
        let file = options.output + "/ingest-\(options.seed)-\(batch + 1).txt"
        try write(finding.inputs, to: file)
        say("FINDING in batch \(batch + 1) of seed \(options.seed): \(finding.text)")
        say("to repeat: \(CommandLine.arguments[0]) ingest --replay \(file)")
    }

    private static func write(_ inputs: [[UInt8]], to file: String) throws {
        let text = inputs.map { CorpusFile.line($0) + "\n" }.joined()
        try text.write(toFile: file, atomically: true, encoding: .utf8)
    }

    /// Writes the inputs of a batch and runs each one alone, then all together.
    private static func repeatBatch(
        _ batch: Int, _ run: inout IngestRun, _ environments: [FuzzEnvironment], _ cost: CostBound,
        _ options: BenchmarkOptions
    ) throws -> Int32 {
        say("repeating batch \(batch + 1) of seed \(options.seed), which ends with a trap or a hang after others")
        let inputs = run.inputs(of: batch)
        let file = options.output + "/ingest-\(options.seed)-\(batch + 1)"
        try write(inputs, to: file + ".txt")
        let runner = FuzzRunner(environments: environments, cost: cost)
        for (number, input) in inputs.enumerated() {
            try write([input], to: file + "-\(number + 1).txt")
            say("to repeat: \(CommandLine.arguments[0]) ingest --replay \(file)-\(number + 1).txt")
            if let text = runner.run(.ingest, input) { say("FINDING: \(text)") }
        }
        let findings = run.run(batch)
        for finding in findings { try report(finding, batch, options) }
        say("the batch alone has \(findings.count) findings")
        return 1
    }

    /// Runs the inputs of a file one by one, and then as a sequence.
    private static func replay(_ file: String, _ environments: [FuzzEnvironment], _ cost: CostBound) throws -> Int32 {
        let inputs = CorpusFile.inputs(of: try String(contentsOfFile: file, encoding: .utf8))
        let runner = FuzzRunner(environments: environments, cost: cost)
        var findings = 0
        for input in inputs {
            guard let text = runner.run(.ingest, input) else { continue }
            findings += 1
            print("FINDING: \(text)\n\(CorpusFile.line(input).prefix(4_000))")
        }
        guard let letter = inputs.first?.first else { return 0 }
        let environment = FuzzEnvironment.named(letter | 0x20, of: environments)
        let records = inputs.map { IngestInput.record($0).record }
        var lane = RecordLane(environment)
        for (number, result) in lane.results(records).enumerated() {
            let alone = RecordLane.fresh(records[number], environment)
            guard result != alone else { continue }
            findings += 1
            print("FINDING: input \(number + 1) after the others:\n\(result)\nalone:\n\(alone)")
        }
        print("\(inputs.count) inputs, \(findings) findings")
        return findings == 0 ? 0 : 1
    }

    private static func say(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }
}
