internal import Synchronization

/// A token of the SASL mechanism OAUTHBEARER.
package struct ClientToken: Sendable, Equatable {
    /// The token, which is a secret.
    package var value: String
    /// The principal that clients report to librdkafka.
    ///
    /// The brokers take theirs from the token.
    package var principal: String
    /// The end of its validity, in milliseconds since 1970.
    package var expiresAt: Int64
    /// The time after which a new token is fetched, in milliseconds.
    package var renewAfter: Int64

    /// Creates a token.
    package init(value: String, principal: String, expiresAt: Int64, renewAfter: Int64) {
        self.value = value
        self.principal = principal
        self.expiresAt = expiresAt
        self.renewAfter = renewAfter
    }
}

/// The reason why there is no token, which never contains one.
package struct TokenFailure: Error, Sendable, Equatable {
    /// A description of the failure.
    package var text: String

    /// Creates a failure.
    package init(_ text: String) { self.text = text }
}

/// The source of the tokens of all clients with the same settings.
///
/// A client gets a token when it is created. The owner of the source calls `renew` regularly, and open clients then get
/// the new token.
package final class TokenSource: Sendable, Equatable {
    /// The last result, and the open clients.
    struct State {
        var token: ClientToken?
        var failure: TokenFailure?
        /// The time of the next fetch by the monotonic clock, in milliseconds.
        var renewAt: Int64 = 0
        /// The functions that pass a token, or the reason why there is none, to a client, by the address of the client.
        var clients: [UInt: @Sendable (Result<ClientToken, TokenFailure>) -> Void] = [:]

        /// The token, or the reason why there is none.
        var result: Result<ClientToken, TokenFailure> {
            token.map { .success($0) } ?? .failure(failure ?? TokenFailure("no token"))
        }
    }

    /// The pause after a failure, in milliseconds.
    fileprivate static let retryMilliseconds: Int64 = 10_000
    /// The shortest time between two fetches, in milliseconds.
    fileprivate static let minimumMilliseconds: Int64 = 1_000

    let state = Mutex(State())
    /// The lock of a fetch, so that clients that start together wait for one token.
    private let fetching = Mutex(())
    private let now: @Sendable () -> Int64
    private let elapsed: @Sendable () -> Int64
    private let fetch: @Sendable () throws(TokenFailure) -> ClientToken
    private let report: @Sendable (Result<ClientToken, TokenFailure>) -> Void

    /// Creates a source.
    ///
    /// - Parameters:
    ///   - now: Returns the time in milliseconds since 1970, which an expiry is compared with.
    ///   - elapsed: Returns the time of the monotonic clock in milliseconds, so that a change of the time of day delays
    ///     no renewal.
    ///   - fetch: Returns a new token.
    ///   - report: Receives each new token and each failure.
    package init(
        now: @escaping @Sendable () -> Int64,
        elapsed: @escaping @Sendable () -> Int64,
        fetch: @escaping @Sendable () throws(TokenFailure) -> ClientToken,
        report: @escaping @Sendable (Result<ClientToken, TokenFailure>) -> Void = { _ in }
    ) {
        self.now = now
        self.elapsed = elapsed
        self.fetch = fetch
        self.report = report
    }

    /// Returns a Boolean value that indicates whether two sources are the same object.
    package static func == (left: TokenSource, right: TokenSource) -> Bool { left === right }

    /// Fetches a new token if it is time, and passes it to all open clients.
    ///
    /// - Parameter isChanged: A Boolean value that indicates whether the token is fetched even if it is not yet time.
    package func renew(isChanged: Bool = false) {
        fetching.withLock { _ in
            let begun = elapsed()
            guard isChanged || state.withLock({ begun >= $0.renewAt }) else { return }
            let result = Result { () throws(TokenFailure) in try fetch() }
            let isNew = state.withLock { $0.accept(result, now: now(), elapsed: begun) }
            if isNew { report(result) }
        }
    }

    /// A Boolean value that indicates whether any client uses this source.
    package var isUsed: Bool { state.withLock { !$0.clients.isEmpty } }
}

extension TokenSource.State {
    /// Passes the token, or the reason why there is none, to all clients.
    ///
    /// The lock of the state is held, so that no client is destroyed meanwhile.
    private func sendToAll() {
        for send in clients.values { send(result) }
    }

    /// Stores a result, and passes it to all clients.
    ///
    /// Returns a Boolean value that indicates whether it is a failure or another token. The last token is used until it
    /// expires.
    mutating func accept(_ result: Result<ClientToken, TokenFailure>, now: Int64, elapsed: Int64) -> Bool {
        switch result {
        case .success(let new):
            let isNew = new.value != token?.value
            token = new
            failure = nil
            renewAt = elapsed + max(TokenSource.minimumMilliseconds, new.renewAfter)
            if isNew { sendToAll() }
            return isNew
        case .failure(let new):
            failure = new
            renewAt = elapsed + TokenSource.retryMilliseconds
            if let token, token.expiresAt > now { return true }
            token = nil
            sendToAll()
            return true
        }
    }
}
