/// A numbered record that no broker has acknowledged.
package struct UndeliveredRecord: Sendable, Equatable {
    /// The number with which the record was produced.
    package var number: UInt
    /// The error of its delivery report.
    package var code: KafkaErrorCode
    /// A Boolean value that indicates whether a broker can have stored the record, because it was sent and no answer
    /// has arrived.
    package var mayBeStored: Bool

    /// Creates a record.
    package init(number: UInt, code: KafkaErrorCode, mayBeStored: Bool) {
        self.number = number
        self.code = code
        self.mayBeStored = mayBeStored
    }
}
