package import LinkCoordinator
internal import StrictJSON

/// Apple's `apple-app-site-association` file for a table, which lists the links of a site that open the app.
///
/// The first component that matches a link decides, so exclusions come before the links that open the app. Except for
/// the links that notes name, a component matches at least the links of its pattern, and its comment states whether it
/// matches others. A link that selects a route of the app is never excluded.
package struct AppleAssociation {
    /// A member of `components`.
    struct Component {
        var path: String
        /// The items of the query by name.
        var query: [(name: String, value: String)] = []
        var isExcluded = false
        var comment: String

        /// The properties that identify a component: all except the comment.
        fileprivate var key: [String] { [path, isExcluded ? "-" : "+"] + query.flatMap { [$0.name, $0.value] } }
    }

    /// The components in order.
    private(set) var components: [Component] = []
    /// The variables that they refer to.
    private(set) var variables: [(name: String, values: [String])] = []
    /// A Boolean value that indicates whether paths are case-sensitive.
    let caseSensitive: Bool
    /// Notes about the parts of the table that the file cannot express.
    package private(set) var notes = ExportNotes()

    private var seen: Set<[String]> = []
    private var patternVariables = AppleVariables()

    private struct Entry {
        var shape: LinkShape
        var pattern: ApplePattern
        var query: [(name: String, value: String)] = []
        var glob: Glob?
    }

    /// Creates the association of one host, or of all hosts of the table.
    ///
    /// Returns nil if the table has no web links.
    package init?(_ table: RouteTable, host: String?) {
        guard let (block, schemes) = WebBlock.first(table.source) else { return nil }
        caseSensitive = !table.source.foldsPathCase
        let hostBytes = host.map { Array($0.utf8) }
        var maker = ApplePatternMaker(coordinators: table.source.coordinators.map(\.name.value))
        var entries: [Entry] = []
        for shape in LinkShape.all(table.source, block: block) {
            if let scheme = shape.scheme, !schemes.contains(scheme) { continue }
            if let hostBytes, let rule = shape.host, !rule.matches(host: hostBytes, port: nil) { continue }
            for var pattern in maker.patterns(shape) {
                if host == nil, let rule = shape.host, rule != .any {
                    pattern.additionalMatches = "links of other hosts than \(rule.text)"
                }
                var query: [(name: String, value: String)] = []
                for constraint in shape.query {
                    guard caseSensitive, let item = maker.query(constraint) else {
                        pattern.additionalMatches = pattern.additionalMatches ?? "any query"
                        continue
                    }
                    query.append((item.name, item.value))
                    if item.alsoMatchesEmpty {
                        pattern.additionalMatches = pattern.additionalMatches ?? "an empty \(item.name) in the query"
                    }
                }
                entries.append(Entry(shape: shape, pattern: pattern, query: query))
            }
        }
        variables = maker.variables
        patternVariables.own = Dictionary(uniqueKeysWithValues: variables.map { ($0.name, $0.values) })
        for index in entries.indices { entries[index].glob = glob(entries[index].pattern.path) }
        let openingPatterns = GlobIndex(entries.map { $0.shape.isExcluded ? nil : $0.glob })
        for (index, entry) in entries.enumerated() { add(entry, index, openingPatterns) }
        LinkShape.notes(block, ignoresTrailingSlash: true).forEach { notes.add($0) }
        if entries.contains(where: { $0.query.contains { !$0.value.isEmpty } }) { addQueryNote(block.query) }
    }

    /// Adds a note about the options of the query with which links meet a constraint that Apple's items do not match.
    private mutating func addQueryNote(_ dialect: TableSource.QueryDialect) {
        let separators = String(decoding: dialect.pairSeparators, as: UTF8.self)
        let options = [
            separators == "&" ? nil : "pairSeparators \(separators)",
            dialect.names == .sensitive ? nil : "names \(dialect.names.rawValue)",
            dialect.duplicates == .reject ? nil : "duplicates \(dialect.duplicates.rawValue)",
            dialect.decode == .once ? nil : "decode \(dialect.decode.rawValue)",
            dialect.plus == .literal ? nil : "plus \(dialect.plus.rawValue)", dialect.flatten ? "flatten" : nil,
        ].compactMap(\.self)
        if options.isEmpty { return }
        notes.add(
            "links whose query meets a constraint only with these options of the table are not exported, although the "
                + "table matches them: " + options.joined(separator: ", "))
    }

    private mutating func add(_ entry: Entry, _ index: Int, _ openingPatterns: GlobIndex) {
        let shape = entry.shape
        var additionalMatches = entry.pattern.additionalMatches
        let text = "\(shape.route) \(shape.text)"
        if shape.isExcluded {
            let reach = ([entry.pattern.path] + entry.pattern.exclusions).map(glob)
            let isExact = additionalMatches == nil && entry.pattern.exclusions.isEmpty
            if !isExact, reach.contains(where: { openingPatterns.overlaps($0, after: index) }) {
                notes.add(
                    "route \(shape.route) is excluded, but an exclusion would also affect links of other routes: "
                        + "its links open the app")
                return
            }
            append(Component(path: entry.pattern.path, query: entry.query, isExcluded: true, comment: text))
            return
        }
        for extra in entry.pattern.exclusions {
            if openingPatterns.overlaps(glob(extra), after: index) {
                additionalMatches = additionalMatches ?? "more segments in place of a capture"
            } else {
                append(Component(path: extra, isExcluded: true, comment: "more segments than \(text)"))
            }
        }
        if let additionalMatches { notes.add("route \(shape.route): the export also matches \(additionalMatches)") }
        append(
            Component(
                path: entry.pattern.path, query: entry.query,
                comment: text + (additionalMatches.map { "; also matches \($0)" } ?? "")))
    }

    private mutating func append(_ component: Component) {
        if seen.insert(component.key).inserted { components.append(component) }
    }

    private func glob(_ pattern: String) -> Glob {
        Glob(pattern, variables: patternVariables, foldsCase: !caseSensitive)
    }

    /// Returns a Boolean value that indicates whether a text is an app identifier: a prefix of 10 capital letters and
    /// digits, a dot, and a bundle identifier.
    package static func isAppID(_ text: String) -> Bool {
        let prefix = text.utf8.prefix { $0 != UInt8(ascii: ".") }
        return prefix.count == 10 && text.utf8.count > 11
            && prefix.allSatisfy { $0 &- UInt8(ascii: "A") < 26 || $0 &- UInt8(ascii: "0") < 10 }
    }

    /// Returns a note about a file that is larger than Apple's systems read, or nil.
    package static func sizeNote(_ json: String) -> String? {
        let count = json.utf8.count
        guard count > AssociationLimits.appleBytes else { return nil }
        return "the file has \(count) bytes, but Apple's systems read at most \(AssociationLimits.appleBytes): split "
            + "the hosts of the table with --host, or use patterns with fewer values"
    }

    /// Returns the file for some application identifiers.
    package func json(appIDs: [String]) -> String {
        var lines = ["{", "  \"applinks\": {"]
        if !variables.isEmpty {
            lines.append("    \"substitutionVariables\": {")
            lines += variables.enumerated().map { index, variable in
                let values = variable.values.map(Self.quoted).joined(separator: ", ")
                return "      \(Self.quoted(variable.name)): [\(values)]" + (index + 1 < variables.count ? "," : "")
            }
            lines.append("    },")
        }
        lines += ["    \"details\": [", "      {"]
        lines.append("        \"appIDs\": [" + appIDs.map(Self.quoted).joined(separator: ", ") + "],")
        if !caseSensitive { lines.append("        \"defaults\": { \"caseSensitive\": false },") }
        lines.append("        \"components\": [")
        for (index, component) in components.enumerated() {
            var members = ["\"/\": \(Self.quoted(component.path))"]
            if !component.query.isEmpty {
                let items = component.query.map { "\(Self.quoted($0.name)): \(Self.quoted($0.value))" }
                members.append("\"?\": { \(items.joined(separator: ", ")) }")
            }
            if component.isExcluded { members.append("\"exclude\": true") }
            members.append("\"comment\": \(Self.quoted(component.comment))")
            lines.append(
                "          { \(members.joined(separator: ", ")) }" + (index + 1 < components.count ? "," : ""))
        }
        return (lines + ["        ]", "      }", "    ]", "  }", "}"]).joined(separator: "\n") + "\n"
    }

    private static func quoted(_ text: String) -> String {
        var json = JSONText()
        json.text(nil, text)
        return json.finish()
    }
}

