internal import ByteStorage
internal import DecisionIndex
internal import StrictJSON

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
            } else if field == .query, let member = try queryMember(field.rawValue, text) {
                filter.queryMembers[member.text] = member.isThere
            } else {
                filter.values[field] = text
            }
        }
        for field in RowField.allCases {
            let name = "not." + field.rawValue
            var texts = try query.texts(name, maxBytes: 512, count: excludedLimit)
            if field == .query {
                for text in texts {
                    guard let member = try queryMember(name, text) else { continue }
                    filter.queryMembers[member.text] = !member.isThere
                    texts.removeAll { $0 == text }
                }
            }
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

    /// Returns the member of `context.query` that `NAME=VALUE` means, and whether a row must have it, or nil for a text
    /// that stands for all items: their object, or an empty text for none.
    private static func queryMember(
        _ name: String, _ text: String
    ) throws(ConsoleProblem) -> (text: [UInt8], isThere: Bool)? {
        if text.isEmpty || text.hasPrefix("{") { return nil }
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !parts[0].isEmpty else {
            throw RequestQuery.problem(name, "is not NAME=VALUE", "pass an item such as `utm_campaign=spring`")
        }
        let member = OutputArena.text { arena in
            arena.appendString(parts[0])
            arena.append(":")
            if !parts[1].isEmpty { arena.appendString(parts[1]) }
        }
        return (Array(member.utf8), !parts[1].isEmpty)
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
