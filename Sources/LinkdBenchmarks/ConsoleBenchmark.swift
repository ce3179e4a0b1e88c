internal import Foundation
internal import Synchronization
internal import TestSupport

/// The benchmark `console`: the memory and the answers of `linkd console` with many decisions, a large table, and new
/// decisions.
struct ConsoleBenchmark {
    private let options: BenchmarkOptions
    private var topics: MeasuredTopics
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
        topics = MeasuredTopics("console", broker: broker)
        topics.linkd = options.linkd ?? topics.linkd
        bounds = ConsoleBounds(rows: options.records)
        directory = FileManager.default.temporaryDirectory.appending(path: topics.name)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    private mutating func run() throws {
        let values = try fill()
        let console = try MeasuredConsole(topics.linkd, ["--table", options.table] + topics.flags)
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
        try topics.create()
        let values = try WorkerBenchmark.writeValues(options)
        try topics.produce(values)
        try PeerProgram.run(
            topics.linkd, worker + ["--lanes", "2", "--stop-after", "\(options.records)", "--report", "json"])
        say("\(options.records) decisions, \(options.routes) routes")
        return values
    }

    /// The arguments of a worker.
    private var worker: [String] {
        ["worker", "--group", topics.name, "--table", options.table, "--passthrough", "campaign"] + topics.flags
            + ["--log-level", "error"]
    }

    private mutating func measureStart(_ console: MeasuredConsole) throws {
        var first: Double?
        while true {
            let page = try console.endpoints.answer("/api/decisions?limit=50")
            let indexed = PeerProgram.number("indexed", in: page) ?? 0
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
            while let part = try client.readChunk() { lines += part.count { $0 == 10 } }
        }
        guard lines > rows else { throw BenchmarkError(text: "\(lines) lines of \(rows) rows", code: 70) }
        verdict.figure("rows of CSV", [Double(rows) / time * 1e6], unit: "thousand/s")
        verdict.figure("memory after the pages", [try console.memory().now], unit: "MB")
    }

