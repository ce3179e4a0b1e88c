package import LinkCoordinator

/// A Swift enum for a table, with a case for each route and a function that creates the link.
///
/// Routes that redirect or are excluded are omitted, because no new links to them should be created. The file depends
/// only on Foundation.
package struct SwiftLinks {
    private let table: RouteTable
    private let typeName: String
    private var names: SwiftNames
    private var enumerations: SwiftEnumerations
    private var cases: [Case] = []
    /// Notes about the parts of the table that the enum omits.
    package private(set) var notes = ExportNotes()

    /// A case of the enum.
    private struct Case {
        var name: String
        var route: TableSource.Route
        var pattern: TableSource.RoutePattern
        var origin: LinkOrigin
        var parameters: [Parameter] = []
        /// The statements that add the parts to `link`.
        var body: [String] = []
    }

    private struct Parameter {
        var name: String
        var type: String
        var isOptional = false
        /// A Boolean value that indicates whether all parameters can be omitted.
        var isEmptyByDefault = false
        /// A description of the parameter, for the comment.
        var words: String
    }

    /// Creates the enum; by default its name is derived from the table's id.
    package init(_ table: RouteTable, typeName: String?) {
        self.table = table
        self.typeName = typeName ?? SwiftNames.camel(table.id, upper: true) + "Link"
        names = SwiftNames(reserving: ["link", "route", "table"])
        enumerations = SwiftEnumerations(reserving: [
            "String", "Int", "Bool", "Double", "UUID", "LinkText", self.typeName,
        ])
        for route in table.source.routes { add(route) }
    }

    private mutating func add(_ route: TableSource.Route) {
        let id = route.id.value
        if case .redirect = route.action { return notes.add("route \(id) redirects: it has no case") }
        if case .exclude = route.action { return notes.add("route \(id) is excluded: it has no case") }
        let fuller = route.patterns.first { !$0.leavesOptionalOut }
        guard let pattern = fuller,
            let origin = LinkOrigin(table.source, scheme: pattern.scheme, host: pattern.host)
        else { return notes.add("route \(id) has no pattern: it has no case") }
        var one = Case(name: names.next(id), route: route, pattern: pattern, origin: origin)
        var labels = SwiftNames(reserving: ["origin", "link"])
        addSegments(&one, &labels)
        addQuery(&one, &labels)
        cases.append(one)
    }

    private mutating func addSegments(_ one: inout Case, _ labels: inout SwiftNames) {
        let path = one.pattern.path
        let isOptional = one.route.patterns.contains { $0.form == one.pattern.form && $0.leavesOptionalOut }
        for (index, matcher) in path.matchers.enumerated() {
            let capture = path.captures.first { $0.segment == index }
            guard let capture else {
                if case .literal(let text) = matcher { one.body.append("link.segment(\(Self.literal(text)))") }
                if case .enumeration(let values) = matcher {
                    one.body.append("link.segment(\(Self.literal(values[0])))")
                }
                if case .anySegment(let text) = matcher { one.body.append("link.segment(\(Self.literal(text)))") }
                continue
            }
            let label = labels.next(capture.name)
            let words = bound(capture.name, one.route).map { "`\($0.name)`" } ?? "captured"
            if capture.isTail {
                one.parameters.append(
                    Parameter(name: label, type: "[String]", isEmptyByDefault: matcher == .restStar, words: words))
                one.body.append(tail(matcher, label))
                continue
            }
            let isLast = isOptional && index == path.segmentCount - 1
            let value = SwiftValue.capture(
                capture, bound: bound(capture.name, one.route)?.type, enumerations: &enumerations)
            one.parameters.append(Parameter(name: label, type: value.type, isOptional: isLast, words: words))
            var text = SwiftValue.put(SwiftNames.code(label), into: value.text)
            if case .affix(let prefix, _, let suffix) = matcher {
                if !prefix.isEmpty { text = "\(Self.literal(prefix)) + \(text)" }
                if !suffix.isEmpty { text = "\(text) + \(Self.literal(suffix))" }
            }
            let check = value.check.map { ", if: " + SwiftValue.put(SwiftNames.code(label), into: $0) } ?? ""
            let call = "link.segment(\(text)\(check))"
            one.body.append(isLast ? "if let \(SwiftNames.code(label)) { \(call) }" : call)
        }
    }

    private func tail(_ matcher: Matcher, _ label: String) -> String {
        let name = SwiftNames.code(label)
        switch matcher {
        case .restPlus: return "link.tail(\(name), if: !\(name).isEmpty)"
        case .coordinatorPath:
            let list = table.source.coordinators.map { SwiftNames.literal($0.name.value) }.joined(separator: ", ")
            return "link.tail(\(name), if: [\(list)].contains(\(name).first ?? \"\"))"
        default: return "link.tail(\(name))"
        }
    }

    private mutating func addQuery(_ one: inout Case, _ labels: inout SwiftNames) {
        var named: Set<String> = []
        for constraint in one.route.query {
            switch constraint.test {
            case .equals(let value):
                named.insert(constraint.name.value)
                one.body.append("link.item(\(SwiftNames.literal(constraint.name.value)), \(SwiftNames.literal(value)))")
            case .absent: named.insert(constraint.name.value)
            case .present: continue
            }
        }
        for binding in one.route.bindings {
            guard
                let field = table.source.models.first(where: { $0.name == binding.model })?
                    .field(named: binding.field.value)
            else { continue }
            let words = "`\(binding.model.value).\(binding.field.value)`"
            switch binding.source.value {
            case .query(let name) where named.insert(name).inserted:
                addField(field, words, &one, &labels) { text, check in
                    "link.item(\(SwiftNames.literal(name)), \(text)\(check))"
                }
            case .fragment:
                addField(field, words, &one, &labels) { text, check in "link.fragment(\(text)\(check))" }
            default: continue
            }
        }
        for constraint in one.route.query where constraint.test == .present && !named.contains(constraint.name.value) {
            one.body.append("link.item(\(SwiftNames.literal(constraint.name.value)), nil)")
        }
    }

    private mutating func addField(
        _ field: TableSource.Field, _ words: String, _ one: inout Case, _ labels: inout SwiftNames,
        call: (_ text: String, _ check: String) -> String
    ) {
        let value = SwiftValue.field(field.type, enumerations: &enumerations, name: field.name.value)
        let label = labels.next(field.name.value)
        let name = SwiftNames.code(label)
        let check = { (item: String) in value.check.map { ", if: " + SwiftValue.put(item, into: $0) } ?? "" }
        if case .list(_, let min, let max) = field.type {
            one.parameters.append(
                Parameter(name: label, type: "[\(value.type)]", isEmptyByDefault: min == 0, words: words))
            one.body.append("link.check((\(min)...\(max)).contains(\(name).count))")
            one.body.append(
                "for item in \(name) { \(call(SwiftValue.put("item", into: value.text), check("item"))) }")
            return
        }
        let isOptional = field.absence != .required
        one.parameters.append(Parameter(name: label, type: value.type, isOptional: isOptional, words: words))
        let line = call(SwiftValue.put(name, into: value.text), check(name))
        one.body.append(isOptional ? "if let \(name) { \(line) }" : line)
    }

    private func bound(_ capture: String, _ route: TableSource.Route) -> (name: String, type: FieldType)? {
        for binding in route.bindings {
            guard case .path(capture) = binding.source.value,
                let field = table.source.models.first(where: { $0.name == binding.model })?
                    .field(named: binding.field.value)
            else { continue }
            return ("\(binding.model.value).\(binding.field.value)", field.type)
        }
        return nil
    }

    private static func literal(_ text: [UInt8]) -> String { SwiftNames.literal(String(decoding: text, as: UTF8.self)) }
}

