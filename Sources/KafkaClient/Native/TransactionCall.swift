internal import CRdKafka

extension KafkaProducer {
    /// Ends a transaction call: copies its error, serves delivery reports and log lines, and throws the error.
    func finishTransactionCall(_ native: OpaquePointer?) throws(KafkaError) {
        let error = KafkaError.adopting(native)
        serve(timeoutMilliseconds: 0)
        if let error { throw error }
    }
}
