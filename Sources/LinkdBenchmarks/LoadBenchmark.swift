internal import RouteAnalysis
internal import LinkCoordinator

/// The benchmark `load`: reading, checking, and compiling tables of growing size.
enum LoadBenchmark {
    /// The form of a table's routes.
    private enum Shape: String, CaseIterable {
        /// Two typed captures without bindings.
        case plain
        /// Two captures bound to a model that the screen requires.
        case bound

        /// The members of the table before its routes.
        var head: String {
            switch self {
            case .plain: ""
            case .bound:
                #""models":{"Item":{"id":"uuid","count":"int(1..99)"}},"#
                    + #""coordinators":{"main":{"screens":{"item":{"needs":["Item"]}}}},"#
            }
        }

        /// The target and the bindings of a route.
        var action: String {
            switch self {
            case .plain: #""to":{"root":true}"#
            case .bound:
                #""to":{"path":"/main/item"},"bind":{"Item":{"id":"path.id","count":"path.n"}}"#
            }
        }
    }

    static func run(_ options: BenchmarkOptions, _ report: Report) throws {
        for shape in Shape.allCases {
            report.heading("loading a table, \(shape.rawValue) captures")
            for count in [10, 100, 1_000, 10_000] { try run(shape, count, options, report) }
        }
    }

    private static func run(_ shape: Shape, _ count: Int, _ options: BenchmarkOptions, _ report: Report) throws {
        let text = table(shape, routes: count)
        let rounds = count > 1_000 ? min(options.rounds, 3) : options.rounds
        var whole: [Double] = []
        var compiled: [Double] = []
        for _ in 0..<rounds {
            var loaded: RouteTable?
            whole.append(try nanoseconds { loaded = try RouteTable.checked(text) } / 1e6)
            guard let source = loaded?.source else { continue }
            compiled.append(nanoseconds { _ = CompiledTable(source, hash: "00000000") } / 1e6)
        }
        report.figure("load \(count) routes", unit: "ms", whole)
        report.figure("  of that, compiling", unit: "ms", compiled)
    }

    /// Returns a table whose routes have two literals and two typed captures each.
    private static func table(_ shape: Shape, routes count: Int) -> [UInt8] {
        let routes = (0..<count).map {
            #"{"id":"r\#($0)","match":"/s\#($0 % 97)/t\#($0)/{id:uuid}/{n:int(1..9)}",\#(shape.action)}"#
        }
        let text = """
            {"schemaVersion":1,"table":{"id":"load","version":"1"},
             "link":{"schemes":["t"],"host":"authority","hosts":["*"]},
             \(shape.head)"routes":[\(routes.joined(separator: ","))]}
            """
        return [UInt8](text.utf8)
    }
}
