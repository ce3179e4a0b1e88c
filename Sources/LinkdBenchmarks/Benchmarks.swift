internal import Foundation
internal import LinkdFuzz
internal import StrictJSON

/// The benchmark program.
///
/// Its help text describes the measurements and their baselines.
@main
enum Benchmarks {
    static let help = """
        LinkdBenchmarks measures how fast links are resolved, relative to other programs in the same run.

        USAGE
          LinkdBenchmarks [BENCHMARK...] [--peers DIR] [--broker HOST:PORT] [OPTIONS]
          LinkdBenchmarks ingest [--records N] [--seed S]        compare long-lived processors with fresh ones,
                                                          for mutated records of all envelopes
          LinkdBenchmarks ingest --replay FILE                   run the inputs of a finding
          LinkdBenchmarks hostile [--seconds N] [--seed S]       measure expensive records, and search for others
          LinkdBenchmarks console --broker HOST:PORT [--records N] [--routes N] [--seconds N] [--rate N]
                                                          memory and answers of `linkd console`, with bounds
          LinkdBenchmarks registry [--records N] [--broker HOST:PORT]
                                                          the store of N devices (default: 1000000) beside LMDB,
                                                          records with a join beside records without, and with a
                                                          broker a worker with a join beside one without
          LinkdBenchmarks short-links [--records N]       a file of N short links (default: 1000000): its build, and
                                                          look-ups beside a dictionary
          LinkdBenchmarks cpu FILE.jsonl TABLE.json [VENDORS.json [PLATFORMS.json]]
                                                          time per record of a workload file, pass by pass
          LinkdBenchmarks instructions [--recorded FILE] [--record]
                                                          instructions per record, counted by valgrind and compared
                                                          with FILE, which --record writes
          LinkdBenchmarks resolve FILE.jsonl TABLE.json [VENDORS.json [PLATFORMS.json]]
                                                          print key, tab, and decision of each record

        BENCHMARKS (default: all whose requirements are met)
          record   a complete record of the workload, from bytes to bytes, and its three parts
          library  a call of `RouteTable.resolve`, with the memory that it allocates
          push     push messages of a vendor beside native events of the same size
          lookup   a lookup in each of the peers' route sets (needs --peers)
          worker   CPU time per record of `linkd worker` and `passthrough.c` (needs --peers and a broker)

        OPTIONS
          --peers DIR          directory with rust-peer, passthrough.c, and lookup/, which run in turns with linkd
          --broker HOST:PORT   an empty broker for the measurement (or KAFKA_BOOTSTRAP_SERVERS)
          --workload FILE      records of the workload (default: generated)
          --table FILE         their table (default: config/routes/shop.json)
          --records N          records of `worker` (default: 300000) or `ingest` (default: 10000000), or decisions of
                               `console` (default: 1000000)
          --seconds N          duration of the search of `hostile`, or of the live tail of `console` (default: 60)
          --rate N             events per second of the live tail of `console` (default: 1000)
          --routes N           routes of the table of `console` (default: 10000)
          --linkd PATH         the measured program of `console` (default: linkd beside this program)
          --seed S             seed of `ingest` and `hostile` (default: 1)
          --batch N            the only record of `ingest`, from 1
          --output DIR         directory of the findings of `ingest` (default: .)
          --rounds N           rounds of each comparison (default: 7)
          --json               print one JSON object per line

        A figure is the median of the rounds, with minimum and maximum. Ratios are computed round by round.
        """

    static func main() { exit(run(Array(CommandLine.arguments.dropFirst()))) }

    private static func run(_ arguments: [String]) -> Int32 {
        do {
            if arguments.first == "instructions" {
                return try InstructionBenchmark.run(Array(arguments.dropFirst()))
            }
            if arguments.first == "resolve" || arguments.first == "cpu", (3...5).contains(arguments.count) {
                let bench = try RecordBenchmark(
                    workload: try Workload(path: arguments[1]), table: arguments[2],
                    vendors: arguments.dropFirst(3).first, platforms: arguments.dropFirst(4).first)
                if arguments[0] == "resolve" { bench.printDecisions() } else { bench.printPasses(15) }
                return 0
            }
            if arguments.contains("--help") || arguments.contains("-h") {
                print(help)
                return 0
            }
            if let search = arguments.first.flatMap({ searches[$0] }) {
                var options = try BenchmarkOptions(Array(arguments.dropFirst()))
                if !arguments.contains("--records") { options.records = search.records }
                return try search.run(options)
            }
            return try run(try BenchmarkOptions(arguments))
        } catch let error as BenchmarkError {
            note("LinkdBenchmarks: \(error.text)")
            return error.code
        } catch {
            note("LinkdBenchmarks: \(error)")
            return 70
        }
    }

    /// The measurements and searches that run alone, with their numbers of records.
    private static let searches: [String: (run: @Sendable (BenchmarkOptions) throws -> Int32, records: Int)] = [
        "ingest": (IngestSearch.run, 10_000_000), "hostile": (HostileBenchmark.run, 10_000_000),
        "console": (ConsoleBenchmark.run, 1_000_000), "registry": (RegistryBenchmark.run, 1_000_000),
        "short-links": (ShortLinkBenchmark.run, 1_000_000),
    ]

