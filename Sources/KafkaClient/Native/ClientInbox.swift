internal import CRdKafka
internal import ByteStorage

/// What a client instance said since the application asked last: bounded, the newest lines are dropped and counted.
struct ClientInbox {
    /// Most events that wait here.
    static let capacity = 1000

    /// What waits.
    private(set) var events: [ClientEvent] = []
    /// How many events were dropped since the beginning because nobody asked.
    private(set) var dropped = 0
    /// What the debug lines told.
    var watch = DebugLogWatch()
    /// Log lines of this level and below (more severe) are kept; debug lines are only looked at.
    var mostVerboseLevel: Int32 = 6
    /// Where a delivery report that comes as an event is counted.
    var deliveries: UnsafeMutablePointer<DeliveryTally>?

    /// Takes over what waits.
    mutating func takeEvents() -> [ClientEvent] {
        defer { events.removeAll(keepingCapacity: true) }
        return events
    }

    /// Reads one event; the caller destroys it.
    mutating func take(_ event: OpaquePointer) {
        switch rd_kafka_event_type(event) {
        case RD_KAFKA_EVENT_LOG: takeLog(event)
        case RD_KAFKA_EVENT_STATS:
            guard let text = rd_kafka_event_stats(event) else { return }
            keep(.statistics(Array(String(cString: text).utf8)))
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

    private mutating func takeLog(_ event: OpaquePointer) {
        var facility: UnsafePointer<CChar>?
        var text: UnsafePointer<CChar>?
        var level: Int32 = 0
        guard rd_kafka_event_log(event, &facility, &text, &level) == 0, let facility, let text else { return }
        watch.read(facility: ByteView(cString: facility), text: ByteView(cString: text))
        if level <= mostVerboseLevel {
            keep(.log(LogLine(level: level, facility: String(cString: facility), text: String(cString: text))))
        }
    }

    private mutating func keep(_ event: ClientEvent) {
        if events.count < Self.capacity {
            events.append(event)
        } else {
            dropped += 1
        }
    }
}
