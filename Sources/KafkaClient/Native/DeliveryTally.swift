internal import CRdKafka

/// Counts delivery reports.
///
/// Lives in memory of its own, so that the C callback reaches it by its opaque pointer.
struct DeliveryTally {
    private(set) var counts = DeliveryCounts()

    /// Counts one report.
    @inline(__always)
    mutating func count(_ message: UnsafePointer<rd_kafka_message_t>) {
        if message.pointee.err == RD_KAFKA_RESP_ERR_NO_ERROR {
            counts.delivered &+= 1
        } else {
            countFailure(KafkaErrorCode(message.pointee.err))
        }
    }

    @inline(never)
    private mutating func countFailure(_ code: KafkaErrorCode) {
        if code.isPurge {
            counts.purged += 1
            return
        }
        counts.failed += 1
        counts.failures[code, default: 0] += 1
        if counts.lastError?.code == code && !code.isRecordLevel { return }
        // The code's own sentence: rd_kafka_message_errstr of a produced message may return its payload.
        let error = KafkaError(code: code)
        counts.lastError = error
        if code.isRecordLevel { counts.lastRecordError = error }
    }

    /// Forgets the errors; the counts of reports go on.
    mutating func forgetErrors() {
        counts.failures.removeAll(keepingCapacity: true)
        counts.lastRecordError = nil
        counts.lastError = nil
    }
}