    private static func run(_ options: BenchmarkOptions) throws -> Int32 {
        let report = Report(json: options.json)
        if options.runs("record") {
            let work = try options.workload.map { try Workload(path: $0) } ?? Workload.generated(100_000)
            try RecordBenchmark(workload: work, table: options.table).run(options, report)
        }
        if options.runs("library") { try LibraryBenchmark.run(options, report) }
        if options.runs("push") {
            let work = try options.workload.map { try Workload(path: $0) } ?? Workload.generated(20_000)
            let benchmark = try PushBenchmark(
                workload: work, table: options.table, vendors: options.vendors, platforms: options.platforms)
            benchmark.run(options, report)
        }
        if options.runs("lookup") { try LookupBenchmark.run(options, report) }
        if options.runs("worker") { try WorkerBenchmark.run(options, report) }
        return 0
    }
}

/// An error that ends the program.
struct BenchmarkError: Error {
    var text: String
    var code: Int32 = 69
}

/// The options of the command line.
struct BenchmarkOptions {
    private var named: Set<String> = []
    var peers: String?
    var broker = ProcessInfo.processInfo.environment["KAFKA_BOOTSTRAP_SERVERS"]
    var workload: String?
    var table = "config/routes/shop.json"
    var vendors = "config/vendors.json"
    var platforms = "config/link-platforms.json"
    var records = 300_000
    var rounds = 7
    var json = false
    var seconds = 60
    var seed: UInt64 = 1
    var batch: Int?
    var replay: String?
    var output = "."
    var linkd: String?
    var routes = 10_000
    var rate = 1_000
    let requests = 40

    static let kinds = ["record", "library", "push", "lookup", "worker"]

    init(_ arguments: [String]) throws {
        var index = 0
        func value() throws -> String {
            index += 1
            guard index < arguments.count else {
                throw BenchmarkError(text: "\(arguments[index - 1]) needs a value, see --help", code: 64)
            }
            return arguments[index]
        }
        func number() throws -> Int {
            guard let number = Int(try value()), number > 0 else {
                throw BenchmarkError(text: "\(arguments[index - 1]) needs a number above 0, see --help", code: 64)
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
            case "--batch": batch = try number() - 1
            case "--replay": replay = try value()
            case "--output": output = try value()
            case "--linkd": linkd = try value()
            case "--routes": routes = try number()
            case "--rate": rate = try number()
            case "--json": json = true
            case let kind where Self.kinds.contains(kind): named.insert(kind)
            case let other: throw BenchmarkError(text: "unknown argument \(other), see --help", code: 64)
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

    /// Returns whether to run a benchmark: it is selected, or none is selected and its requirements are met.
    func runs(_ kind: String) -> Bool {
        if !named.isEmpty { return named.contains(kind) }
        switch kind {
        case "lookup": return peers != nil
        case "worker": return peers != nil && broker != nil
        default: return true
        }
    }

    /// Returns the path of a peer's program, or nil if it does not exist.
    func peer(_ name: String) -> String? {
        guard let path = peers.map({ "\($0)/\(name)" }) else { return nil }
        return FileManager.default.fileExists(atPath: path) ? path : nil
    }
}

/// The records of the workload.
///
/// All values are in one array.
struct Workload {
    private(set) var keys: [[UInt8]] = []
    private(set) var bytes: [UInt8] = []
    private(set) var spans: [Range<Int>] = []
    /// The path of the file, for programs that read it themselves.
    private(set) var path: String

    /// The number of records.
    var count: Int { spans.count }

    /// Reads a file with lines of the form `{"key":…,"value":{…}}`.
    init(path: String) throws {
        self.path = path
        for line in try contents(of: path).split(separator: UInt8(ascii: "\n")).map(Array.init) {
            guard let parsed = try? JSONValue.parse(line), let key = parsed["key"]?.string, let value = parsed["value"]
            else {
                throw BenchmarkError(text: "line \(count + 1) of \(path) is not a record of the workload", code: 65)
            }
            // The bytes of the value, up to the closing brace of the line.
            add(key: [UInt8](key.utf8), value: line[value.offset..<line.count - 1])
        }
    }

    private mutating func add(key: [UInt8], value: ArraySlice<UInt8>) {
        keys.append(key)
        spans.append(bytes.count..<bytes.count + value.count)
        bytes += value
    }

    /// Generates a workload, writes it to a file, and reads it.
    static func generated(_ count: Int, seed: UInt64 = 11) throws -> Workload {
        var generator = WorkloadGenerator(seed: seed)
        var text = ""
        for index in 0..<count {
            let event = generator.event(index)
            text += #"{"key":"\#(event.key)","value":\#(event.value)}"# + "\n"
        }
        let path = FileManager.default.temporaryDirectory.appending(path: "linkd-workload-\(count)-\(seed).jsonl").path
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return try Workload(path: path)
    }
}
