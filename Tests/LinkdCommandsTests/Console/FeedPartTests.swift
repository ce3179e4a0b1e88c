internal import ByteStorage
internal import DecisionIndex
internal import KafkaClient
internal import LinkDecider
internal import Testing

@testable internal import HTTPServer
@testable internal import LinkdCommands

/// The parts of the reader of decisions that need no broker.
@Suite struct FeedPartTests {
    private static func request(_ query: [(String, String)]) -> HTTPRequest {
        HTTPRequest(
            method: .get, path: "/api/x", query: query.map { HTTPTarget.QueryItem(name: $0.0, value: $0.1) },
            peer: HTTPPeer(address: "127.0.0.1", port: 5))
    }

    private static func filter(_ query: [(String, String)]) throws -> RowFilter {
        let mask = RecordMask(hash: KeyedHash(), isOn: false)
        return try FeedQuery.filter(
            RequestQuery(
                request(query), names: FeedQuery.names, repeated: FeedQuery.repeatedNames, now: 10_000_000),
            kind: "decision", mask)
    }

    @Test(
        arguments: [
            [("unknown", "1")], [("route", "a"), ("route", "b")], [("kind", "all")], [("from", "soon")],
            [("from", "100"), ("to", "100")], [("device", String(repeating: "x", count: 257))],
            [("campaign", String(repeating: "x", count: 513))], [("not.reason", String(repeating: "x", count: 513))],
            Array(repeating: ("not.reason", "x"), count: 51), [("not.device", "x")], [("from", "123456789012345")],
            [("to", "-1")], [("context.query", "utm_term")], [("not.context.query", "=x")],
        ])
    func `A wrong parameter is an error with a next step`(query: [(String, String)]) {
        do {
            let filter = try Self.filter(query)
            Issue.record("\(filter)")
        } catch let problem as ConsoleProblem {
            #expect(problem.status == 400 && !problem.next.isEmpty && problem.message.count < 400)
        } catch {
            Issue.record(error)
        }
    }

    @Test func `The topics of decisions and of dead letters have places of their kind in the index`() throws {
        let outputs = OutputTopics("out", applications: (0..<64).map { ("a\($0)", "t\($0)") })
        for outputs in [OutputTopics("out"), outputs] {
            let topics = FeedTopics(outputs, deadLetters: ["x.dlq", "y.dlq"])
            var seen: Set<RowSource> = []
            for name in topics.names {
                let partition = TopicPartition(topic: name, partition: 5)
                let source = try #require(topics.source(partition))
                #expect(topics.partition(source) == partition)
                #expect(source.kind == (name.hasSuffix(".dlq") ? .deadLetter : .decision))
                #expect(seen.insert(source).inserted)
            }
            #expect(topics.source(TopicPartition(topic: "other", partition: 0)) == nil)
            #expect(topics.partition(try #require(RowSource(topic: 3, partition: 0))) == nil)
        }
    }

    @Test func `Parameters become a filter`() throws {
        let filter = try Self.filter([
            ("route", "item"), ("campaign", ""), ("table", "shop"), ("from", "1h"), ("to", "1970-01-01T02:46:40Z"),
            ("kind", "problem"),
        ])
        #expect(filter.values == [.route: "item", .campaign: ""])
        let others = try Self.filter([("not.reason", "a"), ("not.reason", ""), ("not.reason", "a")])
        #expect(others.excluded == [.reason: ["a", ""]] && others.excludedTableIDs.isEmpty)
        let tables = try Self.filter([("not.table", "shop"), ("not.table", "shop@1+00000000"), ("not.table", "")])
        #expect(tables.excluded == [.table: ["shop@1+00000000", ""]] && tables.excludedTableIDs == ["shop"])
        #expect(filter.tableID == "shop" && filter.isProblem && filter.kind == nil)
        #expect(filter.from == 6_400_000 && filter.to == 10_000_000)
        #expect(try Self.filter([("table", "shop@1+00000000")]).values == [.table: "shop@1+00000000"])
    }

