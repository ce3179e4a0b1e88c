internal import DecisionIndex
internal import StrictJSON
internal import SystemThreads
internal import Testing

@testable internal import HTTPServer
@testable internal import LinkdCommands

/// The bounds of a chart, without a broker.
@Suite struct ChartRouteTests {
    /// Returns the chart of an index with one row, or the problem.
    private static func chart(_ query: [(String, String)], hasRow: Bool) throws -> JSONValue {
        let texts = ["bootstrap": "127.0.0.1:1", "output": "decisions", "input": "events"]
        let settings = try Settings(
            flags: texts.mapValues { SettingTexts(texts: [$0], splitting: true, source: .flag("--test")) },
            environment: [:], configFile: nil, isKnownProperty: { _ in false })
        let feed = DecisionFeed(FeedOptions(connection: try Connection(settings), settings: settings, since: 0))
        if hasRow, let source = RowSource(topic: 0, partition: 0) {
            feed.state.withLock { $0.index.add(RowFacts(RowKey(time: 5, source: source, offset: 1))) }
        }
        let request = HTTPRequest(
            method: .get, path: "/api/chart", query: query.map { HTTPTarget.QueryItem(name: $0.0, value: $0.1) },
            peer: HTTPPeer(address: "127.0.0.1", port: 5))
        guard case .bytes(let bytes) = try ChartRoute.answer(request, feed).body else { return JSONValue(.null) }
        return try JSONValue.parse(bytes)
    }

    private static let times = [
        "0", "1", "99999999999999", "0000-01-01", "0001-01-01T00:00:00Z", "9999-12-31T23:59:60.999999999-23:59",
        "1969-12-31T23:59:59Z", "1s", "2562047788015h", "106751991167d", "1970-01-01T00:00:00.001Z",
    ]
    private static let steps = [
        "1", "999", "1000", "86400000", "2592000000", "0", "-1", "2592000001", "9999999999999999",
    ]

    @Test("Whatever the times and the step are, a chart has at most 1,000 spans, or is refused", arguments: times)
    func bounds(from: String) throws {
        var answers = 0
        for to in Self.times + [nil] {
            for step in Self.steps + [nil] {
                for hasRow in [false, true] {
                    let query = [("from", from), ("to", to), ("step", step), ("kind", "any")]
                    do {
                        let given = query.compactMap { name, text in text.map { (name, $0) } }
                        let chart = try Self.chart(given, hasRow: hasRow)
                        let counts = chart["counts"]?.array ?? []
                        #expect(counts.count <= 1000 && (chart["step"]?.integer ?? 0) >= 1, "\(query)")
                        answers += 1
                    } catch let problem as ConsoleProblem {
                        #expect(problem.status == 400 && !problem.next.isEmpty, "\(query)")
                    }
                }
            }
        }
        #expect(answers > 0 || from.hasPrefix("9999"))
    }
}
