internal import StrictJSON

/// A fault in a record.
///
/// It holds a literal and an offset, so that recording one does not allocate.
struct Fault {
    var reason: IngestFailure.Reason
    /// A description of the fault.
    var detail: StaticString
    /// The offset in the JSON text, or -1 for none.
    var offset: Int

    /// Returns the fault of a member with the wrong type, or over its limit.
    static func type(_ expected: StaticString, at offset: Int) -> Fault {
        Fault(reason: .badJSON, detail: expected, offset: offset)
    }

    /// Returns the failure for a record whose JSON text begins at `textOffset`.
    func failure(textOffset: Int) -> IngestFailure {
        var failure = IngestFailure(reason, "\(detail)", offset: offset < 0 ? nil : offset + textOffset)
        failure.textOffset = textOffset
        return failure
    }
}

extension IngestFailure {
    /// Creates the failure for an error of the JSON reader.
    init(_ error: JSONError, textOffset: Int) {
        self.init(error.code == .badUTF8 ? .notUTF8 : .badJSON, error.text, offset: error.offset + textOffset)
        self.textOffset = textOffset
    }
}
