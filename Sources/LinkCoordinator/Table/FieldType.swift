package import ByteStorage

/// The type of a model's field.
///
/// See RouteTableReference, "Field types".
package indirect enum FieldType: Sendable, Hashable {
    /// A UUID, bound in uppercase.
    case uuid

    /// A 64-bit integer within the bounds.
    case int(min: Int64, max: Int64)

    /// A text of `min` to `max` UTF-8 bytes.
    case string(min: Int, max: Int)

    /// `true`, `false`, `1`, or `0`, bound as a JSON Boolean value.
    case bool

    /// A decimal number of at most 15 significant digits.
    case double

    /// A decimal number of at most 38 significant digits within the bounds, which are canonical texts.
    case decimal(min: String?, max: String?)

    /// A calendar date, `YYYY-MM-DD`.
    case date

    /// A date and time with an offset, bound in UTC.
    case dateTime

    /// One of these texts, in the order of the table.
    case enumeration([[UInt8]])

    /// An `https` URL whose host matches one of the rules.
    case url(hosts: [HostRule])

    /// From `min` to `max` values of a type that is not a list.
    case list(FieldType, min: Int, max: Int)

    /// The length of the longest text that any field accepts, in bytes.
    package static let maxTextBytes = 8192

    /// The maximum number of items of any list.
    package static let maxListCount = 128

    /// A Boolean value that indicates whether the type is a list.
    var isList: Bool { if case .list = self { true } else { false } }

    /// The type as written in a table, with bounds only if they differ from the defaults.
    package var text: String {
        switch self {
        case .uuid: "uuid"
        case .bool: "bool"
        case .double: "double"
        case .decimal(nil, nil): "decimal"
        case .decimal(let min, let max): "decimal(\(min ?? "")..\(max ?? ""))"
        case .date: "date"
        case .dateTime: "datetime"
        case .int(let min, let max):
            min == .min && max == .max
                ? "int" : "int(\(min == .min ? "" : "\(min)")..\(max == .max ? "" : "\(max)"))"
        case .string(let min, let max):
            min == 0 && max == Self.maxTextBytes
                ? "string" : "string(\(min)..\(max == Self.maxTextBytes ? "" : "\(max)"))"
        case .enumeration(let values):
            "enum(" + values.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "|") + ")"
        case .url(let hosts): "url(host in " + hosts.map(\.text).joined(separator: ", ") + ")"
        case .list(let element, let min, let max):
            min == 0 && max == Self.maxListCount
                ? "list<\(element.text)>" : "list<\(element.text)>(\(min)..\(max))"
        }
    }

    /// Returns the canonical form of a text under this type.
    ///
    /// For a list, it is the canonical form of one item.
    ///
    /// See RouteTableReference, "Canonical forms".
    package func canonical(_ text: ByteView) -> CanonicalValue {
        switch self {
        case .uuid: return TextForms.isUUID(text) ? .uuid(text) : .invalid
        case .int(let min, let max):
            guard let value = TextForms.integer(text), value >= min, value <= max else { return .invalid }
            return .number(text)
        case .string(let min, let max): return text.count >= min && text.count <= max ? .text(text) : .invalid
        case .bool: return TextForms.boolean(text).map { .boolean($0) } ?? .invalid
        case .double: return TextForms.double(text).map { .number($0) } ?? .invalid
        case .decimal(let min, let max):
            guard let number = TextForms.decimal(text), Self.isDecimal(number, from: min, to: max) else {
                return .invalid
            }
            return .number(number)
        case .date: return TextForms.isDate(text) ? .text(text) : .invalid
        case .dateTime: return TextForms.dateTime(text).map { .dateTime($0) } ?? .invalid
        case .enumeration(let values):
            return values.contains { $0.elementsEqual(text.buffer) } ? .text(text) : .invalid
        case .url(let hosts): return Self.isURL(text, hosts) ? .text(text) : .invalid
        case .list(let element, _, _): return element.canonical(text)
        }
    }

    /// Returns a Boolean value that indicates whether the text is an `https` URL with a listed host, and without
    /// userinfo and spaces.
    private static func isURL(_ text: ByteView, _ hosts: [HostRule]) -> Bool {
        guard text.count <= maxTextBytes, let url = WebURL(text), equalsFolded(url.scheme, "https"),
            let host = WebURL.normalHost(url.host), !host.isEmpty
        else { return false }
        return hosts.contains { $0.matches(host: host, port: url.port) }
    }

    /// Returns a copy of the canonical form of a text, or nil if the text is not of the type.
    package func canonicalText(_ text: String) -> String? {
        Array(text.utf8).withUnsafeBufferPointer { bytes in
            switch canonical(ByteView(bytes)) {
            case .invalid: nil
            case .text(let view), .number(let view): view.string
            case .uuid(let view): view.string.uppercased()
            case .boolean(let value): value ? "true" : "false"
            case .dateTime(let time): time.text
            }
        }
    }
}

