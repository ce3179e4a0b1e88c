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
        if let number = options.batch { return try repeatRecord(number, &run, options) }
        note("\(options.records) inputs from \(seeds.count) seeds, seed \(options.seed)")
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
                note("\(run.compared) inputs, \(findings) findings, \(Memory.current())")
            }
        }
        let growth = Memory(
            allocated: most.allocated - (warm ?? most).allocated, resident: most.resident - (warm ?? most).resident)
        let isGrown = growth.allocated > allocatedBound || growth.resident > residentBound
        let seconds = Int(Double((clock.now - start).components.seconds) + 0.5)
        print(
            "\(run.compared) inputs, \(findings) findings, seed \(options.seed), \(seconds) s; growth: \(growth)"
                + (isGrown ? ", OVER the bound" : "")
                + String(format: "; greatest cost %.2f of the bound", run.slowest))
        print("outcomes: " + text(of: run.outcomes))
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

    private static func report(_ finding: IngestRun.Finding, _ number: Int, _ options: BenchmarkOptions) throws {
        note("FINDING in record \(number + 1) of seed \(options.seed): \(finding.text)")
        try write(finding.input, number, options)
    }

    private static func write(_ input: [UInt8], _ number: Int, _ options: BenchmarkOptions) throws {
        let file = options.output + "/ingest-\(options.seed)-\(number + 1).txt"
        try (CorpusFile.line(input) + "\n").write(toFile: file, atomically: true, encoding: .utf8)
        note("to repeat: \(CommandLine.arguments[0]) ingest --replay \(file)")
    }

    /// Writes the input with a number, and runs it alone.
    private static func repeatRecord(
        _ number: Int, _ run: inout IngestRun, _ options: BenchmarkOptions
    ) throws -> Int32 {
        note("repeating record \(number + 1) of seed \(options.seed), which ends with a trap or a hang after others")
        try write(run.input(of: number), number, options)
        let findings = run.run(number)
        for finding in findings { try report(finding, number, options) }
        note("the record alone has \(findings.count) findings")
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

}

/// A replacement of the process by one that repeats the current batch alone, after a trap, an invalid memory access, or
/// a hang.
enum CrashReplay {
    // Set before the handlers are installed. A handler only reads them, because it can run at any time.
    nonisolated(unsafe) private static var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    // Set and read like `arguments`.
    nonisolated(unsafe) private static var digits: UnsafeMutablePointer<CChar>?
    private static let width = 19

    /// Installs the handlers.
    ///
    /// - Parameter command: The arguments of the new process, to which the number of the batch is added.
    static func install(_ command: [String]) {
        let list = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: command.count + 2)
        for (index, argument) in command.enumerated() { list[index] = strdup(argument) }
        digits = strdup(String(repeating: "0", count: width))
        list[command.count] = digits
        list[command.count + 1] = nil
        arguments = list
        for number in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGVTALRM] {
            var action = sigaction()
            #if os(Linux)
            action.__sigaction_handler.sa_handler = { _ in CrashReplay.replace() }
            #else
            action.__sigaction_u.__sa_handler = { _ in CrashReplay.replace() }
            #endif
            action.sa_flags = Int32(truncatingIfNeeded: SA_NODEFER) | Int32(truncatingIfNeeded: SA_RESETHAND)
            sigaction(number, &action, nil)
        }
    }

    /// Sets the number of the batch that is repeated after a trap.
    static func begin(_ batch: Int) {
        guard let digits else { return }
        var rest = batch
        for index in (0..<width).reversed() {
            digits[index] = CChar(48 + rest % 10)
            rest /= 10
        }
    }

    /// Starts the limit of 120 s of CPU time until this function is called again, after which the batch is repeated.
    static func expectProgress() {
        var time = itimerval()
        time.it_value.tv_sec = 120
        #if os(Linux)
        setitimer(__itimer_which_t(ITIMER_VIRTUAL.rawValue), &time, nil)
        #else
        setitimer(ITIMER_VIRTUAL, &time, nil)
        #endif
    }

    private static func replace() {
        guard let arguments, let program = arguments[0] else { return }
        execv(program, arguments)
    }
}
