internal import StrictJSON

/// A fault met while a record is read: kept as a literal and an offset, so that noting one costs nothing.
struct Fault {
    var reason: IngestFailure.Reason
    /// What was expected.
    var detail: StaticString
    /// Where in the JSON text, or -1 for nowhere.
    var offset: Int

    /// A member of a wrong type, or over its limit.
    static func type(_ expected: StaticString, at offset: Int) -> Fault {
        Fault(reason: .badJSON, detail: expected, offset: offset)
    }

    /// As a failure of the record whose JSON text begins at `textOffset`.
    func failure(textOffset: Int) -> IngestFailure {
        var failure = IngestFailure(reason, "\(detail)", offset: offset < 0 ? nil : offset + textOffset)
        failure.textOffset = textOffset
        return failure
    }
}

extension IngestFailure {
    /// What the strict reader refused.
    init(_ error: JSONError, textOffset: Int) {
        self.init(error.code == .badUTF8 ? .notUTF8 : .badJSON, error.text, offset: error.offset + textOffset)
        self.textOffset = textOffset
    }
}
