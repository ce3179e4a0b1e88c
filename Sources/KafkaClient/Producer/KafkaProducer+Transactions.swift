internal import CRdKafka

// The transaction calls. Each one drains the log at its end, so `debugLog` is up to date when it returns or throws.
//
// Timeouts are in milliseconds. -1 means twice `transaction.timeout.ms` for `initTransactions` and the remaining time
// of the transaction for the others.
extension KafkaProducer {
    /// Initializes transactions: ends the open transaction of a predecessor and gets a new epoch, which fences the
    /// predecessor.
    ///
    /// `.timedOut` and other retriable errors can be repeated. The call continues where it stopped.
    package func initTransactions(timeoutMilliseconds: Int32) throws(KafkaError) {
        try finishTransactionCall(
            handle.call(.initTransactions) { rd_kafka_init_transactions($0, timeoutMilliseconds) })
    }

    /// Opens a transaction.
    ///
    /// No request is sent.
    package func beginTransaction() throws(KafkaError) {
        try finishTransactionCall(handle.call(.beginTransaction) { rd_kafka_begin_transaction($0) })
    }

    /// Adds the group's new offsets to the transaction.
    ///
    /// They are the offsets of the *next* records.
    ///
    /// After a retriable error, repeat the call with the same arguments. Never commit a transaction for which this call
    /// did not succeed. An empty list succeeds without checking the generation.
    package func sendOffsets(
        _ offsets: [PartitionOffset], _ group: borrowing GroupMetadata, timeoutMilliseconds: Int32
    ) throws(KafkaError) {
        let list = PartitionList(offsets)
        let metadata = group.pointer
        try finishTransactionCall(
            handle.call(.sendOffsets) { client in
                rd_kafka_send_offsets_to_transaction(client, list.pointer, metadata, timeoutMilliseconds)
            })
    }

    /// Flushes and commits.
    ///
    /// After a retriable error, repeat the call. No other call is allowed before it succeeds.
    package func commitTransaction(timeoutMilliseconds: Int32) throws(KafkaError) {
        try finishTransactionCall(
            handle.call(.commitTransaction) { rd_kafka_commit_transaction($0, timeoutMilliseconds) })
    }

    /// Purges queued records, which are reported as purged, and aborts.
    ///
    /// After a broker has rejected a record (too large, invalid), librdkafka 2.0.2 continues with that record's
    /// sequence number. The next transaction of this instance fails with an abortable OUT_OF_ORDER_SEQUENCE_NUMBER, and
    /// the one after it succeeds. A new producer avoids this.
    package func abortTransaction(timeoutMilliseconds: Int32) throws(KafkaError) {
        try finishTransactionCall(
            handle.call(.abortTransaction) { rd_kafka_abort_transaction($0, timeoutMilliseconds) })
    }
}
