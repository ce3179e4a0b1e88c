internal import ByteStorage
internal import DecisionIndex
internal import StrictJSON

/// A decision or a dead letter as one row of a list.
struct FeedRow: Sendable {
    /// The limit of a text in a row, in bytes.
    private static let textLimit = 512

    /// The place in the order of all rows.
    var key: RowKey
    var topic: String
    /// The JSON text of the row.
    private(set) var json: [UInt8]

    /// Creates the row of a record.
    ///
    /// - Parameters:
    ///   - record: The record.
    ///   - tape: The members of the record's value.
    ///   - facts: The same record in the form of the index.
    ///   - mask: The replacement of what identifies people.
    init(_ record: ScannedRecord, _ tape: inout DecisionTape, _ facts: RowFacts, _ mask: RecordMask) {
        key = facts.key
        topic = record.topic
        var json = JSONText()
        json.beginObject()
        Self.writePlace(key, topic, &json)
        Self.write("device", facts.device.map { mask.id(Self.text($0)) }, &json)
        Self.write("event", facts.event.map { mask.id(Self.text($0)) }, &json)
        Self.write("outcome", facts.outcome, &json)
        Self.write("route", facts.route, &json)
        Self.write("table", facts.table, &json)
        Self.write("reason", facts.reason, &json)
        Self.write("campaign", facts.campaign, &json)
        Self.write("application", facts.application, &json)
        switch key.source.kind {
        case .decision:
            Self.write("id", tape.string("decision"), &json)
            Self.write("user", tape.string("user").map { mask.id(Self.text($0)) }, &json)
            Self.write("detail", mask.text(tape.string("detail").map(Self.text)), &json)
            let target = tape.string("path") ?? tape.string("url")
            Self.write("target", mask.text(target.map(Self.text)), &json)
        case .deadLetter: Self.writeLetter(record, mask, &json)
        }
        json.endObject()
        self.json = Array(json.finish().utf8)
    }

    /// Creates the row of a record that cannot be read any more, with what the index has.
    init(_ row: DecisionIndex.Row, topic: String) {
        key = row.key
        self.topic = topic
        var json = JSONText()
        json.beginObject()
        Self.writePlace(key, topic, &json)
        for field in RowField.allCases where field != .query { Self.write(field.rawValue, row.values[field], &json) }
        json.boolean("missing", true)
        json.endObject()
        self.json = Array(json.finish().utf8)
    }

    private static func writePlace(_ key: RowKey, _ topic: String, _ json: inout JSONText) {
        json.text("cursor", key.text)
        json.text("kind", key.source.kind.rawValue)
        json.number("time", key.time < 0 ? nil : key.time)
        json.text("topic", topic)
        json.number("partition", Int64(key.source.partition))
        json.number("offset", key.offset)
    }

    private static func writeLetter(_ record: ScannedRecord, _ mask: RecordMask, _ json: inout JSONText) {
        let head = DeadLetterHead(record)
        write("stage", record.header("dlq.stage"), &json)
        write("detail", mask.text(record.header("dlq.detail").map(text)), &json)
        write("pointer", mask.text(record.header("dlq.pointer").map(text)), &json)
        guard let head, let topic = head.sourceTopic, let partition = head.sourcePartition,
            let offset = head.sourceOffset
        else { return }
        json.beginObject("source")
        json.text("topic", text(topic))
        json.number("partition", Int64(partition))
        json.number("offset", offset)
        if let item = head.item { json.number("item", Int64(item)) }
        json.endObject()
    }

    private static func write(_ name: String, _ bytes: ByteView?, _ json: inout JSONText) {
        write(name, bytes.map(text), &json)
    }

    private static func write(_ name: String, _ text: String?, _ json: inout JSONText) {
        if let text { json.text(name, text) }
    }

    /// Returns the beginning of a text, in which invalid UTF-8 is repaired.
    private static func text(_ bytes: ByteView) -> String {
        guard bytes.count > textLimit else { return bytes.string }
        var end = textLimit
        while end > 0, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        return bytes.slice(0, end).string + "…"
    }
}

extension RowFacts {
    /// The limit of the time by which a record can be later than the clock of this machine, in milliseconds.
    ///
    /// A later record is put at the time of the clock, so that no record stays in front of all others.
    private static let lead: Int64 = 60_000

    /// Creates the row of a decision or a dead letter.
    ///
    /// - Parameters:
    ///   - record: The record.
    ///   - tape: The members of the record's value.
    ///   - source: The topic and the partition.
    ///   - now: The time in milliseconds since 1970.
    init(_ record: ScannedRecord, _ tape: inout DecisionTape, _ source: RowSource, now: Int64) {
        var time = RecordFilter(isDeadLetters: source.kind == .deadLetter).time(of: record)
        if time > now + Self.lead { time = now }
        self.init(RowKey(time: time, source: source, offset: record.offset))
        device = tape.device(key: record.key)
        campaign = tape.campaign
        application = tape.application
        query = tape.queryText
        reason = RowField.reason.value(of: record, &tape)
        switch source.kind {
        case .decision:
            event = tape.string("event")
            outcome = tape.string("outcome")
            route = tape.string("route")
            table = tape.string("table")
        case .deadLetter:
            device = record.key
            event = record.header("dlq.event")
        }
    }
}

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
