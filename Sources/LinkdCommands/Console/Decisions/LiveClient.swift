internal import DecisionIndex
internal import HTTPServer
internal import StrictJSON

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
    /// Those that a slow client cannot take are dropped and counted.
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
