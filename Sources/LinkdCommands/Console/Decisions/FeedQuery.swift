internal import DecisionIndex
internal import HTTPServer
internal import RouteTools

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

/// The parameters of a request that only reads.
struct RequestQuery {
    private var values: [String: [String]] = [:]
    /// The time to which durations are relative, in milliseconds since 1970.
    let now: Int64

    /// Reads the parameters.
    ///
    /// A parameter that the endpoint does not have, and one that is given twice, are errors.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - names: The names of the parameters.
    ///   - repeated: The names of the parameters that can be given several times.
    ///   - now: The time of the request, in milliseconds since 1970.
    init(
        _ request: HTTPRequest, names: [String], repeated: [String] = [], now: Int64 = Platform.nowMilliseconds
    ) throws(ConsoleProblem) {
        self.now = now
        let names = names + repeated
        let list = names.isEmpty ? "none" : names.map { "`\($0)`" }.joined(separator: ", ")
        for item in request.query {
            let shown = Escaping.visible(String(item.name.prefix(64)))
            guard names.contains(item.name) else {
                throw ConsoleProblem(
                    code: "parameter", message: "`\(shown)` is not a parameter of \(request.path)",
                    next: "pass the parameters \(list)")
            }
            guard values[item.name] == nil || repeated.contains(item.name) else {
                throw ConsoleProblem(
                    code: "parameter", message: "the parameter `\(shown)` is given twice", next: "pass it once")
            }
            values[item.name, default: []].append(item.value)
        }
    }

    /// Returns a text, or nil if it is absent.
    func text(_ name: String, maxBytes: Int) throws(ConsoleProblem) -> String? {
        guard let value = values[name]?.first else { return nil }
        guard value.utf8.count <= maxBytes else {
            throw Self.problem(name, "is longer than \(maxBytes) bytes", "pass a shorter text")
        }
        return value
    }

    /// Returns the texts of a parameter that can be given several times.
    func texts(_ name: String, maxBytes: Int, count: Int) throws(ConsoleProblem) -> [String] {
        let texts = values[name] ?? []
        guard texts.count <= count else {
            throw Self.problem(name, "is given more than \(count) times", "pass fewer values")
        }
        guard texts.allSatisfy({ $0.utf8.count <= maxBytes }) else {
            throw Self.problem(name, "is longer than \(maxBytes) bytes", "pass a shorter text")
        }
        return texts
    }

    /// Returns an integer of a range, or nil if it is absent.
    func number<Number: FixedWidthInteger>(
        _ name: String, _ range: ClosedRange<Number>, unit: String
    ) throws(ConsoleProblem) -> Number? {
        guard let value = values[name]?.first else { return nil }
        guard let number = Number(value), range.contains(number) else {
            throw Self.problem(
                name, "is not a number of \(unit)", "pass a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Returns one of several words, or nil if it is absent.
    func choice(_ name: String, _ words: [String]) throws(ConsoleProblem) -> String? {
        guard let value = values[name]?.first else { return nil }
        guard words.contains(value) else {
            let list = words.map { "`\($0)`" }.joined(separator: ", ")
            throw Self.problem(name, "is none of its values", "pass one of \(list)")
        }
        return value
    }

    /// Returns a time in milliseconds since 1970, or nil if it is absent.
    func time(_ name: String) throws(ConsoleProblem) -> Int64? {
        guard let value = values[name]?.first else { return nil }
        if value.utf8.count <= 14, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let time = Int64(value) {
            return time
        }
        guard value.utf8.count <= 40, let time = Timestamps.parse(value, now: now) else {
            throw Self.problem(
                name, "is not a time",
                "pass milliseconds since 1970, a time such as 2026-11-20T10:00:00Z, or a duration before now such as 1h"
            )
        }
        return time
    }

    /// Returns the problem of a parameter.
    static func problem(_ name: String, _ message: String, _ next: String) -> ConsoleProblem {
        ConsoleProblem(code: "parameter", message: "the parameter `\(name)` \(message)", next: next)
    }
}
