/// An error of librdkafka or of a broker, with everything that its C object contains.
///
/// The three flags decide what to do next, in this order: retriable (repeat the call), abortable (abort the
/// transaction), neither (fatal for the producer). This follows librdkafka's manual.
package struct KafkaError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The code.
    package let code: KafkaErrorCode
    /// The code's symbolic name, such as `_FENCED`.
    package let name: String
    /// The message of librdkafka or the broker, which never contains a payload.
    package let text: String
    /// A Boolean value that indicates whether the client instance is unusable.
    package let isFatal: Bool
    /// A Boolean value that indicates whether the same call can be repeated with the same arguments.
    package let isRetriable: Bool
    /// A Boolean value that indicates whether the open transaction must be aborted (`txn_requires_abort`).
    package let isAbortable: Bool

    /// Creates an error.
    ///
    /// Without a text, the code's own message is used.
    package init(
        code: KafkaErrorCode, text: String? = nil, isFatal: Bool = false, isRetriable: Bool = false,
        isAbortable: Bool = false
    ) {
        self.code = code
        name = code.name
        self.text = text ?? code.text
        self.isFatal = isFatal
        self.isRetriable = isRetriable
        self.isAbortable = isAbortable
    }

    /// The name, the flags, and the text, for a log line.
    package var description: String {
        var flags: [String] = []
        if isFatal { flags.append("fatal") }
        if isRetriable { flags.append("retriable") }
        if isAbortable { flags.append("abortable") }
        return flags.isEmpty ? "\(name): \(text)" : "\(name) (\(flags.joined(separator: ", "))): \(text)"
    }
}
