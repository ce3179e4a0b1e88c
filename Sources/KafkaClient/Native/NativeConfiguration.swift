internal import CLibrary
internal import CPlatform
internal import CRdKafka
internal import Synchronization

/// The owner of an `rd_kafka_conf_t` until a client takes ownership.
struct NativeConfiguration: ~Copyable {
    private let pointer: OpaquePointer

    /// Creates a librdkafka configuration with these properties.
    init(_ configuration: ClientConfiguration) throws(ConfigurationError) {
        pointer = rd_kafka_conf_new()
        for entry in configuration.entries {
            try Self.checkFile(entry)
            try set(entry.name, entry.value)
        }
    }

    /// Refuses a named pipe as the file of a certificate or a key, because the library would wait for its writer.
    private static func checkFile(_ entry: ClientConfiguration.Entry) throws(ConfigurationError) {
        guard entry.name.hasSuffix(".location") || entry.name.hasSuffix(".keytab"), linkd_may_wait(entry.value) != 0
        else { return }
        throw ConfigurationError(
            kind: .invalidValue, property: entry.name,
            text: "\(entry.value) is not a regular file, and reading a named pipe can wait forever")
    }

    deinit { rd_kafka_conf_destroy(pointer) }

    /// Sets one property.
    func set(_ name: String, _ value: String) throws(ConfigurationError) {
        var message = [CChar](repeating: 0, count: 512)
        let result = rd_kafka_conf_set(pointer, name, value, &message, message.count)
        switch result {
        case RD_KAFKA_CONF_OK: return
        case RD_KAFKA_CONF_UNKNOWN:
            throw ConfigurationError(kind: .unknownProperty, property: name, text: text(of: message).withoutSecret)
        default:
            throw ConfigurationError(kind: .invalidValue, property: name, text: text(of: message).withoutSecret)
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

    /// Lets librdkafka request tokens on a separate queue.
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

/// The reason why OpenSSL refused a broker's certificate, which librdkafka's texts do not contain.
///
/// librdkafka calls the callback on a thread of its own. The client keeps this object as long as the instance exists.
final class CertificateCheck: Sendable {
    private let code = Atomic<Int32>(0)

    /// OpenSSL's code of the last refusal, or nil.
    var refusal: Int32? {
        let code = code.load(ordering: .relaxed)
        return code == 0 ? nil : code
    }

    /// Sets the callback, which keeps OpenSSL's result.
    ///
    /// A library without TLS refuses the callback, and then no certificate is checked.
    func observe(_ configuration: borrowing NativeConfiguration) {
        configuration.setOpaque(Unmanaged.passUnretained(self).toOpaque())
        configuration.setCertificateCallback { _, _, _, error, _, _, _, _, _, opaque in
            guard let error, let opaque else { return 1 }
            if error.pointee == 0 { return 1 }
            Unmanaged<CertificateCheck>.fromOpaque(opaque).takeUnretainedValue().code
                .store(error.pointee, ordering: .relaxed)
            return 0
        }
    }
}

/// Returns the text that `rd_kafka_conf_properties_show` prints, or an empty text if memory is exhausted.
func propertiesManual() -> String {
    var bytes: UnsafeMutablePointer<CChar>?
    var size = 0
    guard let stream = open_memstream(&bytes, &size) else { return "" }
    rd_kafka_conf_properties_show(stream)
    fclose(stream)
    guard let bytes else { return "" }
    defer { free(bytes) }
    return String(cString: bytes)
}