/// A pattern of Apple's `components` for a shape.
///
/// `?` matches any character, `*` any number of characters, and `$(name)` one of a list. `*` also matches slashes, so a
/// captured segment also matches several segments. `exclusions` are the patterns of the links with several segments
/// there.
struct ApplePattern {
    /// The pattern of the path.
    var path: String
    /// The patterns to exclude before `path`: they match links with more segments than the shape.
    var exclusions: [String] = []
    /// A description of the additional links that the pattern matches despite the exclusions, or nil for none.
    var additionalMatches: String?

    /// The maximum number of values in a variable, because longer lists become `*`.
    static let maxValues = 128
}

/// A builder for patterns that collects their variables.
struct ApplePatternMaker {
    private let coordinators: [String]
    /// The variables of the file by name, in order.
    private(set) var variables: [(name: String, values: [String])] = []

    /// Creates a builder for a table with these coordinators.
    init(coordinators: [String]) { self.coordinators = coordinators }

    /// Returns the patterns of a shape: one, or two if its end is optional.
    mutating func patterns(_ shape: LinkShape) -> [ApplePattern] {
        if case .anySegment(let text) = shape.terminal {
            let segment = literal(text)
            return ["*/\(segment.text)", "*/\(segment.text)/*"].map {
                ApplePattern(path: $0, additionalMatches: segment.additionalMatches)
            }
        }
        let parts = shape.segments.map { part($0) }
        switch shape.terminal {
        case .restPlus: return [pattern(parts, tail: "/?*")]
        case .restStar:
            return [pattern(parts, tail: parts.isEmpty ? "/*" : "")]
                + (parts.isEmpty ? [] : [pattern(parts, tail: "/*")])
        case .coordinatorPath:
            let name = variable(coordinators)
            return [pattern(parts + [name], tail: ""), pattern(parts + [name], tail: "/*")]
        default: return [pattern(parts, tail: parts.isEmpty ? "/" : "")]
        }
    }

