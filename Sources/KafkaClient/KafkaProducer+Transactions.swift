internal import CRdKafka

// The transaction calls. Each one drains the log afterwards, so `debugLog` is up to date when it returns or throws.
//
// Timeouts are milliseconds; -1 is twice `transaction.timeout.ms` for `initTransactions` and what is left of the
// transaction's time for the others.
extension KafkaProducer {
    /// Takes the transactional id: ends a predecessor's transaction and gets a new epoch, which fences it.
    ///
    /// `.timedOut` and other retriable errors may be repeated; the call goes on where it stood.
    package func initTransactions(timeoutMilliseconds: Int32) throws(KafkaError) {
        try ended(handle.call(.initTransactions) { rd_kafka_init_transactions($0, timeoutMilliseconds) })
    }

    /// Opens a transaction; nothing is sent for it yet.
    package func beginTransaction() throws(KafkaError) {
        try ended(handle.call(.beginTransaction) { rd_kafka_begin_transaction($0) })
    }

    /// Puts the group's new offsets into the transaction: offsets of the *next* records.
    ///
    /// An error that is retriable asks for the same call with the same arguments. Never commit a transaction for which
    /// this did not succeed. An empty list succeeds without any check of the generation.
    package func sendOffsets(
        _ offsets: [PartitionOffset], _ group: borrowing GroupMetadata, timeoutMilliseconds: Int32
    ) throws(KafkaError) {
        let list = PartitionList(offsets)
        let place = group.pointer
        try ended(
            handle.call(.sendOffsets) { client in
                rd_kafka_send_offsets_to_transaction(client, list.pointer, place, timeoutMilliseconds)
            })
    }

    /// Flushes and commits.
    ///
    /// Retriable asks for the same call again and allows nothing else meanwhile.
    package func commitTransaction(timeoutMilliseconds: Int32) throws(KafkaError) {
        try ended(handle.call(.commitTransaction) { rd_kafka_commit_transaction($0, timeoutMilliseconds) })
    }

    /// Purges what is queued (reported as purged, not as failed) and aborts.
    ///
    /// After a record that a broker refused (too large, invalid) librdkafka 2.0.2 goes on with that record's sequence
    /// number: the next transaction of this instance fails with an abortable OUT_OF_ORDER_SEQUENCE_NUMBER, the one
    /// after it is right again. A new producer spares that.
    package func abortTransaction(timeoutMilliseconds: Int32) throws(KafkaError) {
        try ended(handle.call(.abortTransaction) { rd_kafka_abort_transaction($0, timeoutMilliseconds) })
    }
}
