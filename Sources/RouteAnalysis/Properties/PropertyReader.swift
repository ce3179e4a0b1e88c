package import LinkCoordinator
internal import StrictJSON

/// The properties of one file, which state what a table must never, or always, do.
package struct PropertyFile: Sendable {
    /// The maximum size of a file, in bytes.
    package static let maxBytes = 1 << 20
    /// The maximum number of properties of a file.
    package static let maxProperties = 1_000
    /// The maximum number of patterns of a property.
    package static let maxLinks = 64

    /// The properties, in the order of the file.
    package var properties: [RouteProperty]

    /// The objects of a file with their keys, which the schema and the reference list too.
    package static let keys: [(object: String, keys: [String])] = [
        ("file", ["schemaVersion", "table", "properties", "$schema"]),
        ("property", ["id", "text", "requests", "links", "when", "never", "always"]),
        ("result", ["outcome", "screens", "present", "in", "external", "otherExternal"]),
    ]

    /// Reads a file about a table.
    ///
    /// The file is nil if there are problems, which are all errors.
    package static func read(
        _ file: [UInt8], about table: RouteTable
    ) -> (file: PropertyFile?, problems: [TableProblem]) {
        var reader = PropertyReader(file, table.source)
        let properties = reader.properties()
        let problems = reader.base.problems.located(in: file)
        return (problems.isEmpty ? PropertyFile(properties: properties) : nil, problems)
    }

    /// Returns the id of the table that a file is about, or nil if it names none.
    package static func tableID(in file: [UInt8]) -> String? {
        guard file.count <= maxBytes else { return nil }
        return (try? JSONValue.parse(file, maxDepth: TableSource.maxFileDepth))?["table"]?.string
    }

    /// Returns an error for each property that is refuted, and a warning for each that is not proved.
    package func problems(_ verdicts: [PropertyVerdict], in file: [UInt8]) -> [TableProblem] {
        var problems = ProblemList()
        for (property, verdict) in zip(properties, verdicts) {
            switch verdict {
            case .proved: break
            case .refuted(let witness):
                problems.error(
                    .refuted, at: property.id.offset,
                    "the table breaks the property `\(property.id.value)`: \(witness.resultText)",
                    suggestion: property.text.map { "the property: \($0)" }, witness: witness.request.text,
                    device: witness.device.json)
            case .unproved(let gap):
                problems.warning(
                    .unproved, at: property.id.offset, "the property `\(property.id.value)` is not proved: \(gap)")
            }
        }
        return problems.located(in: file)
    }
}

/// Reads properties with the reader of tables.
private struct PropertyReader {
    var base: TableReader
    private let file: [UInt8]
    private let source: TableSource

    init(_ file: [UInt8], _ source: TableSource) {
        base = TableReader(file: file, about: source, advisor: TableHint.advise)
        self.file = file
        self.source = source
    }

    mutating func properties() -> [RouteProperty] {
        guard let value = parsed(),
            let all = base.object(
                value, "the file", keys: PropertyFile.keys[0].keys, required: ["schemaVersion", "table", "properties"])
        else { return [] }
        if let version = all["schemaVersion"] { _ = base.integer(version, "schemaVersion", in: 1...1) }
        if let id = all["table"].flatMap({ base.nonemptyText($0, "table") }), id.value != source.id.value {
            base.problems.error(
                .badValue, at: id.offset, "the properties are about the table `\(id.value)`, not `\(source.id.value)`")
        }
        let elements = all["properties"].flatMap { base.list($0, "properties") } ?? []
        if elements.count > PropertyFile.maxProperties {
            base.problems.error(
                .tooLarge, at: value.offset,
                "the file has \(elements.count) properties, the limit is \(PropertyFile.maxProperties)")
            return []
        }
        var seen = Set<String>()
        return elements.compactMap { element in
            guard let property = property(element) else { return nil }
            if !seen.insert(property.id.value).inserted {
                base.problems.error(
                    .duplicate, at: property.id.offset, "the property `\(property.id.value)` occurs twice")
            }
            return property
        }
    }

    private mutating func parsed() -> JSONValue? {
        guard file.count <= PropertyFile.maxBytes else {
            base.problems.error(
                .tooLarge, at: 0, "the file is larger than \(PropertyFile.maxBytes >> 20) MiB, the limit of properties")
            return nil
        }
        do throws(JSONError) {
            return try JSONValue.parse(file, maxDepth: TableSource.maxFileDepth)
        } catch {
            let isDuplicate = error.code == .duplicateName
            base.problems.error(
                isDuplicate ? .duplicate : .json, at: error.offset - (isDuplicate ? 1 : 0), error.text,
                hints: isDuplicate ? [] : [.json(error, file: file)])
            return nil
        }
    }