    private func pattern(_ parts: [Part], tail: String) -> ApplePattern {
        var pattern = ApplePattern(path: parts.map { "/" + $0.text }.joined() + tail)
        pattern.additionalMatches = parts.compactMap(\.additionalMatches).first
        guard !parts.isEmpty else { return pattern }
        for (index, part) in parts.enumerated() where part.matchesSlashes {
            // A pattern with an open tail matches any number of segments, so no link can be excluded by its segments.
            if tail.hasSuffix("*") {
                pattern.additionalMatches = pattern.additionalMatches ?? "more segments in place of a capture"
                continue
            }
            for longer in part.longer {
                var texts = parts.map(\.text)
                texts[index] = longer
                pattern.exclusions.append(texts.map { "/" + $0 }.joined() + tail)
            }
        }
        return pattern
    }

    /// Returns a pattern of one query item for a constraint.
    ///
    /// Returns nil if no such pattern matches at least the same links.
    mutating func query(_ constraint: TableSource.QueryConstraint) -> (
        name: String, value: String, alsoMatchesEmpty: Bool
    )? {
        let name = constraint.name.value
        guard name.utf8.allSatisfy(PercentDecoding.isUnreserved) else { return nil }
        switch constraint.test {
        case .equals(let value): return (name, literal(Array(value.utf8)).text, false)
        // Apple treats a name without a value and an absent name alike, as an empty text.
        case .present: return nil
        case .absent: return (name, "", true)
        }
    }

    private struct Part {
        var text: String
        /// A description of the additional texts that the part matches, other than several segments, or nil for none.
        var additionalMatches: String?
        /// A Boolean value that indicates whether the part matches slashes too.
        var matchesSlashes: Bool { text.contains("*") }