    private mutating func measureTail(_ console: MeasuredConsole, _ values: String) throws {
        let count = options.seconds * options.rate
        let worker = try GuardedProcess([topics.linkd] + worker + ["--lanes", "1"])
        defer { worker.stop() }
        let files = Array(repeating: values, count: min(1000, count / options.records + 1))
        let producer = try GuardedProcess(
            [
                topics.linkd, "produce", "-b", topics.broker, "--topic", "\(topics.name)-in", "-q", "--rate",
                "\(options.rate)",
            ]
                + ["--count", "\(count)"] + files)
        defer { producer.stop() }
        var tail = ConsoleTail()
        try tail.run(console, seconds: options.seconds)
        let page = try console.endpoints.answer("/api/decisions?limit=1")
        let arrived = (PeerProgram.number("read", in: page) ?? 0) - Double(options.records)
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
        let console = try MeasuredConsole(topics.linkd, ["--table", table])
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

/// The memory and the answers of a console while decisions arrive.
struct ConsoleTail {
    /// The resident memory in MB, one value each second.
    private(set) var memory: [Double] = []
    /// The times of a page in milliseconds, one each second.
    private(set) var pages: [Double] = []
    /// The rows that the live client received.
    private(set) var received = 0
    /// The rows that the console has dropped for the live client.
    private(set) var dropped = 0

    /// The rows that a thread has read from `/api/decisions/live`.
    private final class LiveReader: Sendable {
        private let state = Mutex<(rows: Int, dropped: Int, ended: String?)>((0, 0, nil))

        /// The rows received and dropped, and the reason of an early end.
        var seen: (rows: Int, dropped: Int, ended: String?) { state.withLock { $0 } }

        init(_ endpoints: ConsoleEndpoints) {
            Thread.detachNewThread { [self] in
                do {
                    let client = try endpoints.open("/api/decisions/live")
                    var line: [UInt8] = []
                    while let part = try client.readChunk() {
                        for piece in part.split(separator: 10, omittingEmptySubsequences: false).enumerated() {
                            if piece.offset > 0 {
                                take(line)
                                line = []
                            }
                            line += piece.element
                        }
                    }
                    state.withLock { $0.ended = "the console has ended the stream" }
                } catch {
                    state.withLock { $0.ended = "\(error)" }
                }
            }
        }

        private func take(_ line: [UInt8]) {
            let text = String(decoding: line, as: UTF8.self)
            guard text.hasPrefix("data: {\"rows\":") else { return }
            let rows = text.components(separatedBy: "\"cursor\":").count - 1
            let dropped = text.range(of: "\"dropped\":", options: .backwards)
                .flatMap { Int(text[$0.upperBound...].prefix { $0.isNumber }) }
            state.withLock {
                $0.rows += rows
                $0.dropped += dropped ?? 0
            }
        }
    }

    /// Samples until a time is over, and prints a line for each twentieth of it.
    ///
    /// - Parameters:
    ///   - console: The console.
    ///   - seconds: The time.
    mutating func run(_ console: MeasuredConsole, seconds: Int) throws {
        let endpoints = console.endpoints
        let reader = LiveReader(endpoints)
        let start = ContinuousClock.now
        let stride = max(1, seconds / 20)
        say("  second     MB   page ms  rows received  dropped     indexed        read")
        for second in 1...seconds {
            let left = start + .seconds(second) - ContinuousClock.now
            if left > .zero { Thread.sleep(forTimeInterval: left / .seconds(1)) }
            var page = ""
            pages.append(
                try nanoseconds { page = try endpoints.answer("/api/decisions?limit=100&histogram=100") } / 1e6)
            memory.append(try console.memory().now)
            let seen = reader.seen
            if let ended = seen.ended { throw BenchmarkError(text: "the live client: \(ended)", code: 70) }
            (received, dropped) = (seen.rows, seen.dropped)
            guard second % stride == 0 || second == seconds else { continue }
            let numbers = ["indexed", "read"].map { PeerProgram.number($0, in: page) ?? .nan }
            say(
                String(
                    format: "%8d %6.1f %9.1f %14d %8d %11.0f %11.0f", second, memory.last ?? .nan, pages.last ?? .nan,
                    received, dropped, numbers[0], numbers[1]))
        }
    }

    /// The medians of the memory in the first and the last third, and the maximum.
    var thirds: (first: Double, last: Double, most: Double) {
        let third = max(1, memory.count / 3)
        return (
            Spread(Array(memory.prefix(third))).median, Spread(Array(memory.suffix(third))).median,
            memory.max() ?? .nan
        )
    }

}

/// A running `linkd console` whose memory and answers are measured.
final class MeasuredConsole {
    private let program: GuardedProcess
    let endpoints: ConsoleEndpoints
    /// The time at which the process was started.
    let begun: ContinuousClock.Instant

    /// Starts a console on a free port, and waits until it serves.
    init(_ linkd: String, _ arguments: [String]) throws {
        begun = ContinuousClock.now
        program = try GuardedProcess([linkd, "console", "--listen", "127.0.0.1:0"] + arguments)
        let address = try program.awaits(seconds: 60) {
            $0.output.firstMatch(of: #/http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]+)/#)
        }
        endpoints = ConsoleEndpoints(port: UInt16(address.1) ?? 0, token: String(address.2))
    }

    /// The time since the start of the process, in seconds.
    var age: Double { (ContinuousClock.now - begun) / .seconds(1) }

    /// Returns the resident memory of the process now, and its maximum, in MB.
    func memory() throws -> (now: Double, most: Double) {
        let path = "/proc/\(program.child ?? 0)/status"
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        func value(_ name: String) throws -> Double {
            let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") } ?? ""
            guard let kilobytes = line.split(whereSeparator: { !$0.isNumber }).first.flatMap({ Double($0) }) else {
                throw BenchmarkError(text: "the console has ended early", code: 70)
            }
            return kilobytes * 1024 / 1e6
        }
        return (try value("VmRSS"), try value("VmHWM"))
    }

    /// Ends the process.
    func stop() { program.stop() }
}

/// The endpoints of a console, for any thread.
struct ConsoleEndpoints: Sendable {
    /// The port of the loopback interface.
    let port: UInt16
    let token: String

    private func client(_ path: String, body: String? = nil) throws -> RawClient {
        let client = try RawClient(port: port)
        let text = body ?? ""
        let headers =
            ["\(body == nil ? "GET" : "POST") \(path) HTTP/1.1", "Host: 127.0.0.1:\(port)", "Connection: close"]
            + ["Authorization: Bearer \(token)", "Content-Length: \(text.utf8.count)"]
            + (body == nil ? [] : ["Content-Type: application/json", "X-Linkd-Console: 1"])
        client.send(headers.joined(separator: "\r\n") + "\r\n\r\n" + text)
        return client
    }

    private func check(_ response: RawClient.Response, _ path: String) throws {
        guard response.status == 200 else {
            throw BenchmarkError(text: "\(path): status \(response.status) \(response.text.prefix(300))", code: 70)
        }
    }

    /// Opens a stream of events, and returns its connection if the status is 200.
    func open(_ path: String) throws -> RawClient {
        let client = try client(path)
        try check(try client.readHead(), path)
        return client
    }

    /// Returns the text of an answer.
    func answer(_ path: String, body: String? = nil) throws -> String {
        let response = try client(path, body: body).read()
        try check(response, path)
        return response.text
    }

    /// Sends requests one after another, and returns the times of the whole answers in milliseconds.
    func times(_ count: Int, body: ((Int) -> String)? = nil, _ path: (Int) -> String) throws -> [Double] {
        try (0..<count).map { number in
            let (path, body) = (path(number), body?(number))
            return try nanoseconds { _ = try answer(path, body: body) } / 1e6
        }
    }
}

/// A table with many routes, and a candidate that differs from it.
enum ConsoleTable {
    /// The id of the table.
    static let id = "large"
    private static let coordinators = 40
    private static let screens = 25

    /// Returns a link that the route with a number matches.
    static func link(_ number: Int) -> String {
        "large://shop.example/section\(number % 97)/topic\(number)/b121d5e7-ea65-49f8-8b33-b3c43fa93866"
            + "?count=\(number % 99 + 1)"
    }

    /// Returns the text of a table.
    ///
    /// - Parameters:
    ///   - count: The number of routes.
    ///   - isCandidate: A Boolean value that indicates whether some routes are missing, and others open another screen
    ///     or need another version.
    static func text(routes count: Int, isCandidate: Bool = false) -> String {
        let kept = (0..<count).filter { !isCandidate || $0 % 1000 != 999 }
        let routes = kept.map { route($0, isCandidate: isCandidate) }
        let coordinators = (0..<coordinators).map { coordinator in
            let screens = (0..<screens).map { #""screen\#($0)":{"needs":["Item"]}"# }
            return
                #""area\#(coordinator)":{"initial":"start","screens":{"start":{},\#(screens.joined(separator: ","))}}"#
        }
        return """
            {"schemaVersion":1,"table":{"id":"\(id)","version":"\(isCandidate ? 2 : 1)"},
             "link":{"schemes":["\(id)"],"host":"authority","hosts":["shop.example"]},
             "models":{"Item":{"id":"uuid","count":"int(1..99)=1"}},
             "coordinators":{\(coordinators.joined(separator: ",\n"))},
             "routes":[\(routes.joined(separator: ",\n"))],"fallback":{"outcome":"reject"}}
            """
    }

    private static func route(_ number: Int, isCandidate: Bool) -> String {
        let isChanged = isCandidate && number % 500 == 250
        let screen = (number / coordinators + (isChanged && number % 2 == 0 ? 1 : 0)) % screens
        let target = #""to":{"path":"/area\#(number % coordinators)/screen\#(screen)","parents":"initial"}"#
        let version = isChanged ? "5.0.0" : "4.0.0"
        let action =
            number % 3 == 0
            ? #""variants":[{"when":{"app":">=\#(version)"},\#(target)},"#
                + #"{"to":{"external":"https://shop.example/topic\#(number)/{id}"}}]"# : target
        return #"{"id":"topic\#(number)","match":"/section\#(number % 97)/topic\#(number)/{id:uuid}","#
            + #""bind":{"Item":{"id":"path.id","count":"query.count"}},\#(action)}"#
    }
}
