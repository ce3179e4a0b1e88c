internal import CRdKafka

/// A counter of delivery reports.
///
/// It has its own memory, so that the C callback can access it through an opaque pointer.
struct DeliveryCounter {
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
        // The code's own message, because rd_kafka_message_errstr of a produced message may return its payload.
        let error = KafkaError(code: code)
        counts.lastError = error
        if code.isRecordLevel { counts.lastRecordError = error }
    }

    /// Resets the errors but not the counts.
    mutating func forgetErrors() {
        counts.failures.removeAll(keepingCapacity: true)
        counts.lastRecordError = nil
        counts.lastError = nil
    }
}
