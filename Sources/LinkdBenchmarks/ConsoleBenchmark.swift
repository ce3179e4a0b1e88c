internal import Foundation

/// The benchmark `console`: the memory and the answers of `linkd console` with many decisions, a large table, and new
/// decisions.
struct ConsoleBenchmark {
    private let options: BenchmarkOptions
    private let linkd: String
    private let broker: String
    private let name = "console-\(ProcessInfo.processInfo.processIdentifier)"
    private let directory: URL
    private let bounds: ConsoleBounds
    private var verdict = BoundedFigures()

    /// Runs the benchmark.
    ///
    /// - Returns: 0, or 1 if a figure is beyond its bound.
    static func run(_ options: BenchmarkOptions) throws -> Int32 {
        guard let broker = options.broker else {
            throw BenchmarkError(text: "console needs --broker HOST:PORT or KAFKA_BOOTSTRAP_SERVERS", code: 64)
        }
        var benchmark = try ConsoleBenchmark(options, broker)
        defer { try? FileManager.default.removeItem(at: benchmark.directory) }
        try benchmark.run()
        return benchmark.verdict.exceeded == 0 ? 0 : 1
    }

    private init(_ options: BenchmarkOptions, _ broker: String) throws {
        self.options = options
        self.broker = broker
        bounds = ConsoleBounds(rows: options.records)
        linkd = try options.linkd ?? WorkerBenchmark.linkdPath()
        directory = FileManager.default.temporaryDirectory.appending(path: name)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    private var topics: [String] { ["--input", "\(name)-in", "--output", "\(name)-out"] }

    private mutating func run() throws {
        let values = try fill()
        let console = try MeasuredConsole(linkd, ["-b", broker, "--table", options.table] + topics)
        defer { console.stop() }
        try measureStart(console)
        try measurePages(console)
        try measureTable()
        try measureTail(console, values)
    }

    /// Creates the topics, and lets a worker decide the events.
    ///
    /// - Returns: The path of the file with the events.
    private func fill() throws -> String {
        let replicas = ["--partitions", "6", "-q"]
        _ = try Program.run(linkd, ["topics", "create", "-b", broker] + topics + replicas)
        let values = try WorkerBenchmark.writeValues(options)
        _ = try Program.run(linkd, ["produce", "-b", broker, "--topic", "\(name)-in", "-q", values])
        _ = try Program.run(
            linkd, worker + ["--lanes", "2", "--stop-after", "\(options.records)", "--report", "json"])
        ConsoleTail.say("\(options.records) decisions, \(options.routes) routes")
        return values
    }

    /// The arguments of a worker.
    private var worker: [String] {
        ["worker", "-b", broker, "--group", name, "--table", options.table, "--passthrough", "campaign"] + topics
            + ["--log-level", "error"]
    }

    private mutating func measureStart(_ console: MeasuredConsole) throws {
        var first: Double?
        while true {
            let page = try console.endpoints.answer("/api/decisions?limit=50")
            let indexed = Program.number("indexed", in: page) ?? 0
            if first == nil, indexed > 0, page.contains("\"cursor\"") { first = console.age }
            if page.contains("\"phase\":\"live\""), indexed >= Double(options.records) { break }
            guard console.age < 300 else { throw BenchmarkError(text: "not all decisions are read: \(page)", code: 70) }
            Thread.sleep(forTimeInterval: 0.02)
        }
        verdict.figure("first rows", [first ?? .nan], unit: "s", bound: bounds.firstRows)
        verdict.figure("all rows", [console.age], unit: "s")
        verdict.figure(
            "memory with the index", [try console.memory().now], unit: "MB",
            bound: bounds.memory)
    }

    private mutating func measurePages(_ console: MeasuredConsole) throws {
        let filters = [
            "", "outcome=reject", "route=item", "reason=param_invalid", "campaign=win-back", "application=",
            "table=shop",
            "device=d-000123", "event=e-0000123", "kind=problem", "not.outcome=navigate", "from=1h",
            "route=item&campaign=spring-sale&outcome=external",
        ]
        // Pages at the beginning, and pages that a scroll bar leads to. They fill the cache of rows as well.
        let step = options.records / options.requests
        for filter in filters {
            let times = try console.endpoints.times(options.requests) { number in
                "/api/decisions?limit=100&histogram=100&position=\(number % 2 * number * step)&\(filter)"
            }
            verdict.figure("page, \(filter.isEmpty ? "all" : filter)", times, unit: "ms", bound: bounds.page)
        }
        let places = try console.endpoints.times(10 * options.requests) { number in
            "/api/decisions?limit=100&position=\(number * step / 10)"
        }
        verdict.figure("page anywhere", places, unit: "ms", bound: bounds.page)
        for by in ["outcome", "route", "reason", "campaign"] {
            let times = try console.endpoints.times(options.requests) { _ in "/api/chart?kind=any&by=\(by)" }
            verdict.figure("chart by \(by)", times, unit: "ms", bound: bounds.page)
        }
        let rows = min(options.records, 200_000)
        var lines = 0
        let time = try nanoseconds {
            let client = try console.endpoints.open("/api/decisions.csv?limit=\(rows)")
            while let part = try client.next() { lines += part.count { $0 == 10 } }
        }
        guard lines > rows else { throw BenchmarkError(text: "\(lines) lines of \(rows) rows", code: 70) }
        verdict.figure("rows of CSV", [Double(rows) / time * 1e6], unit: "thousand/s")
        verdict.figure("memory after the pages", [try console.memory().now], unit: "MB")
    }

    private mutating func measureTail(_ console: MeasuredConsole, _ values: String) throws {
        let count = options.seconds * options.rate
        let worker = try GuardedProgram(linkd, worker + ["--lanes", "1"])
        defer { worker.stop() }
        let files = Array(repeating: values, count: min(1000, count / options.records + 1))
        let producer = try GuardedProgram(
            linkd,
            ["produce", "-b", broker, "--topic", "\(name)-in", "-q", "--rate", "\(options.rate)"]
                + ["--count", "\(count)"] + files)
        defer { producer.stop() }
        var tail = ConsoleTail()
        try tail.run(console, seconds: options.seconds)
        let page = try console.endpoints.answer("/api/decisions?limit=1")
        let arrived = (Program.number("read", in: page) ?? 0) - Double(options.records)
        verdict.figure("decisions arrived", [arrived / Double(options.seconds)], unit: "/s")
        if arrived < Double(count) * 0.9 { verdict.fail("\(Int(arrived)) of \(count) decisions have arrived") }
        verdict.figure("page meanwhile", tail.pages, unit: "ms", bound: bounds.page)
        verdict.figure("live rows received", [Double(tail.received)], unit: "")
        verdict.figure("live rows dropped", [Double(tail.dropped)], unit: "")
        let thirds = tail.thirds
        verdict.figure("memory, median of the first third", [thirds.first], unit: "MB")
        verdict.figure("memory, median of the last third", [thirds.last], unit: "MB")
        verdict.figure("  growth", [thirds.last - thirds.first], unit: "MB", bound: bounds.growth)
        verdict.figure(
            "memory at most", [thirds.most], unit: "MB", bound: bounds.memory)
    }

    private mutating func measureTable() throws {
        let table = directory.appending(path: "large.json").path
        try ConsoleTable.text(routes: options.routes).write(toFile: table, atomically: true, encoding: .utf8)
        let console = try MeasuredConsole(linkd, ["--table", table])
        defer { console.stop() }
        verdict.figure("start with the large table", [console.age], unit: "s", bound: bounds.firstRows)
        verdict.figure("memory with the large table", [try console.memory().now], unit: "MB")
        let (endpoints, routes) = (console.endpoints, options.routes)
        func question(_ number: Int) -> String {
            let link = ConsoleTable.link(number * 7919 % routes)
            return #"{"table":"\#(ConsoleTable.id)","input":"\#(link)","device":{"app":"6.1.0","platform":"ios"}}"#
        }
        let map = try endpoints.times(3) { _ in "/api/map?table=\(ConsoleTable.id)" }
        verdict.figure("map, first", [map[0]], unit: "ms", bound: bounds.map)
        verdict.figure("map", map, unit: "ms", bound: bounds.map)
        verdict.figure(
            "answer to a link", try endpoints.times(options.requests, body: question) { _ in "/api/resolve" },
            unit: "ms", bound: bounds.answer)
        verdict.figure(
            "matrix", try endpoints.times(options.requests, body: question) { _ in "/api/matrix" }, unit: "ms",
            bound: bounds.answer)
        verdict.figure(
            "page of a route",
            try endpoints.times(options.requests) {
                "/api/route?table=\(ConsoleTable.id)&route=topic\($0 * 7919 % routes)"
            }, unit: "ms", bound: bounds.answer)
        try measureComparison(console)
    }

    /// Compares the table several times, because each comparison can leave memory behind.
    private mutating func measureComparison(_ console: MeasuredConsole) throws {
        let candidate = ConsoleTable.text(routes: options.routes, isCandidate: true)
            .replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
        let body = #"{"table":"\#(ConsoleTable.id)","candidate":"\#(candidate)"}"#
        var times: [Double] = []
        for _ in 0..<3 {
            var answer = ""
            times.append(try nanoseconds { answer = try console.endpoints.answer("/api/compare", body: body) } / 1e9)
            guard answer.contains("\"ok\":true"), answer.contains("\"breaking\":true") else {
                throw BenchmarkError(text: "the comparison found nothing: \(answer.prefix(300))", code: 70)
            }
            if answer.contains("\"isCut\":true") { verdict.fail("a comparison is incomplete") }
            verdict.figure("memory after a comparison", [try console.memory().now], unit: "MB")
        }
        verdict.figure("comparison", times, unit: "s", bound: bounds.comparison)
    }
}
