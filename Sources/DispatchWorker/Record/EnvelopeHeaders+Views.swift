package import KafkaClient
package import LinkIngest

extension EnvelopeHeaders {
    /// Adds all headers of a record.
    ///
    /// Returns the failure if a header prevents reading the value, or nil.
    package mutating func add(_ headers: [HeaderView]) -> IngestFailure? {
        for header in headers {
            add(name: header.name, value: header.value)
            if let failure = WireFormat.refusal(ofHeader: header.name, value: header.value) { return failure }
        }
        return nil
    }
}
