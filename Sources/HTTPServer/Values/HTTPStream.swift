internal import Synchronization

/// The body of a response that is sent as it becomes available, such as server-sent events.
///
/// It is a bounded queue between a producer on any thread and the server's thread. A slow reader fills the queue, and
/// then ``send(_:)`` returns ``SendResult/full`` without waiting. The producer decides what to omit.
package final class HTTPStream: Sendable {
    /// The result of an attempt to send bytes.
    package enum SendResult: Sendable {
        /// The bytes are in the queue.
        case queued
        /// The queue has no room, and nothing was added.
        case full
        /// The client has closed the connection, or the stream has ended.
        case closed
    }

    private struct State {
        var queue: [UInt8] = []
        /// The number of bytes at the start of `queue` that were sent.
        var sent = 0
        var isFinished = false
        var isClosed = false
        /// A Boolean value that indicates whether the server waits for bytes.
        var isAwaited = false
        /// A Boolean value that indicates whether `produce` is scheduled or running.
        var isProducing = false
        /// A Boolean value that indicates whether bytes were added since `produce` was scheduled.
        var isFilled = false
        /// A Boolean value that indicates whether the stream belongs to a response.
        var hasBegun = false
        /// A function that wakes the server, while it sends the stream.
        var wake: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())
    private let maxBytes: Int
    /// The function that fills the queue, or nil.
    private let produce: (@Sendable (HTTPStream) -> Void)?

    /// Creates a stream.
    ///
    /// - Parameters:
    ///   - maxBytes: The maximum size of the queue in bytes. A larger part is never accepted.
    ///   - produce: A function that adds bytes or finishes the stream. The server calls it on one of the threads of
    ///     handlers when the response begins, and again when at most half of the queue is filled. It suits downloads:
    ///     a slow reader holds no thread, because the function is not called while the queue is full. If it adds
    ///     nothing and does not finish the stream, it is not called again until other bytes are sent.
    package init(maxBytes: Int = 65_536, produce: (@Sendable (HTTPStream) -> Void)? = nil) {
        self.maxBytes = max(1, maxBytes)
        self.produce = produce
    }

    /// Adds bytes to the queue, all or none, without waiting.
    @discardableResult
    package func send(_ bytes: some Collection<UInt8>) -> SendResult {
        let (result, wake) = state.withLock { state -> (SendResult, (@Sendable () -> Void)?) in
            if state.isClosed || state.isFinished { return (.closed, nil) }
            if bytes.count > maxBytes - (state.queue.count - state.sent) { return (.full, nil) }
            if state.sent > 0 {
                state.queue.removeFirst(state.sent)
                state.sent = 0
            }
            state.queue.append(contentsOf: bytes)
            state.isFilled = true
            return (.queued, Self.takeWake(&state))
        }
        wake?()
        return result
    }

    /// Ends the stream after the bytes in the queue.
    package func finish() {
        let wake = state.withLock { state in
            state.isFinished = true
            return Self.takeWake(&state)
        }
        wake?()
    }

    /// A Boolean value that indicates whether the client has closed the connection or the server has stopped.
    package var isClosed: Bool { state.withLock { $0.isClosed } }

    private static func takeWake(_ state: inout State) -> (@Sendable () -> Void)? {
        guard state.isAwaited else { return nil }
        state.isAwaited = false
        return state.wake
    }
}

/// The functions of a stream that the server's thread calls.
extension HTTPStream {
    /// The bytes that the server can send next.
    enum Next: Equatable {
        /// The number of bytes that were copied.
        case copied(Int)
        /// No bytes are available, and the server is woken when there are.
        case wait
        /// All bytes were sent.
        case end
    }

    /// Begins to send the stream, with a function that wakes the server.
    ///
    /// Returns false if the stream already belongs to another response.
    func begin(_ wake: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            guard !state.hasBegun else { return false }
            state.hasBegun = true
            state.wake = wake
            return true
        }
    }

    /// Moves bytes from the queue to a buffer.
    func next(into buffer: UnsafeMutableRawBufferPointer) -> Next {
        state.withLock { state in
            let count = min(buffer.count, state.queue.count - state.sent)
            if count > 0 {
                buffer.copyBytes(from: state.queue[state.sent..<state.sent + count])
                state.sent += count
                if state.sent == state.queue.count {
                    state.queue.removeAll(keepingCapacity: state.queue.capacity <= 2 * maxBytes)
                    state.sent = 0
                }
                return .copied(count)
            }
            if state.isFinished { return .end }
            state.isAwaited = true
            return .wait
        }
    }

    /// Returns the work that fills the queue if there is room, once until the work has run.
    func productionIfNeeded() -> (@Sendable () -> Void)? {
        guard let produce else { return nil }
        let isNeeded = state.withLock { state in
            guard !state.isProducing, !state.isClosed, !state.isFinished,
                state.queue.count - state.sent <= maxBytes / 2
            else { return false }
            state.isProducing = true
            state.isFilled = false
            return true
        }
        guard isNeeded else { return nil }
        return { [self] in
            produce(self)
            // The server may have sent everything in the meantime without a call of this function.
            let wake = state.withLock { state in
                state.isProducing = false
                return state.isFilled ? state.wake : nil
            }
            wake?()
        }
    }

    /// Discards the queue, because the connection is closed.
    func close() {
        state.withLock { state in
            state.isClosed = true
            state.queue = []
            state.sent = 0
            state.wake = nil
        }
    }
}
