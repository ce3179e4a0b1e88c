internal import DecisionIndex
internal import HTTPServer

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