// MARK: - The file

extension SwiftLinks {
    /// The text of the file.
    package var text: String {
        var lines = [
            "// Links of \(Escaping.visible(table.identity)).",
            "// Generated by `linkd routes export --format swift`; do not edit.",
            "import Foundation", "",
            "/// A link of the table `\(table.id)`, by its route.",
            "public enum \(typeName): Sendable, Hashable {",
        ]
        for one in cases {
            lines.append("    /// `\(Escaping.visible(one.pattern.path.text))`")
            for parameter in one.parameters { lines.append("    /// - \(parameter.name): \(parameter.words)") }
            let parameters = one.parameters.map { parameter in
                "\(SwiftNames.code(parameter.name)): \(parameter.type)"
                    + (parameter.isOptional ? "? = nil" : parameter.isEmptyByDefault ? " = []" : "")
            }
            lines.append(
                "    case \(SwiftNames.code(one.name))"
                    + (parameters.isEmpty ? "" : "(" + parameters.joined(separator: ", ") + ")"))
        }
        lines += enumerations.lines
        lines += ["", "    /// The id of the route.", "    public var route: String {"]
        lines += switchLines { one in ["return \(SwiftNames.literal(one.route.id.value))"] }
        lines += [
            "    }", "", "    /// The link, or nil if the table does not accept a value.", "    ///",
            "    /// - Parameter origin: The start of the link, such as `https://www.example.com/`; by default, a",
            "    ///   scheme and host of the table.",
            "    public func link(origin: String? = nil) -> String? {",
        ]
        lines += switchLines(binding: true) { one in
            let start = one.origin.host.map { "\(one.origin.scheme)://\($0)/" } ?? "\(one.origin.scheme)://"
            let word = one.body.isEmpty ? "let" : "var"
            let begin = "origin ?? \(SwiftNames.literal(start)), \(Self.dialect(one.origin.block))"
            return ["\(word) link = LinkText(\(begin))"] + one.body + ["return link.text"]
        }
        lines += ["    }", "}", "", Self.helper]
        return lines.joined(separator: "\n") + "\n"
    }

