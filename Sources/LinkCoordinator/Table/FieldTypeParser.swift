internal import StrictJSON

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
                suggestion: likely(name.lowercased(), reader) ?? NearestName.of(name, among: names).map {
                    "did you mean `\($0)`?"
                }
                    ?? "use \(names.map { "`\($0)`" }.joined(separator: ", "))")
        }
    }

    /// Returns a suggestion for a type name of another format.
    private static func likely(_ name: String, _ reader: TextReader) -> String? {
        switch name {
        case "integer", "long", "short": return "write `int`"
        case "number": return "write `int` for a whole number, or `decimal` for any other"
        case "boolean": return "write `bool`"
        case "guid": return "write `uuid`"
        case "str", "text", "char", "varchar": return "write `string`"
        case "float", "real": return "write `double`"
        case "money", "currency", "price", "amount", "numeric", "bigdecimal": return "write `decimal`"
        case "timestamp", "timestamptz", "instant": return "write `datetime`"
        case "time": return "write `datetime` for a date and time, or `string` for a time without a date"
        case "day": return "write `date`"
        case "array", "set": return "write `list<string>`"
        case "uri", "link": return "write `url(host in a.example)`"
        case "object", "dict", "map", "json": return "a field is a single value; declare a model for each object"
        case "optional", "nullable": return "write `?` after the type"
        case "" where reader.next == UInt8(ascii: "["): return "write `list<string>`"
        case "" where reader.next == UInt8(ascii: "?"): return "write `?` after the type"
        default: return nil
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
