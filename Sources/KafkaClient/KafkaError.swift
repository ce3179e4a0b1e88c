/// An error of librdkafka or of a broker: everything that its C object says, copied once.
///
/// The three flags decide what to do next and stand in this order: retriable (call the same again), abortable (abort
/// the transaction), neither (fatal for the producer), as librdkafka's manual says.
package struct KafkaError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The code.
    package let code: KafkaErrorCode
    /// The code's symbolic name, such as `_FENCED`.
    package let name: String
    /// What librdkafka or the broker says about it; never holds a payload.
    package let text: String
    /// Whether the client instance can do no more.
    package let isFatal: Bool
    /// Whether the same call with the same arguments may be made again.
    package let isRetriable: Bool
    /// Whether the open transaction must be aborted (`txn_requires_abort`).
    package let isAbortable: Bool

    /// Makes an error; without a text the code's own sentence is taken.
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

    /// Name, text and flags, fit for a log line.
    package var description: String {
        var flags: [String] = []
        if isFatal { flags.append("fatal") }
        if isRetriable { flags.append("retriable") }
        if isAbortable { flags.append("abortable") }
        return flags.isEmpty ? "\(name): \(text)" : "\(name) (\(flags.joined(separator: ", "))): \(text)"
    }
}