    private func switchLines(binding: Bool = false, _ body: (Case) -> [String]) -> [String] {
        // A table without routes still produces a file that compiles.
        guard !cases.isEmpty else { return ["        switch self {}"] }
        return ["        switch self {"]
            + cases.flatMap { one -> [String] in
                let values = one.parameters.map { "let \(SwiftNames.code($0.name))" }.joined(separator: ", ")
                let bound = binding && !values.isEmpty ? "(\(values))" : ""
                return ["        case .\(SwiftNames.code(one.name))\(bound):"] + body(one).map { "            " + $0 }
            } + ["        }"]
    }

    /// Returns the block's query syntax.
    private static func dialect(_ block: TableSource.LinkBlock) -> String {
        let separator = String(decoding: block.query.pairSeparators.prefix(1), as: UTF8.self)
        let times =
            switch block.query.decode {
            case .once: 1
            case .none: 0
            case .before: 2
            }
        return "separator: \(SwiftNames.literal(separator)), encoding: \(times)"
    }

    private static let helper = #"""
        /// Builds a link from percent-encoded texts; the result is nil if a value is invalid.
        private struct LinkText {
            private let origin: String
            private let separator: String
            private let encoding: Int
            private var segments: [String] = []
            private var items: [String] = []
            private var end = ""
            private var isValid = true

            init(_ origin: String, separator: String, encoding: Int) {
                self.origin = origin
                self.separator = separator
                self.encoding = encoding
            }

            mutating func check(_ holds: Bool) { isValid = isValid && holds }

            mutating func segment(_ text: String, if holds: Bool = true) {
                check(holds && !text.isEmpty && text != "." && text != "..")
                segments.append(Self.encode(text))
            }

            mutating func tail(_ texts: [String], if holds: Bool = true) {
                check(holds)
                for text in texts { segment(text) }
            }

            mutating func item(_ name: String, _ value: String?, if holds: Bool = true) {
                check(holds)
                items.append(encoded(name) + (value.map { "=" + encoded($0) } ?? ""))
            }

            mutating func fragment(_ text: String, if holds: Bool = true) {
                check(holds)
                end = "#" + Self.encode(text)
            }

            var text: String? {
                guard isValid else { return nil }
                let path = segments.isEmpty && origin.hasSuffix("://") ? "/" : segments.joined(separator: "/")
                return origin + path + (items.isEmpty ? "" : "?" + items.joined(separator: separator)) + end
            }

            private mutating func encoded(_ text: String) -> String {
                if encoding == 0 { check(text.utf8.allSatisfy { Self.isUnreserved($0) || $0 == UInt8(ascii: ":") }) }
                return (0..<encoding).reduce(text) { done, _ in Self.encode(done) }
            }

            private static func encode(_ text: String) -> String {
                var result = ""
                for byte in text.utf8 {
                    if isUnreserved(byte) {
                        result.unicodeScalars.append(Unicode.Scalar(byte))
                    } else {
                        let digits = String(byte, radix: 16, uppercase: true)
                        result += "%" + (digits.count < 2 ? "0" : "") + digits
                    }
                }
                return result
            }

            private static func isUnreserved(_ byte: UInt8) -> Bool {
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"): true
                default: "-._~".utf8.contains(byte)
                }
            }

            static func isMade(_ text: String, of characters: String) -> Bool {
                text.unicodeScalars.allSatisfy(characters.unicodeScalars.contains)
            }

            static func isDate(_ text: String) -> Bool {
                let digits = Array(text.utf8)
                guard digits.count == 10, digits[4] == UInt8(ascii: "-"), digits[7] == UInt8(ascii: "-"),
                    let year = Int(text.prefix(4)), let month = Int(text.dropFirst(5).prefix(2)),
                    let day = Int(text.suffix(2)), year >= 0, (1...12).contains(month)
                else { return false }
                let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
                let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
                return (1...days[month - 1]).contains(day)
            }

            static func isDecimal(_ value: Double) -> Bool {
                let text = String(value)
                let digits = text.filter(\.isNumber).drop { $0 == "0" }
                return value.isFinite && !text.contains("e") && digits.count <= 15
            }
        }
        """#
}