    /// The items of a row, and the filters that include it.
    @Test(arguments: [
        (#"{"utm_term":"a","x\"":"b\\\""}"#, [("utm_term", "a"), ("x\"", "b\\\""), ("utm_source", "")]),
        (#"{"utm_term":"utm_source","a":"\"utm_source\":\"b\""}"#, [("utm_source", ""), ("utm_term", "utm_source")]),
        ("", [("utm_source", ""), ("utm_term", "")]),
    ])
    func `A filter on an item of the link's query includes the rows with it`(
        object: String, included: [(String, String)]
    ) throws {
        let source = try #require(RowSource(topic: 0, partition: 0))
        var index = DecisionIndex()
        let bytes = Array(object.utf8)
        try bytes.withUnsafeBufferPointer { bytes in
            var facts = RowFacts(RowKey(time: 1, source: source, offset: 1))
            facts.query = ByteView(bytes)
            index.add(facts)
            index.settle()
            let all = included + [("utm_term", "b"), ("utm_ter", "a"), ("utm_source", "b"), ("a", "x")]
            for (name, value) in all {
                let isIncluded = included.contains { $0.0 == name && $0.1 == value }
                for (parameter, expected) in [("context.query", isIncluded), ("not.context.query", !isIncluded)] {
                    let filter = try Self.filter([(parameter, "\(name)=\(value)")])
                    #expect(filter.includes(facts, index.hash) == expected, "\(parameter) \(name)=\(value)")
                    #expect(index.count(filter) == (expected ? 1 : 0), "\(parameter) \(name)=\(value)")
                }
            }
            let whole = try Self.filter([("context.query", object)])
            #expect(index.count(whole) == 1)
        }
    }

    @Test(arguments: [(["a"], false), (["b"], true), (["b", ""], true), ([""], true), (["b", "a"], false)])
    func `A row with an excluded value is not in the live tail`(values: [String], passes: Bool) throws {
        let source = try #require(RowSource(topic: 0, partition: 0))
        var facts = RowFacts(RowKey(time: 1, source: source, offset: 1))
        facts.reason = ByteView("a" as StaticString)
        var filter = RowFilter()
        filter.excluded[.reason] = Set(values)
        #expect(filter.includes(facts, KeyedHash()) == passes)
        filter.excluded = [.campaign: Set(values)]
        #expect(filter.includes(facts, KeyedHash()) == !values.contains(""))
    }

    @Test func `Offsets near each other are read in one range, and all of them are in one`() {
        let offsets: [Int64] = [5, 7, 6, 500, 90, 2_000, 2_050, 9_000_000]
        let ranges = RecordFetcher.ranges(offsets)
        #expect(ranges.count == 4)
        #expect(ranges.map(\.from) == ranges.map(\.from).sorted(by: >))
        for offset in offsets { #expect(ranges.contains { $0.from <= offset && offset < ($0.to ?? 0) }) }
        let dense = RecordFetcher.ranges(Array(0..<10_000))
        #expect(dense.allSatisfy { ($0.to ?? 0) - $0.from <= 2001 })
        #expect(RecordFetcher.ranges([]) == [])
    }

    @Test func `The id of an event is a vector of offsets that is read back`() throws {
        var vector: [RowSource: Int64] = [:]
        for partition in Int32(0)..<200 { vector[try #require(RowSource(topic: 1, partition: partition))] = .max }
        let text = LiveEvents.id(vector)
        #expect(text.isEmpty, "a header of 5 KB is refused by the server")
        vector = vector.filter { $0.key.partition < 100 }
        #expect(LiveEvents.offsets(LiveEvents.id(vector)) == vector)
    }

    @Test(arguments: ["", "1", "0.0", "0.0:", "0.0:-1", "0.0:1,", "0.0:1,0.0:2", "0:1", "a.0:1", "4096.0:1"])
    func `Any other text is not the id of an event`(text: String) { #expect(LiveEvents.offsets(text) == nil) }

    @Test func `A slow client loses rows, and learns how many`() throws {
        var clients = LiveClients()
        let stream = HTTPStream(maxBytes: 600)
        let added = clients.add(stream, RowFilter())
        let number = try #require(added)
        let source = try #require(RowSource(topic: 0, partition: 0))
        let hash = KeyedHash()
        func send(_ rows: Int) {
            for offset in 0..<rows {
                let key = RowKey(time: 0, source: source, offset: Int64(offset))
                let facts = RowFacts(key)
                let row = FeedRow(DecisionIndex.Row(key: key), topic: "t")
                if clients.isWanted(facts, hash) { clients.add(row, facts, hash) }
            }
            clients.send(FeedStatus(), [:], total: 0, now: 0)
        }
        // Nothing is sent before the rows since the last connection.
        send(1)
        #expect(Self.text(of: stream) == "")
        clients.begin(number)
        send(0)
        #expect(Self.text(of: stream).contains(#""dropped":0"#))
        send(50)
        #expect(Self.text(of: stream) == "")
        send(1)
        #expect(Self.text(of: stream).contains(#""dropped":50"#))
        send(3000)
        send(1)
        #expect(Self.text(of: stream).contains(#""dropped":3000"#))
    }

    @Test func `A batch of 250 rows is sent whole`() throws {
        var clients = LiveClients()
        let stream = HTTPStream(maxBytes: LiveClients.queueBytes)
        let added = clients.add(stream, RowFilter())
        clients.begin(try #require(added))
        let source = try #require(RowSource(topic: 0, partition: 0))
        for offset in Int64(0)..<250 {
            let facts = RowFacts(RowKey(time: 0, source: source, offset: offset))
            clients.add(FeedRow(DecisionIndex.Row(key: facts.key), topic: "t"), facts, KeyedHash())
        }
        clients.send(FeedStatus(), [:], total: 0, now: 0)
        var text = ""
        while true {
            let more = Self.text(of: stream)
            if more.isEmpty { break }
            text += more
        }
        #expect(text.matches(of: /"cursor"/).count == 250 && text.contains(#""dropped":0"#))
    }

    private static func text(of stream: HTTPStream) -> String {
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
            guard case .copied(let count) = stream.next(into: buffer) else { return "" }
            return String(decoding: buffer[..<count], as: UTF8.self)
        }
    }

    @Test func `The number of live clients is limited, and closed ones make room`() {
        var clients = LiveClients()
        let streams = (0..<LiveClients.limit).map { _ in HTTPStream() }
        let numbers = streams.compactMap { clients.add($0, RowFilter()) }
        #expect(numbers.count == LiveClients.limit)
        let refused = clients.add(HTTPStream(), RowFilter())
        #expect(refused == nil)
        streams[3].close()
        let next = clients.add(HTTPStream(), RowFilter())
        #expect(next != nil)
    }

    @Test func `Rows that are not used are forgotten, and the memory of a cache is limited`() throws {
        var cache = RowCache(limit: 100_000)
        let source = try #require(RowSource(topic: 0, partition: 0))
        func row(_ offset: Int64) -> FeedRow {
            FeedRow(DecisionIndex.Row(key: RowKey(time: 0, source: source, offset: offset)), topic: "t")
        }
        for offset in Int64(0)..<10_000 {
            cache.insert(row(offset))
            let used = cache.row(row(0).key)
            #expect(used != nil, "a row that is used stays")
        }
        #expect(cache.count < 100_000 / 160)
        let unused = cache.row(row(1).key)
        #expect(unused == nil)
        cache.enter(epoch: 1)
        #expect(cache.count == 0)
    }

    @Test(arguments: [(1, 1000), (90_000, 1000), (91_001, 2000), (86_400_000, 1_800_000), (1 << 50, 0)])
    func `A chart has at most 90 spans`(length: Int64, step: Int64) {
        let found = ChartRoute.step(0..<length)
        #expect(length / found <= 90)
        if step > 0 { #expect(found == step) }
    }
}
