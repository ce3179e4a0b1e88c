internal import CRdKafka
internal import ByteStorage

/// The events of a client instance that the application has not taken yet.
///
/// The list is bounded. Further events are dropped.
struct ClientInbox {
    /// The maximum number of waiting events.
    private static let capacity = 1000
    /// The maximum size of a statistics document in bytes.
    ///
    /// A larger one is dropped. Documents have about 600 bytes per partition.
    private static let statisticsLimit = 4 << 20
    /// The least severe syslog level of log lines that are kept (info).
    ///
    /// Debug lines are only parsed.
    private static let leastSevereLevel: Int32 = 6

    /// The waiting events.
    private(set) var events: [ClientEvent] = []
    /// The information from debug lines.
    var watch = DebugLogWatch()
    /// The counter of delivery reports that arrive as events.
    var deliveries: UnsafeMutablePointer<DeliveryCounter>?

    /// Returns and removes the waiting events.
    mutating func takeEvents() -> [ClientEvent] {
        defer { events.removeAll(keepingCapacity: true) }
        return events
    }

    /// Adds one event.
    ///
    /// The caller destroys it.
    mutating func add(_ event: OpaquePointer) {
        switch rd_kafka_event_type(event) {
        case RD_KAFKA_EVENT_LOG: addLog(event)
        case RD_KAFKA_EVENT_STATS:
            guard let text = rd_kafka_event_stats(event) else { return }
            keepStatistics(ByteView(cString: text))
        case RD_KAFKA_EVENT_ERROR:
            let error = KafkaError(
                code: KafkaErrorCode(rd_kafka_event_error(event)),
                text: String(cString: rd_kafka_event_error_string(event)),
                isFatal: rd_kafka_event_error_is_fatal(event) != 0)
            keep(.error(error))
        case RD_KAFKA_EVENT_DR:
            while let message = rd_kafka_event_message_next(event) {
                deliveries?.pointee.count(message)
            }
        default: break
        }
    }

    /// Keeps the newest statistics document.
    private mutating func keepStatistics(_ document: ByteView) {
        guard document.count <= Self.statisticsLimit else { return }
        events.removeAll { if case .statistics = $0 { true } else { false } }
        keep(.statistics(document.array))
    }

    private mutating func addLog(_ event: OpaquePointer) {
        var facility: UnsafePointer<CChar>?
        var text: UnsafePointer<CChar>?
        var level: Int32 = 0
        guard rd_kafka_event_log(event, &facility, &text, &level) == 0, let facility, let text else { return }
        watch.read(facility: ByteView(cString: facility), text: ByteView(cString: text))
        if level <= Self.leastSevereLevel {
            keep(.log(LogLine(level: level, facility: String(cString: facility), text: String(cString: text))))
        }
    }

    private mutating func keep(_ event: ClientEvent) {
        if events.count < Self.capacity { events.append(event) }
    }
}
