internal import CRdKafka

extension KafkaErrorCode {
    /// Takes librdkafka's enumeration.
    init(_ native: rd_kafka_resp_err_t) { self.init(native.rawValue) }

    /// As librdkafka's enumeration.
    var native: rd_kafka_resp_err_t { rd_kafka_resp_err_t(rawValue: rawValue) }
}

extension KafkaError {
    /// Copies everything out of an error object and destroys it; nil in, nil out.
    static func taking(_ native: OpaquePointer?) -> KafkaError? {
        guard let native else { return nil }
        let error = KafkaError(
            code: KafkaErrorCode(rd_kafka_error_code(native)), text: String(cString: rd_kafka_error_string(native)),
            isFatal: rd_kafka_error_is_fatal(native) != 0, isRetriable: rd_kafka_error_is_retriable(native) != 0,
            isAbortable: rd_kafka_error_txn_requires_abort(native) != 0)
        rd_kafka_error_destroy(native)
        return error
    }

    /// Throws what an error object says; nil is no error.
    static func check(_ native: OpaquePointer?) throws(KafkaError) {
        if let error = taking(native) { throw error }
    }

    /// Throws a bare code, unless it is none.
    static func check(_ native: rd_kafka_resp_err_t) throws(KafkaError) {
        if let error = KafkaError(native) { throw error }
    }

    /// Takes a bare code, which has no flags; nil for none.
    init?(_ native: rd_kafka_resp_err_t, text: UnsafePointer<CChar>? = nil) {
        if native == RD_KAFKA_RESP_ERR_NO_ERROR { return nil }
        self.init(code: KafkaErrorCode(native), text: text.map { String(cString: $0) })
    }
}
