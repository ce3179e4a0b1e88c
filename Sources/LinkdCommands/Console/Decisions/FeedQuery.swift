internal import DecisionIndex
internal import HTTPServer

/// The parameters that choose rows, which several endpoints share.
enum FeedQuery {
    /// The names of the parameters.
    static let names = RowField.allCases.map(\.rawValue) + ["device", "event", "kind", "from", "to"]
    /// The names of the parameters that can be repeated: the values whose rows are left out.
    static let repeatedNames = RowField.allCases.map { "not." + $0.rawValue }

    /// The limit of values of a property whose rows are left out.
    private static let excludedLimit = 50

    /// The words of the parameter `kind`.
    private static let kinds = ["decision", "dead_letter", "problem", "any"]

    /// Returns the filter of a request.
    ///
    /// - Parameters:
    ///   - query: The parameters.
    ///   - kind: The word of the parameter `kind` if it is absent.
    ///   - mask: The hash of ids.
    static func filter(
        _ query: RequestQuery, kind: String, _ mask: RecordMask
    ) throws(ConsoleProblem) -> RowFilter {
        var filter = RowFilter()
        for field in RowField.allCases {
            guard let text = try query.text(field.rawValue, maxBytes: 512) else { continue }
            if field == .table, isTableID(text) {
                filter.tableID = text
            } else {
                filter.values[field] = text
            }
        }
        for field in RowField.allCases {
            let texts = try query.texts("not." + field.rawValue, maxBytes: 512, count: excludedLimit)
            let ids = field == .table ? texts.filter(isTableID) : []
            filter.excludedTableIDs.formUnion(ids)
            if texts.count > ids.count { filter.excluded[field] = Set(texts).subtracting(ids) }
        }
        filter.device = try query.text("device", maxBytes: 256).map { mask.hash(ofTyped: $0) }
        filter.event = try query.text("event", maxBytes: 512).map { mask.hash(ofTyped: $0) }
        filter.from = try query.time("from")
        filter.to = try query.time("to")
        if let from = filter.from, let to = filter.to, from >= to {
            throw RequestQuery.problem("to", "is not after `from`", "pass a later time")
        }
        switch try query.choice("kind", kinds) ?? kind {
        case "decision": filter.kind = .decision
        case "dead_letter": filter.kind = .deadLetter
        case "problem": filter.isProblem = true
        default: break
        }
        return filter
    }

    /// Returns a Boolean value that indicates whether a text is the id of a table, which stands for all its versions.
    private static func isTableID(_ text: String) -> Bool { !text.isEmpty && !text.contains("@") }

    /// Returns the cursor of a parameter, or nil if it is absent.
    static func cursor(_ query: RequestQuery, _ name: String) throws(ConsoleProblem) -> RowKey? {
        guard let text = try query.text(name, maxBytes: 64) else { return nil }
        guard let key = RowKey(text) else {
            throw RequestQuery.problem(name, "is not a cursor", "pass the member `cursor` of a row")
        }
        return key
    }
}
