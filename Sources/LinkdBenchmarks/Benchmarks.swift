internal import Foundation

/// The benchmark program.
///
/// Its help text describes the measurements and their baselines.
enum Benchmarks {
    static let help = """
        LinkdBenchmarks measures how fast links are resolved, relative to other programs in the same run.

        USAGE
          LinkdBenchmarks [BENCHMARK...] [--peers DIR] [--broker HOST:PORT] [OPTIONS]
          LinkdBenchmarks adversarial [--records N] [--seed S]   compare long-lived processors with fresh ones
          LinkdBenchmarks ingest [--records N] [--seed S]        the same for mutated records of all envelopes
          LinkdBenchmarks ingest --replay FILE                   run the inputs of a finding
          LinkdBenchmarks hostile [--seconds N] [--seed S]       measure expensive records, and search for others
          LinkdBenchmarks endurance --broker HOST:PORT [--records N]   memory of a worker over reloads and rebalances
          LinkdBenchmarks console --broker HOST:PORT [--records N] [--routes N] [--seconds N] [--rate N]
                                                          memory and answers of `linkd console`, with bounds
          LinkdBenchmarks cpu FILE.jsonl TABLE.json       time per record of a workload file, pass by pass
          LinkdBenchmarks resolve FILE.jsonl TABLE.json   print key, tab, and decision of each record

        BENCHMARKS (default: all whose requirements are met)
          record   a complete record of the workload, from bytes to bytes, and its three parts
          push     push messages of a vendor beside native events of the same size
          lookup   a lookup in each of the peers' route sets (needs --peers)
          load     reading, checking, and compiling tables of 10 to 10,000 routes
          worker   CPU time per record of `linkd worker` and `passthrough.c` (needs --peers and a broker)
          monitor  the same of a worker that is scraped every second, and of one that is not (needs a broker)

        OPTIONS
          --peers DIR          directory with rust-peer, passthrough.c, and lookup/, which run in turns with linkd
          --broker HOST:PORT   an empty broker for the measurement (or KAFKA_BOOTSTRAP_SERVERS)
          --workload FILE      records of the workload (default: generated)
          --table FILE         their table (default: config/routes/shop.json)
          --records N          records of `worker` (default: 300000; `monitor` has ten times as many), or of
                               `adversarial`, `ingest`, or `endurance` (default: 10000000), or
                               decisions of `console` (default: 1000000)
          --seconds N          duration of the search of `hostile`, or of the live tail of `console` (default: 60)
          --rate N             events per second of the live tail of `console` (default: 1000)
          --routes N           routes of the table of `console` (default: 10000)
          --linkd PATH         the measured program of `console` (default: linkd beside this program)
          --seed S             seed of `adversarial`, `ingest`, and `hostile` (default: 1)
          --batch N            the only batch of `ingest`, from 1
          --output DIR         directory of the findings of `ingest` (default: .)
          --rounds N           rounds of each comparison (default: 7)
          --json               print one JSON object per line

        A figure is the median of the rounds, with minimum and maximum. Ratios are computed round by round.
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
            if let search = arguments.first,
                ["adversarial", "ingest", "hostile", "endurance", "console"].contains(search)
            {
                var options = try BenchmarkOptions(Array(arguments.dropFirst()))
                if !arguments.contains("--records") {
                    options.records = search == "console" ? 1_000_000 : 10_000_000
                }
                switch search {
                case "hostile": return try HostileBenchmark.run(options)
                case "endurance": return try EnduranceBenchmark.run(options)
                case "console": return try ConsoleBenchmark.run(options)
                case "ingest": return try IngestSearch.run(options)
                default: return try AdversarialRecords.run(options)
                }
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
        if options.runs("push") {
            let work = try options.workload.map { try Workload(path: $0) } ?? Workload.generated(20_000)
            let benchmark = try PushBenchmark(
                workload: work, table: options.table, vendors: options.vendors, platforms: options.platforms)
            benchmark.run(options, report)
        }
        if options.runs("lookup") { try LookupBenchmark.run(options, report) }
        if options.runs("load") { try LoadBenchmark.run(options, report) }
        if options.runs("worker") { try WorkerBenchmark.run(options, report) }
        if options.runs("monitor") { try MonitorBenchmark.run(options, report) }
        return 0
    }
}