/// Parses the type of a field with its `?` or default.
///
/// See RouteTableReference, "Field types".
struct FieldTypeParser {
    /// The names of the types, for suggestions.
    static let names = [
        "uuid", "int", "string", "bool", "double", "decimal", "date", "datetime", "enum", "url", "list",
    ]

    /// Parses a complete text such as `int(1..99)=1`.
    static func parse(_ text: String) throws(TextError) -> (type: FieldType, absence: TableSource.Field.Absence) {
        var reader = TextReader(text)
        let type = try type(&reader)
        if case .list(_, let min, _) = type {
            guard reader.isAtEnd else {
                throw TextError(
                    "a list cannot have `?` or a default", at: reader.at,
                    suggestion: "remove it: a list with a minimum of 0 items is empty by default")
            }
            return (type, min == 0 ? .emptyList : .required)
        }
        if reader.isAtEnd { return (type, .required) }
        if reader.take("?") {
            guard reader.isAtEnd else { throw TextError("no text is allowed after `?`", at: reader.at) }
            return (type, .null)
        }
        guard reader.take("=") else {
            let isList = reader.bytes[reader.at...].elementsEqual("[]".utf8)
            if reader.next == UInt8(ascii: " ") {
                throw TextError("a type must not contain spaces", at: reader.at, suggestion: "remove the spaces")
            }
            throw TextError(
                "expected `?`, `=default`, or the end of the type", at: reader.at,
                suggestion: isList
                    ? "write `list<\(String(decoding: reader.bytes[..<reader.at], as: UTF8.self))>`" : nil)
        }
        let start = reader.at
        let value = String(decoding: reader.run { _ in true }, as: UTF8.self)
        guard let canonical = type.canonicalText(value) else {
            throw TextError("the default `\(value)` is not a value of the type `\(type.text)`", at: start)
        }
        return (type, .value(canonical))
    }

    private static func type(_ reader: inout TextReader) throws(TextError) -> FieldType {
        let start = reader.at
        let name = String(decoding: reader.run { ($0 | 0x20) &- UInt8(ascii: "a") < 26 }, as: UTF8.self)
        switch name {
        case "uuid": return .uuid
        case "bool": return .bool
        case "double": return .double
        case "date": return .date
        case "datetime": return .dateTime
        case "decimal":
            let (min, max) = try reader.decimalBounds()
            return .decimal(min: min, max: max)
        case "int":
            let bounds = try reader.bounds()
            return .int(min: bounds?.min ?? .min, max: bounds?.max ?? .max)
        case "string":
            let (min, max) = try lengths(&reader, limit: FieldType.maxTextBytes, "bytes")
            return .string(min: min, max: max)
        case "enum": return .enumeration(try reader.enumValues())
        case "url": return .url(hosts: try hosts(&reader))
        case "list": return try list(&reader)
        default:
            throw TextError(
                name.isEmpty ? "expected a type" : "`\(name)` is not a type", at: start,
                suggestion: TableHint.use(names),
                hints: [.fieldType(name, next: reader.next), .word(name, known: names)])
        }
    }

    private static func lengths(
        _ reader: inout TextReader, limit: Int, _ unit: String
    ) throws(TextError) -> (min: Int, max: Int) {
        let start = reader.at
        guard let bounds = try reader.bounds() else { return (0, limit) }
        let min = bounds.min ?? 0
        let max = bounds.max ?? Int64(limit)
        guard min >= 0, max <= Int64(limit), min <= max else {
            throw TextError("bounds must be from 0 to \(limit) \(unit)", at: start)
        }
        return (Int(min), Int(max))
    }

