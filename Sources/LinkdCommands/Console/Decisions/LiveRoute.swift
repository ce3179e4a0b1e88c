internal import DecisionIndex
internal import HTTPServer
internal import StrictJSON
internal import SystemThreads

/// The endpoint `/api/decisions/live`: rows as they arrive, as server-sent events.
enum LiveRoute {
    /// The greatest number of rows that a client gets for the time without a connection.
    private static let resumedLimit = 200

    /// Returns the answer, which ends with the client's connection or with the console.
    static func answer(_ request: HTTPRequest, _ feed: DecisionFeed) throws(ConsoleProblem) -> HTTPResponse {
        let query = try RequestQuery(
            request, names: FeedQuery.names + ["after"], repeated: FeedQuery.repeatedNames)
        let filter = try FeedQuery.filter(query, kind: "decision", feed.mask)
        guard filter.from == nil, filter.to == nil else {
            throw RequestQuery.problem("from", "does not apply to new records", "leave `from` and `to` out")
        }
        let after = try query.text("after", maxBytes: LiveEvents.idLimit)
        let last = request.headers["Last-Event-ID"] ?? after
        let offsets = try last.map { text throws(ConsoleProblem) in
            guard let offsets = LiveEvents.offsets(text) else {
                throw RequestQuery.problem("after", "is not the id of an event", "pass the id of the last event")
            }
            return offsets
        }
        let stream = HTTPStream(maxBytes: LiveClients.queueBytes)
        let start = feed.read { state -> Start? in
            guard let number = state.live.add(stream, filter) else { return nil }
            let missed = offsets.map { state.index.rows(filter, from: $0, count: resumedLimit) }
            return Start(number: number, missed: missed, site: (state.topics, state.epoch), next: state.next)
        }
        guard let start else {
            throw ConsoleProblem(
                status: 503, code: "streams", message: "\(LiveClients.limit) pages already show new decisions",
                next: "close another page, or use /api/decisions")
        }
        stream.send(Array("retry: 2000\n\n".utf8))
        let missed = start.missed
        let id = LiveEvents.id(start.next)
        if let missed, missed.total > 0 {
            let rows = feed.rows(missed.rows, start.site)
            let text = LiveEvents.rows(rows.map(\.json), dropped: missed.total - rows.count)
            stream.send(LiveEvents.event("rows", id: id, text))
        } else {
            stream.send(LiveEvents.event("rows", id: id, LiveEvents.rows([], dropped: 0)))
        }
        feed.state.withLock { $0.live.begin(start.number) }
        return HTTPResponse(contentType: "text/event-stream", body: .stream(stream))
    }

    /// The state at the time when a client was added.
    private struct Start {
        let number: Int
        let missed: (rows: [DecisionIndex.Row], total: Int)?
        let site: (topics: FeedTopics, epoch: Int)
        let next: [RowSource: Int64]
    }
}

/// The texts of server-sent events of rows.
enum LiveEvents {
    /// The limit of the text of an event's id, in bytes, which a browser sends back in a header.
    static let idLimit = 4096

    /// Returns the text of a vector of offsets, such as `0.3:1200,1.0:7`, or nothing if it is too long.
    static func id(_ next: [RowSource: Int64]) -> String {
        var text = ""
        for (source, offset) in next {
            if !text.isEmpty { text += "," }
            text += "\(source.topic).\(source.partition):\(offset)"
            if text.utf8.count > idLimit { return "" }
        }
        return text
    }

    /// Reads a vector of offsets, or returns nil if the text is none.
    static func offsets(_ text: String) -> [RowSource: Int64]? {
        guard text.utf8.count <= idLimit + 64 else { return nil }
        var result: [RowSource: Int64] = [:]
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let pair = part.split(separator: ":", omittingEmptySubsequences: false)
            let place = pair[0].split(separator: ".", omittingEmptySubsequences: false)
            guard pair.count == 2, place.count == 2, let topic = Int(place[0]), let partition = Int32(place[1]),
                let source = RowSource(topic: topic, partition: partition), let offset = Int64(pair[1]), offset >= 0,
                result.updateValue(offset, forKey: source) == nil
            else { return nil }
        }
        return result
    }

    /// Returns the bytes of a server-sent event.
    static func event(_ name: String, id: String = "", _ data: String) -> [UInt8] {
        // JSON texts have no line feeds, which would end the data.
        Array("event: \(name)\n\(id.isEmpty ? "" : "id: \(id)\n")data: \(data)\n\n".utf8)
    }

    /// Returns the JSON text of rows.
    static func rows(_ rows: some Sequence<[UInt8]>, dropped: Int) -> String {
        var json = JSONText()
        json.beginObject()
        json.beginArray("rows")
        for row in rows { json.raw(nil, row) }
        json.endArray()
        json.number("dropped", Int64(dropped))
        json.endObject()
        return json.finish()
    }
}

/// The clients that see rows as they arrive, and the rows that they have not seen.
struct LiveClients {
    /// The limit of clients.
    static let limit = 16
    /// The limit of rows in a message, which is sent ten times a second.
    ///
    /// It is above an average of 1,000 rows a second, because records arrive in batches.
    private static let messageRows = 250
    /// The size of the queue of each client, in bytes.
    static let queueBytes = 512 << 10

