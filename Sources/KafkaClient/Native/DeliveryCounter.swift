internal import CRdKafka

/// A counter of delivery reports.
///
/// It has its own memory, so that the C callback can access it through an opaque pointer.
struct DeliveryCounter {
    /// The maximum number of records in `undelivered`, which is twice the greatest queue of a command.
    static let undeliveredLimit = 1_000_000

    private(set) var counts = DeliveryCounts()
    /// The numbered records that were not delivered, up to the limit.
    private(set) var undelivered: [UndeliveredRecord] = []
    /// The greatest number of a delivered record, or 0.
    private(set) var lastDelivered: UInt = 0

    /// Counts one report.
    @inline(__always)
    mutating func count(_ message: UnsafePointer<rd_kafka_message_t>) {
        if message.pointee.err == RD_KAFKA_RESP_ERR_NO_ERROR {
            counts.delivered &+= 1
            lastDelivered = max(lastDelivered, UInt(bitPattern: message.pointee._private))
        } else {
            let code = KafkaErrorCode(message.pointee.err)
            if message.pointee._private != nil { note(message, code) }
            countFailure(code)
        }
    }

    @inline(never)
    private mutating func note(_ message: UnsafePointer<rd_kafka_message_t>, _ code: KafkaErrorCode) {
        guard undelivered.count < Self.undeliveredLimit else { return }
        undelivered.append(
            UndeliveredRecord(
                number: UInt(bitPattern: message.pointee._private), code: code,
                mayBeStored: rd_kafka_message_status(message) != RD_KAFKA_MSG_STATUS_NOT_PERSISTED))
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
