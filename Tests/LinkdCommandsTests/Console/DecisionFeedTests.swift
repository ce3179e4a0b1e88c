internal import DecisionIndex
internal import Foundation
internal import StrictJSON
internal import SystemThreads
internal import TestSupport
internal import Testing

@testable internal import HTTPServer
@testable internal import LinkdCommands

/// The reader of decisions with a real broker, and what its endpoints answer.
@Suite(.enabled(if: TestBroker.plain != nil, "no broker: KAFKA_BOOTSTRAP_SERVERS is not set"))
struct DecisionFeedTests {
    /// The topics of one test, and the console that reads them.
    private final class Site {
        let decisions: FilledTopic
        let letters: FilledTopic
        let feed: DecisionFeed
        let now = Platform.nowMilliseconds

        init(masks: Bool = false, capacity: Int = 10_000, hours: Int64 = 24, fill: (Site) throws -> Void = { _ in })
            throws
        {
            decisions = try FilledTopic("feed", partitions: 3)
            letters = try FilledTopic("feed-in", partitions: 2, suffix: ".dlq")
            let texts = [
                "output": decisions.name, "input": String(letters.name.dropLast(4)),
                "bootstrap": TestBroker.plain ?? "",
            ]
            let settings = try Settings(
                flags: texts.mapValues { SettingTexts(texts: [$0], splitting: true, source: .flag("--test")) },
                environment: [:], configFile: nil, isKnownProperty: { _ in false })
            feed = DecisionFeed(
                FeedOptions(
                    connection: try Connection(settings), settings: settings, since: now - hours * 3_600_000,
                    masks: masks, capacity: capacity))
            try fill(self)
            feed.start()
        }

        deinit { feed.stop() }

        /// Writes decisions, one for each number.
        func write(
            _ numbers: Range<Int>, device: String = "d-1", more: String = "", after first: [FilledTopic.Record] = []
        ) throws {
            try decisions.write(
                first
                    + numbers.map { number in
                        FilledTopic.Record(
                            partition: Int32(number % 3), key: device,
                            value: #"{"decision":"in-0-\#(number)-0","event":"e-\#(number)","device":"\#(device)","#
                                + #""table":"shop@1+d1ec0520","outcome":"\#(number % 10 == 0 ? "reject" : "navigate")""#
                                + #"\#(number % 10 == 0 ? #","reason":"host""# : "")\#(more)}"#,
                            time: now - 1_000_000 + Int64(number) * 10)
                    })
        }

        func get(
            _ path: String, _ query: [(String, String)] = [], headers: HTTPHeaders = [:]
        ) throws -> HTTPResponse {
            let request = HTTPRequest(
                method: .get, path: path, query: query.map { HTTPTarget.QueryItem(name: $0.0, value: $0.1) },
                headers: headers, peer: HTTPPeer(address: "127.0.0.1", port: 5))
            return try DecisionRoutes.respond(request, feed)
        }

        /// Opens a live stream.
        func stream(_ headers: HTTPHeaders = [:]) throws -> HTTPStream? {
            guard case .stream(let stream) = try get("/api/decisions/live", headers: headers).body else { return nil }
            return stream
        }

        func json(_ path: String, _ query: [(String, String)] = []) throws -> JSONValue {
            guard case .bytes(let bytes) = try get(path, query).body else { return JSONValue(.null) }
            return try JSONValue.parse(bytes)
        }

        /// Waits until all records were read.
        func isLive() -> Bool {
            becomesTrue(withinSeconds: 30) {
                (try? json("/api/decisions", [("limit", "0")]))?["state"]?["phase"]?.string == "live"
            }
        }

        /// Waits until the index has a number of rows.
        func awaits(_ rows: Int64) -> Bool {
            becomesTrue(withinSeconds: 30) {
                (try? json("/api/decisions", [("kind", "any"), ("limit", "0")]))?["total"]?.integer == rows
            }
        }
    }

    private static func offsets(_ answer: JSONValue) -> [Int64] {
        (answer["rows"]?.array ?? []).compactMap { $0["event"]?.string.flatMap { Int64($0.dropFirst(2)) } }
    }

