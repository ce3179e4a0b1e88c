internal import ByteStorage

/// Writes the parts of a link in the dialect of one link block.
///
/// See RouteTableReference, "Normalization".
struct LinkText {
    let block: TableSource.LinkBlock
    let foldsCase: Bool

    /// Percent-encodes all bytes except unreserved characters (RFC 3986, section 2.3).
    static func encode(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if PercentDecoding.isUnreserved(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns a Boolean value that indicates whether a text can be a decoded segment.
    ///
    /// See RouteTableReference, "Path segments".
    static func isSegment(_ text: String) -> Bool {
        if text.isEmpty || text == "." || text == ".." { return false }
        return text.isClean(invisiblesAllowed: false)
    }

    /// Returns the segments of a pattern with the values of its captures.
    func segments(
        of pattern: Pattern, _ arguments: LinkArguments, isCoordinator: (String) -> Bool
    ) throws(LinkError) -> [String] {
        var segments: [String] = []
        for (index, matcher) in pattern.matchers.enumerated() where !matcher.isTerminal {
            if case .literal(let text) = matcher {
                segments.append(String(decoding: text, as: UTF8.self))
                continue
            }
            guard let capture = pattern.captures.first(where: { $0.segment == index && !$0.isTail }) else { continue }
            let position = "path.\(capture.name)"
            guard let values = arguments.captures[capture.name] else {
                throw LinkError(.missing, position, matcher.name)
            }
            guard values.count == 1 else { throw LinkError(.value, position, matcher.name) }
            do throws(LinkError) {
                segments.append(try segment(matcher, values[0], position))
            } catch {
                guard let other = arguments.spellings[capture.name] else { throw error }
                segments.append(try segment(matcher, other, position))
            }
        }
        return try segments + tail(of: pattern, arguments, isCoordinator: isCoordinator)
    }

    /// Returns a segment that consists of the matcher's affixes and the captured text between them.
    private func segment(_ matcher: Matcher, _ value: String, _ position: String) throws(LinkError) -> String {
        var text = value
        if case .affix(let prefix, _, let suffix) = matcher {
            text = String(decoding: prefix, as: UTF8.self) + value + String(decoding: suffix, as: UTF8.self)
        }
        let fits = Array(text.utf8).withUnsafeBufferPointer { matcher.matches(ByteView($0), foldsCase: foldsCase) }
        guard fits, !value.isEmpty, Self.isSegment(text) else { throw LinkError(.value, position, matcher.name) }
        return text
    }

    private func tail(
        of pattern: Pattern, _ arguments: LinkArguments, isCoordinator: (String) -> Bool
    ) throws(LinkError) -> [String] {
        let terminal = pattern.matchers[pattern.segmentCount]
        if case .anySegment(let text) = terminal { return [String(decoding: text, as: UTF8.self)] }
        guard let capture = pattern.captures.first(where: \.isTail) else { return [] }
        let position = "path.\(capture.name)"
        let texts = arguments.captures[capture.name] ?? []
        if texts.isEmpty {
            if terminal == .restStar { return [] }
            throw LinkError(.missing, position, terminal.name)
        }
        let begins = terminal != .coordinatorPath || isCoordinator(texts[0])
        guard begins, texts.allSatisfy(Self.isSegment) else { throw LinkError(.value, position, terminal.name) }
        // If empty segments have a meaning, a tail is written as it was given.
        return block.emptySegments == .reset ? arguments.paths[capture.name] ?? texts : texts
    }

    /// Returns a path with the segments that rewrites remove again.
    ///
    /// These are the values that the route binds from rewrites. If a rewrite would remove segments of the path itself,
    /// those segments are repeated.
    func prefixed(_ own: [String], _ arguments: LinkArguments) throws(LinkError) -> [String] {
        var unusedRewrites = arguments.rewrites
        let values = block.rewrites.map { rule in rule.name.flatMap { unusedRewrites.removeValue(forKey: $0) } }
        if let name = unusedRewrites.keys.min() {
            throw LinkError(.unwritable, "rewrite.\(name)", "a rewrite with this name for the scheme of the link")
        }
        var path = own
        // The last rule removes its segments last, so its segments are next to the path.
        for (rule, value) in zip(block.rewrites, values).reversed() {
            if let value {
                path = try segments(of: rule, value) + path
            } else if rule.matches(path, foldsCase: foldsCase) {
                path = path.prefix(rule.segmentCount) + path
            }
        }
        return path
    }

    /// Returns the segments from which a rewrite captures the value.
    private func segments(of rule: TableSource.Rewrite, _ value: String) throws(LinkError) -> [String] {
        var segments: [String] = []
        for matcher in rule.pattern.matchers where !matcher.isTerminal {
            if case .literal(let text) = matcher {
                segments.append(String(decoding: text, as: UTF8.self))
            } else {
                segments.append(try segment(matcher, value, "rewrite.\(rule.name ?? "")"))
            }
        }
        return segments
    }
}

extension TableSource.Rewrite {
    /// Returns a Boolean value that indicates whether the rule removes the first segments of a path.
    fileprivate func matches(_ path: [String], foldsCase: Bool) -> Bool {
        guard path.count >= segmentCount else { return false }
        return zip(pattern.matchers.prefix(segmentCount), path).allSatisfy { matcher, segment in
            Array(segment.utf8).withUnsafeBufferPointer { matcher.matches(ByteView($0), foldsCase: foldsCase) }
        }
    }
}

/// The canonical texts of a field's value, and the value that they are read back as.
///
/// See RouteTableReference, "Canonical forms".
struct FieldTexts {
    let field: TableSource.Field
    /// The field's name in errors: `Model.field`.
    let position: String

    init(_ field: TableSource.Field, of model: String) {
        self.field = field
        position = "\(model).\(field.name.value)"
    }

    /// The type of a single text.
    ///
    /// For a list, this is the type of its items.
    var itemType: FieldType {
        if case .list(let element, _, _) = field.type { element } else { field.type }
    }

    /// Returns the texts of a value: none for null or an empty list.
    func texts(_ value: ModelValue) throws(LinkError) -> [String] {
        if value == .null { return [] }
        guard case .list(_, let min, let max) = field.type else {
            guard let text = Self.text(value, field.type) else { throw LinkError(.value, position, field.type.text) }
            return [text]
        }
        guard case .list(let items) = value else { throw LinkError(.value, position, field.type.text) }
        if items.isEmpty { return [] }
        var texts: [String] = []
        for item in items {
            guard let text = Self.text(item, itemType) else { throw LinkError(.value, position, field.type.text) }
            texts.append(text)
        }
        guard items.count >= min, items.count <= max else { throw LinkError(.value, position, field.type.text) }
        return texts
    }

    /// Returns the canonical text of a value, or nil if the value is not of the type.
    private static func text(_ value: ModelValue, _ type: FieldType) -> String? {
        switch (value, type) {
        case (.bool, .bool), (.number, .int), (.number, .double), (.number, .decimal): break
        case (.text, .uuid), (.text, .string), (.text, .date), (.text, .enumeration), (.text, .url): break
        // A text has all digits of a decimal, unlike a floating-point literal.
        case (.text, .decimal), (.text, .dateTime): break
        default: return nil
        }
        return value.text.flatMap { type.canonicalText(nfc($0)) }
    }

    /// Returns the texts for a position in the link that this field shares with another one, or nil if the two fields
    /// need different texts.
    ///
    /// A UUID and the letters of a date and time are read as uppercase however they are written, and a Boolean value
    /// may be a digit. In these cases, the other field's spelling works for both.
    func agreeing(_ texts: [String], with other: [String]?) -> [String]? {
        guard let other, other != texts else { return texts }
        if field.type == .bool, other.count == 1, other[0] == otherSpelling(of: texts) { return other }
        guard texts.count == other.count, zip(texts, other).allSatisfy({ $0.equalsFolded($1) }) else { return nil }
        return itemType == .uuid || itemType == .dateTime ? other : texts
    }

    /// Returns another spelling of a single value that is read as the same value: `1` or `0`, or a lowercase UUID.
    func otherSpelling(of texts: [String]) -> String? {
        guard texts.count == 1 else { return nil }
        switch field.type {
        case .bool: return texts[0] == "true" ? "1" : "0"
        case .uuid: return texts[0].lowercased()
        default: return nil
        }
    }

    /// Returns the value that canonical texts are read as.
    ///
    /// There must be at least one text.
    func canonical(_ texts: [String]) -> ModelValue {
        if case .list = field.type { return .list(texts.map(itemType.value)) }
        return itemType.value(of: texts[0])
    }
}

extension TableSource.Field {
    /// The value of the field if nothing is bound to it.
    ///
    /// It is null for a required field.
    var absentValue: ModelValue {
        switch absence {
        case .required, .null: .null
        case .emptyList: .list([])
        case .value(let text): type.value(of: text)
        }
    }
}

extension FieldType {
    /// Returns the value that a canonical text represents.
    func value(of text: String) -> ModelValue {
        switch self {
        case .bool: .bool(text == "true")
        case .int, .double, .decimal: .number(text)
        default: .text(text)
        }
    }
}

/// Segments before and after the segment of an `anySegment` pattern, so that no more specific pattern matches the path.
package struct AnySegmentFillers {
    private let before: Int
    private let after: Int

    /// The text of a segment that has no meaning.
    private static let text = "any"

    /// Returns the fillers to try for a pattern, none first, and only none for a pattern without `anySegment`.
    package static func all(of pattern: Pattern) -> [AnySegmentFillers] {
        guard case .anySegment = pattern.matchers[pattern.segmentCount] else {
            return [AnySegmentFillers(before: 0, after: 0)]
        }
        return [(0, 0), (1, 0), (0, 1), (2, 0), (0, 2), (4, 0)].map { AnySegmentFillers(before: $0, after: $1) }
    }

    /// Returns the segments of a path with the fillers around them.
    package func around(_ segments: [String]) -> [String] {
        Array(repeating: Self.text, count: before) + segments + Array(repeating: Self.text, count: after)
    }
}

extension String {
    /// Returns a Boolean value that indicates whether a decoded text is allowed in a link.
    ///
    /// See RouteTableReference, "Path segments".
    func isClean(invisiblesAllowed: Bool) -> Bool {
        Array(utf8).withUnsafeBufferPointer {
            PercentDecoding.isClean(ByteView($0), invisiblesAllowed: invisiblesAllowed)
        }
    }

    /// Returns a Boolean value that indicates whether both texts are equal if the case of ASCII letters is ignored.
    package func equalsFolded(_ other: String) -> Bool { utf8.map(lowerASCII) == other.utf8.map(lowerASCII) }
}

// Writes the query of a link in the dialect of its link block.
// See RouteTableReference, "Query".
extension LinkText {
    /// Returns the query with its `?`, or an empty text.
    ///
    /// - Parameters:
    ///   - arguments: The values of the link.
    ///   - constraints: The query constraints of the route.
    ///   - markers: The names to add without a value.
    /// - Returns: The query.
    /// - Throws: A `LinkError` if a value conflicts with a constraint or cannot be encoded.
    func query(
        _ arguments: LinkArguments, _ constraints: [TableSource.QueryConstraint], markers: [String]
    ) throws(LinkError) -> String {
        var items: [String] = []
        var written: [String] = []
        for constraint in constraints {
            let name = constraint.name.value
            let bound = arguments.query.first { same($0.name, name) }?.texts
            switch constraint.test {
            case .absent:
                if bound != nil {
                    throw LinkError(
                        .conflict, "query.\(name)", "no value, because the route requires the name to be absent")
                }
            case .present:
                if bound == nil { items.append(try encoded(name, of: name, isName: true)) }
            case .equals(let value):
                if let bound, bound != [value] {
                    throw LinkError(.conflict, "query.\(name)", "the value that the route requires")
                }
                written.append(name)
                items.append(try item(name, value))
            }
        }
        for (name, texts) in arguments.query where !written.contains(where: { same($0, name) }) {
            if block.query.flatten && texts.count > 1 {
                throw LinkError(
                    .unwritable, "query.\(name)", "at most one item, because a name has a single value (flatten)")
            }
            for text in texts { items.append(try item(name, text)) }
        }
        for name in markers { items.append(try encoded(name, of: name, isName: true)) }
        let separator = String(decoding: block.query.pairSeparators.prefix(1), as: UTF8.self)
        return items.isEmpty ? "" : "?" + items.joined(separator: separator)
    }

    /// Returns the names that another route requires to be absent, and that this link can contain without changing its
    /// own values.
    func markers(
        against other: [TableSource.QueryConstraint], _ arguments: LinkArguments,
        _ constraints: [TableSource.QueryConstraint]
    ) -> [String] {
        other.filter { $0.test == .absent }.map(\.name.value).filter { name in
            !constraints.contains { same($0.name.value, name) } && !arguments.query.contains { same($0.name, name) }
        }
    }

    private func same(_ a: String, _ b: String) -> Bool {
        block.query.names == .insensitive ? a.equalsFolded(b) : a.utf8.elementsEqual(b.utf8)
    }

    private func item(_ name: String, _ value: String) throws(LinkError) -> String {
        if block.query.flatten && value.isEmpty {
            throw LinkError(.unwritable, "query.\(name)", "a nonempty value (flatten)")
        }
        return try encoded(name, of: name, isName: true) + "=" + encoded(value, of: name, isName: false)
    }

    /// Returns a name or value in the encoding that the dialect decodes to the same text.
    private func encoded(_ text: String, of name: String, isName: Bool) throws(LinkError) -> String {
        guard text.isClean(invisiblesAllowed: true), !(isName && text.isEmpty) else {
            throw LinkError(.unwritable, "query.\(name)", "text without control characters")
        }
        switch block.query.decode {
        case .once: return Self.encode(text)
        case .before: return Self.encode(Self.encode(text))
        case .none:
            var marks = block.query.pairSeparators + [UInt8(ascii: "#"), UInt8(ascii: "\\")]
            if isName || block.query.flatten { marks.append(UInt8(ascii: "=")) }
            guard !text.utf8.contains(where: marks.contains) else {
                throw LinkError(
                    .unwritable, "query.\(name)",
                    "text without `#`, `\\`, and separators, because the query is not decoded")
            }
            return text
        }
    }
}

// The values that the last resolution bound, for comparison with the values that were written into a link.
extension Resolver {
    /// Returns the value of a field in the route's own scope, or the default of a missing value.
    package mutating func boundValue(_ number: Int) -> ModelValue {
        let field = tableData.fields.at(number)
        let value = values[number]
        guard value.stamp == values.stamp, !value.state.isAbsent else { return absentValue(field) }
        guard value.state == .list else { return modelValue(value, field.kind) }
        let kind = field.item
        var list: [ModelValue] = []
        for index in 0..<Int(value.count) { list.append(modelValue(values.items[Int(value.first) + index], kind)) }
        return .list(list)
    }

    private mutating func absentValue(_ field: Ref<CompiledField>) -> ModelValue {
        switch field.absence {
        case .required, .null: .null
        case .emptyList: .list([])
        case .value: modelValue(text: field.absentText.string, field.kind)
        }
    }

    private mutating func modelValue(_ value: BoundValue, _ kind: CompiledField.Kind) -> ModelValue {
        modelValue(text: value.state == .uuid ? value.view.string.uppercased() : value.view.string, kind)
    }

    private mutating func modelValue(text: String, _ kind: CompiledField.Kind) -> ModelValue {
        switch kind {
        case .bool: .bool(text == "true")
        case .int, .double, .decimal: .number(text)
        default: .text(text)
        }
    }

    /// Returns the text of a capture of the selected pattern, or the segments of a tail.
    ///
    /// Returns nil if there is no such capture.
    package mutating func capturedTexts(_ name: String) -> [String]? {
        guard let number = tableData.names.firstIndex(where: { $0.string == name }) else { return nil }
        guard let first = tail(Int32(number)) else { return capture(Int32(number)).map { [$0.string] } }
        var texts: [String] = []
        for index in first..<max(first, path.count) { texts.append(path[index].text.string) }
        return texts
    }

    /// Selects and binds without composing a stack, so it does not matter what the device supports.
    mutating func readBack(
        _ request: UnsafePointer<RequestView>, _ device: UnsafePointer<DeviceView>, table: TableHandle
    ) throws(Rejection) {
        start(request, device, table: table)
        let selection = try select(normalize(request.pointee.text))
        if let route = selection.route, route.action == .variants { try bindRoute(route) }
    }

    /// Returns the difference between the last resolution and the given route with these values, or nil if there is
    /// none.
    mutating func difference(from route: Int, _ arguments: LinkArguments) -> LinkError.Difference? {
        guard let selected = selection.route else { return .noRoute }
        if tableData.number(of: selected) != route || !via.isEmpty { return .route(selected.id.string) }
        for (number, value) in arguments.expected where boundValue(number) != value {
            let field = tableData.fields.at(number)
            return .field("\(field.modelName.string).\(field.name.string)")
        }
        for (name, texts) in arguments.free where capturedTexts(name) ?? [] != texts && rawText(name) != texts {
            return .capture(name)
        }
        return nil
    }

    /// Returns the text of a capture as written in the link, if it is written in another form than the canonical one.
    private mutating func rawText(_ name: String) -> [String]? {
        guard let number = tableData.names.firstIndex(where: { $0.string == name }) else { return nil }
        return captureSlice(Int32(number)).map { [$0.string] }
    }
}
