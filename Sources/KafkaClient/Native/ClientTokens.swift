internal import CRdKafka
internal import Synchronization

// The passing of tokens to clients of librdkafka.
extension TokenSource {
    /// Passes a token to a new client, and later ones until `detach`.
    ///
    /// The first client waits for the token.
    func attach(_ client: OpaquePointer) {
        if state.withLock({ $0.token == nil }) { renew() }
        state.withLock { state in
            state.clients.insert(UInt(bitPattern: client))
            state.send(to: client)
        }
    }

    /// Forgets a client, which can then be destroyed.
    func detach(_ client: OpaquePointer) {
        state.withLock { _ = $0.clients.remove(UInt(bitPattern: client)) }
    }
}

extension TokenSource.State {
    /// Passes the token, or the reason why there is none, to all clients.
    ///
    /// The lock of the state is held, so that no client is destroyed meanwhile.
    func sendToAll() {
        for address in clients { OpaquePointer(bitPattern: address).map(send) }
    }

    /// Passes the token, or the reason why there is none, to a client.
    ///
    /// A failure becomes an error event of the client.
    func send(to client: OpaquePointer) {
        guard let token else {
            rd_kafka_oauthbearer_set_token_failure(client, failure?.text ?? "no token")
            return
        }
        var message = [CChar](repeating: 0, count: 512)
        let code = rd_kafka_oauthbearer_set_token(
            client, token.value, token.expiresAt, token.principal, nil, 0, &message, message.count)
        if code != RD_KAFKA_RESP_ERR_NO_ERROR { rd_kafka_oauthbearer_set_token_failure(client, message) }
    }
}
