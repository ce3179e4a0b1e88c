internal import ByteStorage

/// The route table that an app uses now, which can be replaced while others resolve.
///
/// A request takes ``table`` once and uses it to its end, so that no request sees two tables. A table that was replaced
/// lives as long as somebody still uses it.
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

    /// The table at this moment.
    public var table: RouteTable { state.withLock { $0.table } }

    /// Replaces the table.
    ///
    /// - Parameter table: The table for all requests from now on.
    /// - Returns: The table that was replaced.
    @discardableResult
    public func replace(with table: RouteTable) -> RouteTable {
        state.withLock { state in
            let last = state.table
            state.table = table
            // Inside the lock, so that every listener sees the tables in the order in which they were replaced.
            for listener in state.listeners.values { listener.yield(table) }
            return last
        }
    }

    /// The current table, then each that replaces it.
    ///
    /// Each access creates a stream of its own. A stream that is not read fast enough keeps the newest table only. It
    /// ends when the store is released.
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
