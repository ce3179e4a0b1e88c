internal import CMicroHTTPD
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The messages of other threads to the server's thread, with a pipe that wakes it.
final class Mailbox: Sendable {
    /// The messages since the last time the server's thread read them.
    struct Messages {
        /// The responses of handlers, with the number of the connection and of its request.
        var responses: [(connection: UInt64, request: UInt64, response: HTTPResponse)] = []
        /// The numbers of connections whose streams have new bytes or an end.
        var streams: Set<UInt64> = []
        /// A Boolean value that indicates whether the server stops.
        var isStopping = false
        /// A Boolean value that indicates whether nobody reads messages any more.
        fileprivate var hasEnded = false
        /// A Boolean value that indicates whether a byte is in the pipe.
        fileprivate var isSignaled = false
    }

    private let messages = Mutex(Messages())
    /// The end of the pipe that the server's thread waits on.
    let readEnd: Int32
    private let writeEnd: Int32

    /// Creates a mailbox, or returns nil if the process has no free file descriptors.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        (readEnd, writeEnd) = (ends[0], ends[1])
        linkd_http_configure(readEnd)
        linkd_http_configure(writeEnd)
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    /// Adds the response of a handler, or discards it if the server has ended.
    func post(_ response: HTTPResponse, connection: UInt64, request: UInt64) {
        post { messages in
            if messages.hasEnded { return response.discard() }
            messages.responses.append((connection, request, response))
        }
    }

    /// Discards the responses of handlers from now on.
    func end() {
        messages.withLock { messages in
            messages.hasEnded = true
            for (_, _, response) in messages.responses { response.discard() }
            messages.responses = []
        }
    }

    /// Adds a message and wakes the server's thread.
    func post(_ change: (inout Messages) -> Void) {
        messages.withLock { messages in
            change(&messages)
            guard !messages.isSignaled else { return }
            messages.isSignaled = true
            var byte: UInt8 = 0
            _ = write(writeEnd, &byte, 1)
        }
    }

    /// Removes and returns all messages.
    func take() -> Messages {
        messages.withLock { messages in
            var byte: UInt8 = 0
            if messages.isSignaled { _ = read(readEnd, &byte, 1) }
            let taken = messages
            messages = Messages()
            messages.isStopping = taken.isStopping
            return taken
        }
    }
}
