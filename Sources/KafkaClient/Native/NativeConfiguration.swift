internal import CRdKafka

/// The owner of an `rd_kafka_conf_t` until a client takes ownership.
struct NativeConfiguration: ~Copyable {
    private let pointer: OpaquePointer

    /// Creates a librdkafka configuration with these properties.
    init(_ configuration: ClientConfiguration) throws(ConfigurationError) {
        pointer = rd_kafka_conf_new()
        for entry in configuration.entries {
            try set(entry.name, entry.value)
        }
    }

    deinit { rd_kafka_conf_destroy(pointer) }

    /// Sets one property.
    func set(_ name: String, _ value: String) throws(ConfigurationError) {
        var message = [CChar](repeating: 0, count: 512)
        let result = rd_kafka_conf_set(pointer, name, value, &message, message.count)
        switch result {
        case RD_KAFKA_CONF_OK: return
        case RD_KAFKA_CONF_UNKNOWN:
            throw ConfigurationError(kind: .unknownProperty, property: name, text: text(of: message))
        default:
            throw ConfigurationError(kind: .invalidValue, property: name, text: text(of: message))
        }
    }

    /// Returns a Boolean value that indicates whether a property of this name exists.
    ///
    /// The property may be changed, so use a temporary configuration.
    ///
    /// `rd_kafka_conf_get` is not used because it also reports "unknown" for texts that are not set.
    func hasProperty(_ name: String) -> Bool { rd_kafka_conf_set(pointer, name, "", nil, 0) != RD_KAFKA_CONF_UNKNOWN }

    /// Enables event kinds (`RD_KAFKA_EVENT_…`).
    func enableEvents(_ mask: Int32) { rd_kafka_conf_set_events(pointer, mask) }

    /// Lets librdkafka request tokens on a queue of their own.
    ///
    /// A request on the main queue would wait inside a call such as `init_transactions`, during which nothing serves
    /// that queue.
    func enableTokenQueue() { rd_kafka_conf_enable_sasl_queue(pointer, 1) }

    /// Sets the pointer that callbacks receive.
    func setOpaque(_ opaque: UnsafeMutableRawPointer) { rd_kafka_conf_set_opaque(pointer, opaque) }

    /// Sets the callback for group rebalances.
    func setRebalanceCallback(
        _ callback:
            @escaping @convention(c) (
                OpaquePointer?, rd_kafka_resp_err_t, UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?,
                UnsafeMutableRawPointer?
            ) -> Void
    ) {
        rd_kafka_conf_set_rebalance_cb(pointer, callback)
    }

    /// Sets the callback for delivery reports.
    func setDeliveryCallback(
        _ callback:
            @escaping @convention(c) (
                OpaquePointer?, UnsafePointer<rd_kafka_message_t>?, UnsafeMutableRawPointer?
            ) -> Void
    ) {
        rd_kafka_conf_set_dr_msg_cb(pointer, callback)
    }

    /// Sets the callback for each certificate of a broker.
    func setCertificateCallback(
        _ callback:
            @escaping @convention(c) (
                OpaquePointer?, UnsafePointer<CChar>?, Int32, UnsafeMutablePointer<Int32>?, Int32,
                UnsafePointer<CChar>?, Int, UnsafeMutablePointer<CChar>?, Int, UnsafeMutableRawPointer?
            ) -> Int32
    ) {
        rd_kafka_conf_set_ssl_cert_verify_cb(pointer, callback)
    }

    /// Creates the instance, which takes ownership of the configuration.
    ///
    /// A rejected configuration is freed here.
    consuming func makeClient(_ role: ClientRole, _ watch: CallWatch) throws(ConfigurationError) -> OpaquePointer {
        var message = [CChar](repeating: 0, count: 512)
        let type = role == .producer ? RD_KAFKA_PRODUCER : RD_KAFKA_CONSUMER
        let settings = pointer
        let instance = watch.during(.new) { rd_kafka_new(type, settings, &message, message.count) }
        guard let client = instance else {
            let text = text(of: message)
            _ = consume self
            throw ConfigurationError(kind: .refused, property: nil, text: text)
        }
        discard self
        return client
    }
}

/// Returns the text in a C buffer up to its terminating zero.
func text(of buffer: [CChar]) -> String {
    String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
