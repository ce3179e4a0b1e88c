internal import LinkCoordinator

/// Reading, checking and compiling tables of growing size.
enum LoadBenchmark {
    static func run(_ options: BenchmarkOptions, _ report: Report) throws {
        report.heading("loading a table")
        for count in [10, 100, 1_000, 10_000] {
            let text = table(routes: count)
            let rounds = count > 1_000 ? min(options.rounds, 3) : options.rounds
            var whole: [Double] = []
            var compiled: [Double] = []
            for _ in 0..<rounds {
                var loaded: Table?
                whole.append(try nanoseconds { loaded = try Table.load(text) } / 1e6)
                guard let source = loaded?.source else { continue }
                compiled.append(nanoseconds { _ = CompiledTable(source, hash: "00000000") } / 1e6)
            }
            report.figure("load \(count) routes", unit: "ms", whole)
            report.figure("  of that compile", unit: "ms", compiled)
        }
    }

    /// A table whose routes have two literals and two typed captures each.
    private static func table(routes count: Int) -> [UInt8] {
        let routes = (0..<count).map {
            #"{"id":"r\#($0)","match":"/s\#($0 % 97)/t\#($0)/{id:uuid}/{n:int(1..9)}","to":{"root":true}}"#
        }
        let text = """
            {"schemaVersion":1,"table":{"id":"load","version":"1"},
             "link":{"schemes":["t"],"host":"authority","hosts":["*"]},"routes":[\(routes.joined(separator: ","))]}
            """
        return [UInt8](text.utf8)
    }
}