    private mutating func property(_ value: JSONValue) -> RouteProperty? {
        guard
            let members = base.object(value, "a property", keys: PropertyFile.keys[1].keys, required: ["id"]),
            let id = members["id"].flatMap({ base.nonemptyText($0, "id") })
        else { return nil }
        let text = members["text"].flatMap { base.nonemptyText($0, "text") }?.value
        base.replacesVars = true
        defer { base.replacesVars = false }
        guard
            let rule = base.onlyKey(of: ["never", "always"], in: members).flatMap(RouteProperty.Rule.init),
            let test = members[rule.rawValue].flatMap({ result($0, rule.rawValue) })
        else { return nil }
        base.name(id.value, at: id.offset, "a property", .path)
        var property = RouteProperty(id: id, rule: rule, result: test)
        property.text = text
        if let when = members["when"] { read(when, into: &property) }
        if let links = members["links"] { property.links = patterns(links) }
        if let requests = members["requests"] {
            property.forms = words(requests, "requests")
        } else if property.needsLink {
            property.forms = [.link, .payload]
        }
        if property.needsLink, !property.forms.isSubset(of: [.link, .payload]) {
            base.problems.error(
                .keyNotAllowed, at: members["requests"]?.offset ?? value.offset,
                "only a link has patterns and a query, so a property with `links` or `when.query` covers links and "
                    + "payloads", suggestion: "use `link` and `payload`")
        }
        return property
    }

    private mutating func read(_ when: JSONValue, into property: inout RouteProperty) {
        property.when = base.condition(when, beside: ["without"])
        property.withoutClaims = when["without"].map { base.textOrTexts($0, "without").map(\.value) } ?? []
        for name in property.when?.capabilities ?? []
        where !source.capabilities.contains(where: { $0.name.value == name.value }) {
            unknown(.unknownCapability, name, "capability", among: source.capabilities.map(\.name.value))
        }
    }

    private mutating func patterns(_ value: JSONValue) -> [TableSource.RoutePattern] {
        guard case .array(let elements) = value.kind else { return base.patterns(value, form: 0) }
        if elements.isEmpty || elements.count > PropertyFile.maxLinks {
            base.problems.error(
                .badValue, at: value.offset, "links must list 1 to \(PropertyFile.maxLinks) patterns")
            return []
        }
        return elements.enumerated().flatMap { index, element in base.patterns(element, form: index) }
    }

    /// Reads one word or a list of words.
    private mutating func words<Word: RawRepresentable & CaseIterable & Hashable>(
        _ value: JSONValue, _ what: String
    ) -> Set<Word> where Word.RawValue == String {
        var words = Set<Word>()
        for text in base.textOrTexts(value, what) {
            if let word = Word(rawValue: text.value) {
                words.insert(word)
            } else {
                base.badWord(text, what, Word.allCases.map(\.rawValue))
            }
        }
        return words
    }

    private mutating func result(_ value: JSONValue, _ what: String) -> ResultTest? {
        guard let members = base.object(value, what, keys: PropertyFile.keys[2].keys) else { return nil }
        var test = ResultTest()
        test.outcomes = members["outcome"].map { words($0, "outcome") }
        test.screens = members["screens"].map { value in
            base.textOrTexts(value, "screens").compactMap { screen($0) }
        }
        test.presents = members["present"].map { words($0, "present") }
        if let places = members["in"] {
            test.places = words(places, "in")
            if !test.namesScreens {
                base.problems.error(.keyNotAllowed, at: places.offset, "`in` requires `screens` or `present`")
            }
        }
        test.external = members["external"].map { origins($0, "external") }
        test.otherExternal = members["otherExternal"].map { origins($0, "otherExternal") }
        if test.outcomes == nil && !test.namesScreens && test.external == nil && test.otherExternal == nil {
            base.problems.error(
                .missingKey, at: value.offset, "\(what) needs a result",
                suggestion: "use `outcome`, `screens`, `present`, `external`, or `otherExternal`")
            return nil
        }
        return test
    }

    private mutating func origins(_ value: JSONValue, _ what: String) -> [OriginTest] {
        base.textOrTexts(value, what).compactMap { text in
            guard let end = text.value.firstRange(of: "://") else {
                return base.hostRule(text).map { OriginTest(scheme: nil, host: $0) }
            }
            let scheme = text.value[..<end.lowerBound].lowercased()
            let host = Located(String(text.value[end.upperBound...]), at: text.offset)
            return base.hostRule(host).map { OriginTest(scheme: scheme, host: $0) }
        }
    }

    /// Reads `COORDINATOR.SCREEN`, or `COORDINATOR.*` for every screen.
    private mutating func screen(_ text: Located<String>) -> ScreenTest? {
        // Names can contain a period, so every one of them can be the separator.
        let name = text.value
        for index in name.indices where name[index] == "." {
            let rest = String(name[name.index(after: index)...])
            let own = String(name[..<index])
            guard let coordinator = source.coordinators.first(where: { $0.name.value == own }) else { continue }
            if rest == "*" { return ScreenTest(coordinator: own, screen: nil) }
            if coordinator.screen(named: rest) != nil { return ScreenTest(coordinator: own, screen: rest) }
        }
        let all = source.coordinators.flatMap { coordinator in
            ["\(coordinator.name.value).*"] + coordinator.screens.map { "\(coordinator.name.value).\($0.name.value)" }
        }
        unknown(.unknownScreen, text, "screen", among: all)
        return nil
    }

    private mutating func unknown(
        _ code: TableProblem.Code, _ name: Located<String>, _ what: String, among known: [String]
    ) {
        base.problems.error(
            code, at: name.offset, "the table has no \(what) `\(name.value)`",
            suggestion: "use a name of the table", hints: [.reference(name.value, declared: known)])
    }
}
