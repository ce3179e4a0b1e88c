internal import ByteStorage
internal import CLibrary
internal import CRdKafka

extension KafkaError {
    /// Copies an error object and destroys it.
    ///
    /// Returns nil for nil.
    static func adopting(_ native: OpaquePointer?) -> KafkaError? {
        guard let native else { return nil }
        let error = KafkaError(
            code: KafkaErrorCode(rd_kafka_error_code(native)), text: String(cString: rd_kafka_error_string(native)),
            isFatal: rd_kafka_error_is_fatal(native) != 0, isRetriable: rd_kafka_error_is_retriable(native) != 0,
            isAbortable: rd_kafka_error_txn_requires_abort(native) != 0)
        rd_kafka_error_destroy(native)
        return error
    }

    /// Throws the error of an error object.
    ///
    /// Nil is not an error.
    static func check(_ native: OpaquePointer?) throws(KafkaError) {
        if let error = adopting(native) { throw error }
    }

    /// Throws an error code, except for the code of no error.
    static func check(_ native: rd_kafka_resp_err_t) throws(KafkaError) {
        if let error = KafkaError(native) { throw error }
    }

    /// Creates an error from a code, which has no flags.
    ///
    /// Returns nil for the code of no error.
    init?(_ native: rd_kafka_resp_err_t, text: UnsafePointer<CChar>? = nil) {
        if native == RD_KAFKA_RESP_ERR_NO_ERROR { return nil }
        self.init(code: KafkaErrorCode(native), text: text.map { String(cString: $0) })
    }
}

extension KafkaErrorCode {
    /// Creates a code from librdkafka's enumeration.
    init(_ native: rd_kafka_resp_err_t) { self.init(native.rawValue) }

    /// The code in librdkafka's enumeration.
    var native: rd_kafka_resp_err_t { rd_kafka_resp_err_t(rawValue: rawValue) }
}

extension ByteView {
    /// Creates a view of a C string without its terminating zero.
    init(cString: UnsafePointer<CChar>) {
        self.init(UnsafeRawBufferPointer(start: cString, count: strlen(cString)))
    }

    /// Creates a view of a C field with a length.
    ///
    /// Nil stays nil, which is different from an empty field.
    @inline(__always)
    init?(pointer: UnsafeMutableRawPointer?, count: Int) {
        guard let pointer else { return nil }
        self.init(start: UnsafeRawPointer(pointer).assumingMemoryBound(to: UInt8.self), count: count)
    }
}