    private static func hosts(_ reader: inout TextReader) throws(TextError) -> [HostRule] {
        guard reader.take(word: "(host in ") else {
            throw TextError("expected hosts, such as `url(host in a.example, *.b.example)`", at: reader.at)
        }
        var rules: [HostRule] = []
        repeat {
            _ = reader.run { $0 == UInt8(ascii: " ") }
            let start = reader.at
            let text = reader.text(until: ",", ")")
            do throws(TextError) {
                rules.append(try HostRule.parse(text))
            } catch {
                throw TextError(error.message, at: start + error.offset, suggestion: error.suggestion)
            }
            if text.isEmpty { throw TextError("expected a host", at: start) }
        } while reader.take(",")
        guard reader.take(")") else { throw TextError("expected `)` after the hosts", at: reader.at) }
        return rules
    }

    private static func list(_ reader: inout TextReader) throws(TextError) -> FieldType {
        guard reader.take("<") else {
            throw TextError("expected the type of the items, such as `list<string>`", at: reader.at)
        }
        let start = reader.at
        let element = try type(&reader)
        if case .list = element { throw TextError("a list cannot contain lists", at: start) }
        guard reader.take(">") else {
            throw TextError(
                "expected `>` after the type of the items, which cannot have `?` or a default", at: reader.at)
        }
        let (min, max) = try lengths(&reader, limit: FieldType.maxListCount, "items")
        return .list(element, min: min, max: max)
    }
}

extension TextReader {
    /// Reads `(min..max)`, `(min..)`, or `(..max)` after the type `decimal`.
    ///
    /// Returns the canonical texts of the bounds, or nil for each bound that is left out.
    mutating func decimalBounds() throws(TextError) -> (min: String?, max: String?) {
        let start = at
        guard take("(") else { return (nil, nil) }
        let inside = run { $0 != UInt8(ascii: ")") }
        let points = Array("..".utf8)
        guard take(")"), inside.count > 2,
            let middle = inside.indices.first(where: { inside[$0...].starts(with: points) })
        else {
            throw TextError("expected bounds such as `(0..99.99)`, `(0.01..)`, or `(..9)`", at: start)
        }
        let min = try Self.decimalBound(inside[..<middle], at: start + 1)
        let max = try Self.decimalBound(inside[(middle + 2)...], at: start + middle + 3)
        if let min, let max, !FieldType.isInOrder(min, max) {
            throw TextError(
                "the lower bound \(min) is greater than the upper bound \(max)", at: start,
                suggestion: "write `(\(max)..\(min))`")
        }
        return (min, max)
    }

    private static func decimalBound(_ bytes: ArraySlice<UInt8>, at offset: Int) throws(TextError) -> String? {
        if bytes.isEmpty { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        guard let canonical = FieldType.decimal(min: nil, max: nil).canonicalText(text) else {
            throw TextError(
                "the bound `\(text)` is not a decimal number", at: offset,
                suggestion: "write a number such as `-0.5`, with at most \(TextForms.maxDecimalDigits) digits, without "
                    + "leading zeros and without an exponent")
        }
        return canonical
    }
}

extension FieldType {
    /// Returns a Boolean value that indicates whether a canonical decimal is within bounds.
    ///
    /// A missing or empty bound is none.
    static func isDecimal(_ number: ByteView, from min: ByteView?, to max: ByteView?) -> Bool {
        if let min, !min.isEmpty, TextForms.compareDecimals(number, min) < 0 { return false }
        if let max, !max.isEmpty, TextForms.compareDecimals(number, max) > 0 { return false }
        return true
    }

    /// Returns a Boolean value that indicates whether a canonical decimal is less than or equal to another one.
    static func isInOrder(_ min: String, _ max: String) -> Bool {
        Array(min.utf8).withUnsafeBufferPointer { isDecimal(ByteView($0), from: nil, to: max) }
    }

    /// Returns a Boolean value that indicates whether a canonical decimal is within the bounds of a table.
    static func isDecimal(_ number: ByteView, from min: String?, to max: String?) -> Bool {
        Array((min ?? "").utf8).withUnsafeBufferPointer { low in
            Array((max ?? "").utf8).withUnsafeBufferPointer { high in
                isDecimal(number, from: ByteView(low), to: ByteView(high))
            }
        }
    }
}
