internal import ByteStorage

/// A store for an app's current route table, which can be replaced while other tasks resolve requests.
///
/// Read ``table`` once for each request, so that the request uses one table throughout. A table that was replaced stays
/// valid for the requests that still use it.
///
/// ```swift
/// let store = RouteTableStore(try RouteTable(json: bundled))
/// let decision = store.table.resolve(link)
/// store.replace(with: try RouteTable(json: downloaded))
/// ```
public final class RouteTableStore: Sendable {
    private struct State: Sendable {
        var table: RouteTable
        var listeners: [Int: AsyncStream<RouteTable>.Continuation] = [:]
        var nextListener = 0
    }

    private let state: Lock<State>

    /// Creates a store with its first table.
    public init(_ table: RouteTable) { state = Lock(State(table: table)) }

    deinit {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.finish() }
    }

    /// The current table.
    public var table: RouteTable { state.withLock { $0.table } }

    /// Replaces the table.
    ///
    /// - Parameter table: The table for later requests.
    /// - Returns: The table that was replaced.
    @discardableResult
    public func replace(with table: RouteTable) -> RouteTable {
        state.withLock { state in
            let last = state.table
            state.table = table
            // The listeners are notified inside the lock, so that each receives the tables in the order of replacement.
            for listener in state.listeners.values { listener.yield(table) }
            return last
        }
    }

    /// A stream of the current table, followed by each table that replaces it.
    ///
    /// Each access creates a new stream. A stream that is not read fast enough keeps only the newest table. It ends
    /// when the store is deallocated.
    public var tables: AsyncStream<RouteTable> {
        let (stream, continuation) = AsyncStream.makeStream(of: RouteTable.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            let number = state.nextListener
            state.nextListener += 1
            state.listeners[number] = continuation
            continuation.yield(state.table)
            return number
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.listeners.removeValue(forKey: number) }
        }
        return stream
    }
}