    private var clients: [Int: LiveClient] = [:]
    private var lastNumber = 0
    private var seen = 0
    private var rateTime: Int64 = 0

    /// The number of clients.
    var count: Int { clients.count }

    /// Adds a client, or returns nil if there are too many.
    mutating func add(_ stream: HTTPStream, _ filter: RowFilter) -> Int? {
        clients = clients.filter { !$0.value.stream.isClosed }
        guard clients.count < Self.limit else { return nil }
        lastNumber += 1
        clients[lastNumber] = LiveClient(stream, filter)
        return lastNumber
    }

    /// Lets a client receive the rows since it was added.
    mutating func begin(_ number: Int) { clients[number]?.isReady = true }

    /// Returns a Boolean value that indicates whether a client wants a row.
    mutating func isWanted(_ facts: RowFacts, _ hash: KeyedHash) -> Bool {
        seen += 1
        return clients.values.contains { $0.filter.includes(facts, hash) }
    }

    /// Adds a row for the clients whose filter includes it.
    mutating func add(_ row: FeedRow, _ facts: RowFacts, _ hash: KeyedHash) {
        for number in Array(clients.keys) {
            guard let filter = clients[number]?.filter, filter.includes(facts, hash) else { continue }
            clients[number]?.add(row.json)
        }
    }

    /// Sends the rows that wait and, once a second, the rate.
    ///
    /// - Parameters:
    ///   - status: The state of the reader.
    ///   - next: The offsets of the next records, which are the id of the event.
    ///   - total: The number of rows in the index.
    ///   - now: The time in milliseconds since 1970.
    mutating func send(_ status: FeedStatus, _ next: [RowSource: Int64], total: Int, now: Int64) {
        let isRateDue = now - rateTime >= 1000 || now < rateTime
        let seconds = Double(max(1, now - rateTime)) / 1000
        let id = clients.isEmpty ? "" : LiveEvents.id(next)
        for number in Array(clients.keys) {
            guard clients[number]?.stream.isClosed == false else {
                clients[number] = nil
                continue
            }
            clients[number]?.sendRows(id, limit: Self.messageRows)
            if isRateDue { clients[number]?.sendRate(status, seen: seen, total: total, seconds: seconds, now: now) }
        }
        guard isRateDue else { return }
        rateTime = now
        seen = 0
    }

    /// Ends all streams.
    mutating func endAll() {
        for client in clients.values { client.stream.finish() }
        clients = [:]
    }
}

/// A client that sees rows as they arrive.
struct LiveClient {
    /// The limit of rows that wait to be sent.
    private static let waitingLimit = 1000
    /// The limit of bytes of the rows that wait to be sent.
    private static let waitingBytes = 1 << 20

    /// The connection.
    let stream: HTTPStream
    /// The choice of rows.
    let filter: RowFilter
    /// The JSON texts of rows that were not sent.
    private var waiting: [[UInt8]] = []
    private var waitingBytes = 0
    /// The rows that matched and were not sent, since the last message.
    private var dropped = 0
    /// The rows that matched since the last rate.
    private var matched = 0
    /// The rows of the last second.
    private var sent = 0
    /// A Boolean value that indicates whether the rows since the client's last connection were sent.
    var isReady = false

    /// Creates a client, which receives nothing before `isReady` is true.
    init(_ stream: HTTPStream, _ filter: RowFilter) {
        self.stream = stream
        self.filter = filter
    }

    /// Adds a row, or counts it if too many wait.
    mutating func add(_ json: [UInt8]) {
        matched += 1
        guard waiting.count < Self.waitingLimit, waitingBytes + json.count <= Self.waitingBytes else {
            dropped += 1
            return
        }
        waiting.append(json)
        waitingBytes += json.count
    }

    /// Sends the rows that wait.
    ///
    /// Rows that a slow client cannot take are dropped and counted.
    mutating func sendRows(_ id: String, limit: Int) {
        guard isReady, !waiting.isEmpty || dropped > 0 else { return }
        // The newest rows are sent, so that a client that is late sees what is new.
        let rows = waiting.suffix(limit)
        let count = dropped + waiting.count - rows.count
        waiting = Array(rows)
        switch stream.send(LiveEvents.event("rows", id: id, LiveEvents.rows(rows, dropped: count))) {
        case .queued:
            sent += rows.count
            dropped = 0
        case .full, .closed: dropped = count + rows.count
        }
        waiting = []
        waitingBytes = 0
    }

    /// Sends the rate of the last second and the state of the reader.
    mutating func sendRate(
        _ status: FeedStatus, seen: Int, total: Int, seconds: Double, now: Int64
    ) {
        var json = JSONText()
        json.beginObject()
        json.number("time", now)
        json.decimal("seen", Double(seen) / seconds)
        json.decimal("matched", Double(matched) / seconds)
        json.number("sent", Int64(sent))
        json.number("total", Int64(total))
        json.beginObject("state")
        status.write(&json)
        json.endObject()
        json.endObject()
        stream.send(LiveEvents.event("rate", json.finish()))
        matched = 0
        sent = 0
    }
}