    @Test func `Decisions of all partitions are pages in the order of their times, filtered and counted`() throws {
        let site = try Site { try $0.write(0..<300) }
        #expect(site.awaits(300))
        let first = try site.json("/api/decisions", [("limit", "5")])
        #expect(Self.offsets(first) == [299, 298, 297, 296, 295])
        #expect(site.isLive())
        let next = try site.json("/api/decisions", [("limit", "3"), ("before", first["next"]?.string ?? "")])
        #expect(Self.offsets(next) == [294, 293, 292])
        let rejects = try site.json("/api/decisions", [("outcome", "reject"), ("position", "28"), ("limit", "9")])
        #expect(rejects["total"]?.integer == 30)
        #expect(Self.offsets(rejects) == [10, 0])
        let chart = try site.json("/api/chart", [("by", "reason")])
        #expect(chart["groups"]?.array?.first?["value"]?.string == "host")
        #expect(chart["total"]?.integer == 30)
    }

    @Test func `Records before the look-back, and beyond the limit of rows, are not in the index`() throws {
        let site = try Site(capacity: 100) { site in
            // Offsets are found by time, and the record of a commit has a time too, so there is only one.
            let old = FilledTopic.Record(value: #"{"outcome":"none"}"#, time: site.now - 90_000_000)
            try site.write(0..<300, after: [old])
        }
        #expect(site.isLive())
        let answer = try site.json("/api/decisions", [("limit", "200")])
        #expect(answer["truncated"]?.text == "true")
        // The search for the first offsets counts the record of a commit in each of three partitions. A slow broker can
        // leave rows without the values of their records, such as the event.
        let counts = 97...100
        _ = becomesTrue(withinSeconds: 30) {
            counts.contains((try? Self.offsets(site.json("/api/decisions", [("limit", "200")])))?.count ?? 0)
        }
        let found = Self.offsets(try site.json("/api/decisions", [("limit", "200")]))
        try #require(counts.contains(found.count) && found.first == 299, "\(found.count) rows")
        #expect(found == Array((299 - Int64(found.count) + 1...299).reversed()), "no row is missing since `from`")
    }

    @Test func `A stream gets new rows, and continues after a break with what it has missed`() throws {
        let site = try Site { try $0.write(0..<3) }
        #expect(site.awaits(3))
        let stream = try #require(try site.stream())
        try site.write(3..<5)
        var text = ""
        #expect(
            becomesTrue(withinSeconds: 30) {
                text += Self.read(stream)
                return text.contains(#""e-3""#) && text.contains(#""e-4""#)
            })
        #expect(!text.contains(#""e-2""#))
        let id = text.matches(of: #/id: (\S+)/#).last.map { String($0.1) } ?? ""
        stream.close()
        try site.write(5..<7)
        #expect(site.awaits(7))
        let resumed = try #require(try site.stream(["Last-Event-ID": id]))
        let missed = Self.read(resumed)
        #expect(missed.contains(#""e-5""#) && missed.contains(#""e-6""#) && !missed.contains(#""e-4""#), "\(missed)")
        #expect(throws: ConsoleProblem.self) { try site.get("/api/decisions/live", headers: ["Last-Event-ID": "x"]) }
    }

    private static func read(_ stream: HTTPStream) -> String {
        withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 1) { buffer in
            guard case .copied(let count) = stream.next(into: buffer) else { return "" }
            return String(decoding: buffer[..<count], as: UTF8.self)
        }
    }

    @Test func `Hostile texts stay text in JSON and in CSV`() throws {
        let device = #"=cmd|\u202e<img src=x onerror=alert(1)>\u0007,\"x"#
        let site = try Site { site in
            try site.write(1..<2, device: device, more: #","context":{"campaign":"</script>\u2028\u0000"}"#)
            try site.letters.write([
                FilledTopic.Record(
                    key: "<b>", value: "\u{7F}not json", time: site.now,
                    headers: [
                        ("dlq.schema", "1"), ("dlq.reason", "<script>\u{1B}[31m"), ("dlq.detail", "a\u{202E}b"),
                        ("dlq.failed.at", "\(site.now)"), ("dlq.source.partition", "NaN"),
                    ])
            ])
        }
        #expect(site.awaits(2))
        let row = try site.json("/api/decisions")["rows"]?.array?.first
        #expect(row?["device"]?.string == "=cmd|\u{202E}<img src=x onerror=alert(1)>\u{7},\"x")
        #expect(row?["campaign"]?.string == "</script>\u{2028}\u{0}")
        let letter = try site.json("/api/deadletters")["rows"]?.array?.first
        #expect(letter?["reason"]?.string == "<script>\u{1B}[31m" && letter?["detail"]?.string == "a\u{202E}b")
        #expect(letter?["source"] == nil)
        guard case .stream(let stream) = try site.get("/api/decisions.csv").body else { throw CancellationError() }
        let produce = try #require(stream.productionIfNeeded())
        produce()
        let line = Self.read(stream).split(separator: "\n").dropFirst().first ?? ""
        #expect(line.contains(#","'=cmd|"#), "\(line)")
    }

    @Test func `With --mask, no answer contains an id, and a masked id can be filtered on`() throws {
        let site = try Site(masks: true) { try $0.write(0..<4, device: "alice") }
        #expect(site.awaits(4))
        let answer = try site.json("/api/decisions")
        #expect(!answer.text.contains("alice") && !answer.text.contains(#""e-"#))
        let masked = answer["rows"]?.array?.first?["device"]?.string ?? ""
        #expect(masked.hasPrefix("masked-"))
        #expect(try site.json("/api/decisions", [("device", masked)])["total"]?.integer == 4)
        #expect(try site.json("/api/decisions", [("device", "alice")])["total"]?.integer == 4)
        #expect(try site.json("/api/decisions", [("device", "bob")])["total"]?.integer == 0)
    }

    @Test func `Rows whose values are excluded are in no page, no chart, and no CSV`() throws {
        let site = try Site { try $0.write(0..<20) }
        #expect(site.awaits(20))
        let others = [("not.reason", "host"), ("not.outcome", "none")]
        #expect(try site.json("/api/decisions", others)["total"]?.integer == 18)
        #expect(try site.json("/api/decisions", [("not.reason", "")])["total"]?.integer == 2)
        #expect(try site.json("/api/chart", others)["total"]?.integer == 0)
        guard case .stream(let stream) = try site.get("/api/decisions.csv", others).body else {
            throw CancellationError()
        }
        let produce = try #require(stream.productionIfNeeded())
        produce()
        let lines = Self.read(stream).split(separator: "\n")
        #expect(lines.count == 19 && !lines.contains { $0.contains(",host,") })
        #expect(
            lines.first?.hasSuffix(",event,campaign,application,user") == true
                && lines.last?.hasSuffix(",e-1,,,") == true)
    }

    @Test(arguments: [false, true])
    func `A decision for a user without devices has a user and no device`(masks: Bool) throws {
        let site = try Site(masks: masks) { site in
            let value = #"{"decision":"in-0-9-0","event":"e","user":"u-1","outcome":"none","reason":"no_device"}"#
            try site.decisions.write([
                FilledTopic.Record(partition: 0, key: "u-1", value: value, time: site.now - 1_000)
            ])
        }
        #expect(site.awaits(1))
        let row = try #require(try site.json("/api/decisions")["rows"]?.array?.first)
        #expect(row["reason"]?.string == "no_device" && row["device"] == nil)
        #expect(row["user"]?.string.map { masks ? $0.hasPrefix("masked-") : $0 == "u-1" } == true)
        #expect(try site.json("/api/decisions", [("device", "u-1")])["total"]?.integer == 0)
    }

    @Test func `While the broker does not answer, the rows of the index are shown at once`() throws {
        let site = try Site { try $0.write(0..<20) }
        #expect(site.awaits(20))
        #expect(Self.offsets(try site.json("/api/decisions", [("limit", "2")])) == [19, 18])
        site.feed.stop()
        site.feed.state.withLock { $0.status.enter(.broken(message: "away", next: "wait"), now: site.now) }
        let answer = try site.json("/api/decisions", [("limit", "20"), ("outcome", "reject")])
        #expect(answer["state"]?["phase"]?.string == "broken")
        #expect(answer["rows"]?.array?.map { $0["missing"]?.text } == ["true", "true"])
        #expect(answer["rows"]?.array?.map { $0["reason"]?.string } == ["host", "host"])
        #expect(
            Self.offsets(try site.json("/api/decisions", [("limit", "2")])) == [19, 18], "rows read lately are whole")
    }

    @Test func `Without a broker that answers, the state is broken and says what to do`() throws {
        let settings = try Settings(
            flags: ["bootstrap": SettingTexts(texts: ["127.0.0.1:1"], splitting: true, source: .flag("--test"))],
            environment: [:], configFile: nil, isKnownProperty: { _ in false })
        let feed = DecisionFeed(
            FeedOptions(connection: try Connection(settings), settings: settings, since: 0))
        feed.start()
        defer { feed.stop() }
        let isBroken = becomesTrue(withinSeconds: 30) {
            guard case .broken(let message, let next) = feed.read({ $0.status.phase }) else { return false }
            return !message.isEmpty && !next.isEmpty
        }
        #expect(isBroken)
    }
}
