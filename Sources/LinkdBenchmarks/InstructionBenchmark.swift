internal import Foundation
internal import StrictJSON
internal import TestSupport

/// The benchmark `instructions`: the instructions of a record, counted by valgrind.
///
/// Times vary by tens of percent on a machine with other work. These counts vary by less than one percent, so that a
/// check can judge a change by them. They depend on the compiler, the C library, and the processor.
enum InstructionBenchmark {
    /// The measured records: a form, with link platforms or without.
    private static let cases: [(name: String, form: PushBenchmark.Form, hasPlatforms: Bool)] = [
        ("event", .event, false), ("event_with_platforms", .event, true), ("apns", .apns, false), ("fcm", .fcm, false),
    ]
    /// The difference of these numbers of passes has neither the start of the program nor the first records of a shape.
    private static let passes = (2, 22)
    /// The growth that is an error.
    private static let limit = 1.03

    static func run(_ arguments: [String]) throws -> Int32 {
        if arguments.count == 3, arguments[0] == "--case", let passes = Int(arguments[2]) {
            return try decide(arguments[1], passes)
        }
        let file = arguments.firstIndex(of: "--recorded").map { arguments.dropFirst($0 + 1).first } ?? nil
        let records = arguments.contains("--record")
        guard arguments.count == (file == nil ? 0 : 2) + (records ? 1 : 0), file != nil || !records else {
            throw BenchmarkError(text: "expected instructions [--recorded FILE] [--record], see --help", code: 64)
        }
        let folder = FileManager.default.temporaryDirectory.appending(path: "linkd-instructions-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // Valgrind 3.19 does not read the program's debug information.
        let program = folder.appending(path: "program").path
        try PeerProgram.run("strip", ["-g", "-o", program, CommandLine.arguments[0]])
        var counts: [(name: String, count: Int)] = []
        for item in cases {
            let total = try (count(item.name, passes.0, program), count(item.name, passes.1, program))
            counts.append((item.name, (total.1 - total.0) / ((passes.1 - passes.0) * recordCount)))
        }
        if let file, records {
            let members = counts.map { "  \"\($0.name)\": \($0.count)" }.joined(separator: ",\n")
            let text = "{\n  \"machine\": \"\(try machine())\",\n\(members)\n}\n"
            try text.write(toFile: file, atomically: true, encoding: .utf8)
        }
        return try compare(counts, try file.map { try JSONValue.parse(contents(of: $0)) })
    }

    private static let recordCount = 2_000

    /// Decides about the records of a case, as the program that is counted.
    private static func decide(_ name: String, _ passes: Int) throws -> Int32 {
        guard let item = cases.first(where: { $0.name == name }) else { return 64 }
        let options = try BenchmarkOptions([])
        let benchmark = try PushBenchmark(
            workload: try Workload.generated(recordCount), table: options.table, vendors: options.vendors,
            platforms: options.platforms)
        guard benchmark.count(of: item.form) == recordCount else { return 70 }
        benchmark.run(item.form, hasPlatforms: item.hasPlatforms, passes: passes)
        return 0
    }

    /// Returns the instructions of the whole program.
    private static func count(_ name: String, _ passes: Int, _ program: String) throws -> Int {
        let command = [
            "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, "instructions", "--case", name,
            "\(passes)",
        ]
        let result = try ChildProcess.run(
            command, environment: ["SWIFT_DETERMINISTIC_HASHING": "1"], seconds: 600)
        let text = result.errors.split(separator: "Collected : ").last?.prefix { $0.isNumber }
        guard result.status == 0, let count = text.flatMap({ Int($0) }) else {
            throw BenchmarkError(text: "\(name) was not counted: \(result.errors.suffix(400))", code: 70)
        }
        return count
    }

    /// Returns what counts depend on besides the source code.
    private static func machine() throws -> String {
        let compiler = try PeerProgram.run("swift", ["--version"]).split(separator: "\n").first ?? ""
        let library = try PeerProgram.run("getconf", ["GNU_LIBC_VERSION"]).split(separator: "\n").first ?? ""
        let flags =
            (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8))?
            .split(separator: "\n").first { $0.hasPrefix("flags") }?.split(separator: " ").map(String.init) ?? []
        // Valgrind has no instructions beyond these.
        let features = ["avx2", "bmi2", "erms"].filter(flags.contains)
        return ([String(compiler), String(library)] + features).joined(separator: ", ")
    }

    /// Prints the counts, and returns 1 if one has grown beyond the limit on the machine of the recorded counts.
    private static func compare(_ counts: [(name: String, count: Int)], _ recorded: JSONValue?) throws -> Int32 {
        let isSame = recorded?["machine"]?.string == (try machine())
        var status: Int32 = 0
        for (name, count) in counts {
            guard let before = recorded?[name]?.integer else {
                say("\(name): \(count) instructions per record")
                continue
            }
            let ratio = Double(count) / Double(before)
            let isOver = isSame && ratio > limit
            let share = String(format: "%.3f of %d", ratio, Int(before))
            say("\(name): \(count) instructions per record, \(share)\(isOver ? ": TOO MANY" : "")")
            if isOver { status = 1 }
        }
        if recorded != nil && !isSame { say("not judged: another compiler, C library, or processor: \(try machine())") }
        if status != 0 { say("Find the cause, or record the counts with --record and say why in the commit.") }
        return status
    }
}