        /// The patterns of texts that the part matches and that are more than one segment.
        ///
        /// A trailing slash does not add a segment.
        var longer: [String] {
            guard text.hasSuffix("*") else {
                return [text.replacing(text.contains("?*") ? "?*" : "*", with: "*/*")]
            }
            guard text.contains("?*"), !text.hasPrefix("?") else { return [text + "/?*"] }
            let start = text.replacing("?*", with: "")
            return [start + "*/?*"]
        }
    }

    private mutating func part(_ matcher: Matcher) -> Part {
        switch matcher {
        case .literal(let text): return literal(text)
        case .enumeration(let values):
            return variable(values.map { literal($0).text })
        case .bool: return variable(["true", "false", "1", "0"])
        case .int(let min, let max):
            if max.subtractingReportingOverflow(min).overflow || max - min >= Int64(ApplePattern.maxValues) {
                return Part(text: "?*", additionalMatches: "segments that are not numbers")
            }
            return variable((min...max).map { String($0) })
        case .uuid:
            let groups = [8, 4, 4, 4, 12].map { String(repeating: "$(xdigit)", count: $0) }
            return Part(text: groups.joined(separator: "-"))
        case .date:
            let groups = [4, 2, 2].map { String(repeating: "$(digit)", count: $0) }
            return Part(text: groups.joined(separator: "-"), additionalMatches: "invalid dates")
        case .characters(let set, let min, let max): return characters(set, min, max)
        case .affix(let prefix, let inner, let suffix):
            let between = part(inner)
            return Part(
                text: literal(prefix).text + between.text + literal(suffix).text,
                additionalMatches: between.additionalMatches ?? literal(prefix).additionalMatches
                    ?? literal(suffix).additionalMatches)
        default: return Part(text: "?*")
        }
    }

    /// Returns literal text, in both spellings if RFC 3986 allows two: `(` and `%28`.
    ///
    /// A character with a meaning in Apple's patterns becomes `?`, which matches any character.
    private mutating func literal(_ text: [UInt8]) -> Part {
        var part = Part(text: "")
        for character in PercentText.literal(text).unicodeScalars {
            let byte = UInt8(ascii: character)
            if PercentDecoding.isUnreserved(byte) || character == "%" || Self.hexFollows(part.text) {
                part.text.unicodeScalars.append(character)
                continue
            }
            let isWildcard = character == "*" || character == "$"
            let plain = isWildcard ? "?" : String(character)
            part.text += variable([plain, "%" + String(byte, radix: 16, uppercase: true)]).text
            if isWildcard { part.additionalMatches = "any character in place of \(character)" }
        }
        return part
    }

    /// Returns a Boolean value that indicates whether the text ends with an incomplete escape.
    private static func hexFollows(_ text: String) -> Bool { text.suffix(2).contains("%") }

    private mutating func characters(_ set: CharacterClass, _ min: Int, _ max: Int) -> Part {
        let one = Self.predefined(set) ?? "?"
        let additionalMatches = one == "?" || min != max ? "other characters or lengths than those of the class" : nil
        if min == max { return Part(text: String(repeating: one, count: min), additionalMatches: additionalMatches) }
        return Part(text: String(repeating: one, count: min) + "*", additionalMatches: additionalMatches)
    }

    /// Returns Apple's name of a class of characters, or nil if there is none.
    private static func predefined(_ set: CharacterClass) -> String? {
        AppleVariables.characters.first { Array($0.value.utf8).sorted() == set.characters }.map { "$(\($0.key))" }
    }

    /// Returns a variable for these values, the same one for equal lists.
    private mutating func variable(_ values: [String]) -> Part {
        if values.count == 1, let only = values.first { return Part(text: only) }
        guard values.count <= ApplePattern.maxValues else {
            return Part(text: "?*", additionalMatches: "values that are not listed")
        }
        if let known = variables.first(where: { $0.values == values }) { return Part(text: "$(\(known.name))") }
        let name = "values-\(variables.count + 1)"
        variables.append((name, values))
        return Part(text: "$(\(name))")
    }
}
