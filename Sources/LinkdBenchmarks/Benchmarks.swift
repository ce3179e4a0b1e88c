internal import Foundation

/// The benchmark program: what is measured, and against what, is said in its help.
enum Benchmarks {
    static let help = """
        LinkdBenchmarks: how fast links are resolved, in ratios to other programs measured in the same run.

        USAGE
          LinkdBenchmarks [record] [lookup] [load] [worker] [--peers DIR] [--broker HOST:PORT] [OPTIONS]
          LinkdBenchmarks adversarial [--records N] [--seed S]   answers of long-lived processors beside fresh ones
          LinkdBenchmarks hostile [--seconds N] [--seed S]       what the worst records cost, and a search for worse
          LinkdBenchmarks cpu FILE.jsonl TABLE.json       ns per record of a workload file, pass by pass
          LinkdBenchmarks resolve FILE.jsonl TABLE.json   key, tab and decision of each record, for a checker

        WHAT (all of them when none is named; `worker` only with a broker)
          record   a whole record of the workload, bytes to bytes, and its three parts
          lookup   one look-up on each of the peers' shapes (needs --peers)
          load     reading, checking and compiling tables of 10 to 10,000 routes
          worker   `linkd worker` beside the floor `passthrough.c`: CPU time per record (needs --peers and a broker)

        OPTIONS
          --peers DIR          where rust-peer, passthrough.c and lookup/ are; each runs in turn with ours
          --broker HOST:PORT   an empty broker to measure on (or KAFKA_BOOTSTRAP_SERVERS)
          --workload FILE      records as the workload's generator writes them (made here when absent)
          --table FILE         the table they are for (config/routes/shop.json)
          --records N          records of the worker's runs (300000); of `adversarial` (10000000)
          --seconds N          seconds of the search of `hostile` (60)
          --seed S             seed of `adversarial` and `hostile` (1)
          --rounds N           rounds of each comparison (7)
          --json               one JSON object per line

        A figure is the median of the rounds, with the least and the greatest; a ratio is taken round by round.
        """

    static func run(_ arguments: [String]) -> Int32 {
        do {
            if arguments.first == "resolve" || arguments.first == "cpu", arguments.count == 3 {
                let bench = try RecordBenchmark(workload: try Workload(path: arguments[1]), table: arguments[2])
                if arguments[0] == "resolve" { bench.printDecisions() } else { bench.printPasses(15) }
                return 0
            }
            if arguments.contains("--help") || arguments.contains("-h") {
                print(help)
                return 0
            }
            if let search = arguments.first, ["adversarial", "hostile"].contains(search) {
                var options = try BenchmarkOptions(Array(arguments.dropFirst()))
                if !arguments.contains("--records") { options.records = 10_000_000 }
                return try search == "hostile" ? HostileBenchmark.run(options) : AdversarialRecords.run(options)
            }
            return try run(try BenchmarkOptions(arguments))
        } catch let error as BenchmarkError {
            FileHandle.standardError.write(Data("LinkdBenchmarks: \(error.text)\n".utf8))
            return error.code
        } catch {
            FileHandle.standardError.write(Data("LinkdBenchmarks: \(error)\n".utf8))
            return 70
        }
    }

    private static func run(_ options: BenchmarkOptions) throws -> Int32 {
        let report = Report(json: options.json)
        if options.runs("record") {
            let work = try options.workload.map { try Workload(path: $0) } ?? Workload.generated(100_000)
            try RecordBenchmark(workload: work, table: options.table).run(options, report)
        }
        if options.runs("lookup") { try LookUpBenchmark.run(options, report) }
        if options.runs("load") { try LoadBenchmark.run(options, report) }
        if options.runs("worker") { try WorkerBenchmark.run(options, report) }
        return 0
    }
}

/// Why the program cannot go on.
struct BenchmarkError: Error {
    var text: String
    var code: Int32 = 69
}

/// What was asked on the command line.
struct BenchmarkOptions {
    private var named: Set<String> = []
    var peers: String?
    var broker = ProcessInfo.processInfo.environment["KAFKA_BOOTSTRAP_SERVERS"]
    var workload: String?
    var table = "config/routes/shop.json"
    var records = 300_000
    var rounds = 7
    var json = false
    var seconds = 60
    var seed: UInt64 = 1

    static let kinds = ["record", "lookup", "load", "worker"]

    init(_ arguments: [String]) throws {
        var index = 0
        func value() throws -> String {
            index += 1
            guard index < arguments.count else {
                throw BenchmarkError(text: "\(arguments[index - 1]) needs a value; see --help", code: 64)
            }
            return arguments[index]
        }
        func number() throws -> Int {
            guard let number = Int(try value()), number > 0 else {
                throw BenchmarkError(text: "\(arguments[index - 1]) needs a number above 0; see --help", code: 64)
            }
            return number
        }
        while index < arguments.count {
            switch arguments[index] {
            case "--peers": peers = try value()
            case "--broker": broker = try value()
            case "--workload": workload = try value()
            case "--table": table = try value()
            case "--records": records = try number()
            case "--rounds": rounds = try number()
            case "--seconds": seconds = try number()
            case "--seed": seed = UInt64(try number())
            case "--json": json = true
            case let kind where Self.kinds.contains(kind): named.insert(kind)
            case let other: throw BenchmarkError(text: "unknown argument \(other); see --help", code: 64)
            }
            index += 1
        }
        for kind in ["lookup", "worker"] where named.contains(kind) && peers == nil {
            throw BenchmarkError(text: "\(kind) needs --peers DIR", code: 64)
        }
        if named.contains("worker"), broker == nil {
            throw BenchmarkError(text: "worker needs --broker HOST:PORT or KAFKA_BOOTSTRAP_SERVERS", code: 64)
        }
    }

    /// Whether a kind is to be measured: it was named, or none was and it has what it needs.
    func runs(_ kind: String) -> Bool {
        if !named.isEmpty { return named.contains(kind) }
        switch kind {
        case "lookup": return peers != nil
        case "worker": return peers != nil && broker != nil
        default: return true
        }
    }

    /// A program of the peers, or nil where it is not there.
    func peer(_ name: String) -> String? {
        guard let path = peers.map({ "\($0)/\(name)" }) else { return nil }
        return FileManager.default.fileExists(atPath: path) ? path : nil
    }
}
