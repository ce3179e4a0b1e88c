package import LinkCoordinator
internal import StrictJSON

/// The intent filters of an Android manifest for a table.
///
/// The attributes of all `<data>` elements of a filter combine with each other, so each set of schemes and hosts has
/// its own filter. A manifest cannot exclude links, and Android does not match queries.
package struct AndroidFilters {
    /// An `<intent-filter>` element.
    package struct Filter {
        var schemes: [String]
        /// The hosts with their ports, in the form of `<data>` elements.
        var hosts: [Host]
        /// The paths with their comments, in the order of the table.
        var paths: [(path: AndroidPath, comment: String)] = []

        /// A Boolean value that indicates whether Android can verify with the site that the app opens its links.
        var isVerified: Bool {
            schemes.allSatisfy { $0 == "https" || $0 == "http" } && !hosts.contains { $0.name == "*" }
        }
    }

    /// A host in the form of a `<data>` element: a name, `*.name` or `*`.
    struct Host: Hashable {
        var name: String
        var port: UInt16?
    }

    /// The filters, web links first.
    package private(set) var filters: [Filter] = []
    /// Notes about the parts of the table that a manifest cannot express.
    package private(set) var notes = ExportNotes()

    private let coordinators: [String]
    private let foldsCase: Bool

    /// Creates the filters of a table.
    package init(_ table: RouteTable) {
        coordinators = table.source.coordinators.map(\.name.value)
        foldsCase = table.source.foldsPathCase
        for block in table.source.blocks {
            if block.acceptsOtherSchemes { notes.add("the scheme `*` cannot be exported: list the schemes to export") }
            let web = block.schemes.map(\.value).filter { $0 == "https" || $0 == "http" }
            let own = block.schemes.map(\.value).filter { $0 != "https" && $0 != "http" }
            for schemes in [web, own] where !schemes.isEmpty {
                for shape in LinkShape.all(table.source, block: block) { add(shape, schemes, block) }
            }
        }
        for block in table.source.blocks {
            LinkShape.notes(block, ignoresTrailingSlash: false).forEach { notes.add($0) }
        }
        filters = filters.filter(\.isVerified) + filters.filter { !$0.isVerified }
    }

    private mutating func add(_ shape: LinkShape, _ all: [String], _ block: TableSource.LinkBlock) {
        let schemes = all.filter { shape.scheme == nil || shape.scheme == $0 }
        guard !schemes.isEmpty else { return }
        let text = "\(shape.route) \(shape.text)"
        if shape.isExcluded {
            notes.add(
                "route \(shape.route) is excluded, which a manifest cannot express: its links that match another "
                    + "filter open the app"
            )
            return
        }
        if !shape.query.isEmpty { notes.add("route \(shape.route): the export also matches any query") }
        if block.hostRole == .segment {
            guard shape.host == nil else { return }
            addSegments(shape, schemes, text)
        } else if let hosts = hosts(shape, block, text, isWeb: schemes.contains { $0 == "https" || $0 == "http" }) {
            add(shape.segments, shape.terminal, Filter(schemes: schemes, hosts: hosts), text)
        }
    }

    /// Returns the hosts of a pattern, or nil if no link can have one of them.
    private mutating func hosts(
        _ shape: LinkShape, _ block: TableSource.LinkBlock, _ text: String, isWeb: Bool
    ) -> [Host]? {
        var rules = block.hosts.map(\.value)
        if let rule = shape.host, rule != .any { rules = rules.contains { $0.overlaps(rule) } ? [rule] : [] }
        // A web link must have a host.
        if isWeb { rules = rules.filter { $0 != .empty } }
        guard !rules.isEmpty else { return nil }
        if rules.contains(.empty), !rules.contains(.any) {
            notes.add("links without a host cannot be expressed: links of every host open the app")
        }
        if rules.contains(.any) || rules.contains(.empty) { return [Host(name: "*")] }
        return rules.map { rule in
            switch rule {
            case .exact(let host, let port): Host(name: String(decoding: host, as: UTF8.self), port: port)
            case .suffix, .any, .empty: Host(name: rule.text)
            }
        }
    }

    /// Adds a form of links whose host is their first segment: the segment becomes the host, the others the path.
    private mutating func addSegments(_ shape: LinkShape, _ schemes: [String], _ text: String) {
        guard let first = shape.segments.first else {
            if shape.terminal == .end {
                add([], .end, Filter(schemes: schemes, hosts: [Host(name: "*")]), text)
                notes.add("route \(shape.route): the export also matches the root of every host")
            } else {
                addOpen(shape, schemes, text)
            }
            return
        }
        let rest = shape.segments.dropFirst()
        for host in Self.hostNames(first) ?? [] {
            add(rest, shape.terminal, Filter(schemes: schemes, hosts: [Host(name: host)]), text, isHostFirst: true)
        }
        if Self.hostNames(first) == nil {
            notes.add("route \(shape.route): the export also matches any host as the first segment")
            add(rest, shape.terminal, Filter(schemes: schemes, hosts: [Host(name: "*")]), text, isHostFirst: true)
        }
    }

    /// Adds a pattern that begins with its tail.
    private mutating func addOpen(_ shape: LinkShape, _ schemes: [String], _ text: String) {
        if case .coordinatorPath = shape.terminal {
            for name in coordinators {
                let filter = Filter(schemes: schemes, hosts: [Host(name: name)])
                add([], .restStar, filter, text, isHostFirst: true)
            }
            return
        }
        if case .anySegment = shape.terminal {
            notes.add("route \(shape.route): the export also matches every link")
        }
        let filter = Filter(schemes: schemes, hosts: [Host(name: "*")])
        add([], .restStar, filter, text, isHostFirst: true)
    }

    private static func hostNames(_ matcher: Matcher) -> [String]? {
        matcher.finiteTexts?.map { String(decoding: $0, as: UTF8.self) }
    }

    private mutating func add(
        _ segments: ArraySlice<Matcher>, _ terminal: Matcher, _ filter: Filter, _ text: String,
        isHostFirst: Bool = false
    ) {
        let pattern = AndroidPattern(segments, terminal, coordinators: coordinators, foldsCase: foldsCase)
        if let additionalMatches = pattern.additionalMatches {
            notes.add("route \(text.prefix { $0 != " " }): the export also matches \(additionalMatches)")
        }
        var paths = pattern.paths
        if isHostFirst, segments.isEmpty {
            // `scheme://first` has an empty path, which none of the other path attributes matches.
            let none = AndroidPath(attribute: .path, value: "")
            switch terminal {
            case .end: paths = [none]
            case .restStar: paths = [none] + paths
            default: break
            }
        }
        let index: Int
        if let known = filters.firstIndex(where: { $0.schemes == filter.schemes && $0.hosts == filter.hosts }) {
            index = known
        } else {
            filters.append(filter)
            index = filters.count - 1
        }
        for path in paths where !filters[index].paths.contains(where: { $0.path == path }) {
            filters[index].paths.append((path, text))
        }
    }

    /// The filters as XML, for the inside of an `<activity>` element.
    package var xml: String {
        var lines: [String] = []
        if filters.contains(where: { $0.paths.contains { $0.path.attribute == .pathAdvancedPattern } }) {
            lines.append("<!-- android:pathAdvancedPattern needs Android 12 (API level 31). -->")
        }
        for filter in filters {
            lines.append(filter.isVerified ? "<intent-filter android:autoVerify=\"true\">" : "<intent-filter>")
            lines += [
                "    <action android:name=\"android.intent.action.VIEW\" />",
                "    <category android:name=\"android.intent.category.DEFAULT\" />",
                "    <category android:name=\"android.intent.category.BROWSABLE\" />",
            ]
            lines += filter.schemes.map { "    <data android:scheme=\"\(Markup.xml($0))\" />" }
            lines += filter.hosts.map { host in
                let port = host.port.map { " android:port=\"\($0)\"" } ?? ""
                return "    <data android:host=\"\(Markup.xml(host.name))\"\(port) />"
            }
            for (path, comment) in filter.paths {
                // The manifest parser removes one level of backslashes before Android reads the pattern.
                let value = Markup.xml(path.value).replacing("\\", with: "\\\\")
                lines.append(
                    "    <data android:\(path.attribute.rawValue)=\"\(value)\" /> "
                        + "<!-- \(Self.comment(comment)) -->")
            }
            lines.append("</intent-filter>")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns text for a comment, in which XML does not allow two consecutive hyphens (XML 1.0, 2.5).
    private static func comment(_ text: String) -> String {
        Escaping.visible(text).replacing("--", with: "- -").replacing("--", with: "- -")
    }
}

/// The file `assetlinks.json`, in which a site lists the Android apps that can open its links (Digital Asset Links).
package enum AssetLinks {
    /// Returns a Boolean value that indicates whether a text is the name of an Android package: two or more parts of
    /// ASCII letters, digits, and underscores, each beginning with a letter.
    package static func isPackage(_ text: String) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count > 1
            && parts.allSatisfy {
                $0.first?.isLetter == true && $0.utf8.allSatisfy { $0 < 0x80 }
                    && $0.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
            }
    }

    /// Returns the file, which is the same for every host.
    package static func json(package: String, fingerprints: [String]) -> String {
        var list = JSONText()
        list.beginArray()
        for fingerprint in fingerprints { list.text(nil, fingerprint.uppercased()) }
        list.endArray()
        var name = JSONText()
        name.text(nil, package)
        return """
            [
              {
                "relation": ["delegate_permission/common.handle_all_urls"],
                "target": {
                  "namespace": "android_app",
                  "package_name": \(name.finish()),
                  "sha256_cert_fingerprints": \(list.finish())
                }
              }
            ]

            """
    }
}

/// A path as one attribute of a `<data>` element in an Android manifest.
///
/// Android matches the decoded path from left to right without backtracking (`android.os.PatternMatcher`). A set
/// matches as many characters as possible, so the set must not contain the character that follows it in the pattern.
struct AndroidPath: Hashable {
    /// The name of the attribute, without its namespace.
    enum Attribute: String {
        case path, pathPrefix, pathAdvancedPattern
    }

    var attribute: Attribute
    /// Its value for Android's parser, without the escapes of the manifest.
    var value: String
}

/// The paths of a manifest for a shape.
struct AndroidPattern {
    /// The paths: a link must match one of them.
    var paths: [AndroidPath] = []
    /// A description of the additional links that the paths match, or nil if there are none.
    var additionalMatches: String?

    /// The maximum number of paths for one shape.
    static let maxPaths = 64

    private let coordinators: [String]
    private let foldsCase: Bool

    /// Creates the paths for the matchers of whole segments and the terminal matcher.
    init(_ segments: ArraySlice<Matcher>, _ terminal: Matcher, coordinators: [String], foldsCase: Bool) {
        self.coordinators = coordinators
        self.foldsCase = foldsCase
        if case .anySegment(let text) = terminal {
            paths = [AndroidPath(attribute: .pathPrefix, value: "/")]
            additionalMatches = "paths without the segment \(String(decoding: text, as: UTF8.self))"
            return
        }
        var choices: [[Piece]] = [[]]
        for segment in segments {
            var next = pieces(segment)
            if choices.count * next.count > Self.maxPaths {
                next = [Piece(pattern: "[^/]+", additionalMatches: "values that are not listed")]
            }
            choices = choices.flatMap { choice in next.map { choice + [$0] } }
        }
        for choice in choices { add(choice, terminal) }
        additionalMatches = additionalMatches ?? choices.joined().compactMap(\.additionalMatches).first
    }

    /// A segment.
    private struct Piece {
        /// The text of a segment without captures, or nil for others.
        var literal: String?
        /// The segment as an advanced pattern.
        var pattern: String
        var additionalMatches: String?
    }

    private mutating func add(_ pieces: [Piece], _ terminal: Matcher) {
        let literals = pieces.compactMap(\.literal)
        let text = literals.count == pieces.count ? literals.map { "/" + $0 }.joined() : nil
        let pattern = pieces.map { "/" + $0.pattern }.joined()
        func add(_ attribute: AndroidPath.Attribute, _ value: String) {
            paths.append(AndroidPath(attribute: attribute, value: value))
        }
        switch terminal {
        case .restPlus: add(.pathAdvancedPattern, pattern + "/.+")
        case .restStar:
            if pieces.isEmpty { return add(.pathPrefix, "/") }
            if let text {
                add(.path, text)
                add(.pathPrefix, text + "/")
            } else {
                add(.pathAdvancedPattern, pattern)
                add(.pathAdvancedPattern, pattern + "/.*")
            }
        case .coordinatorPath:
            for name in coordinators {
                let last = Piece(literal: foldsCase ? nil : name, pattern: escaped(Array(name.utf8), folds: false))
                self.add(pieces + [last], .restStar)
            }
        default:
            if pieces.isEmpty { return add(.path, "/") }
            if let text { add(.path, text) } else { add(.pathAdvancedPattern, pattern) }
        }
    }

    private func pieces(_ matcher: Matcher) -> [Piece] {
        switch matcher {
        case .literal(let text): return [literal(text)]
        case .enumeration(let values): return values.map(literal)
        case .bool: return Matcher.boolTexts.map { literal($0) }
        case .affix(let prefix, let inner, let suffix): return [affix(prefix, inner, suffix)]
        default:
            let set = Self.set(matcher)
            return [Piece(pattern: set.pattern, additionalMatches: set.additionalMatches)]
        }
    }

    private func literal(_ text: [UInt8]) -> Piece {
        Piece(
            literal: foldsCase && text.contains { ($0 | 0x20) &- UInt8(ascii: "a") < 26 }
                ? nil : String(decoding: text, as: UTF8.self), pattern: escaped(text, folds: foldsCase))
    }

    private func affix(_ prefix: [UInt8], _ inner: Matcher, _ suffix: [UInt8]) -> Piece {
        let start = escaped(prefix, folds: foldsCase)
        if case .enumeration = inner {
            return Piece(pattern: start + "[^/]+", additionalMatches: "values that are not listed")
        }
        let set = Self.set(inner)
        guard let first = suffix.first else {
            return Piece(pattern: start + set.pattern, additionalMatches: set.additionalMatches)
        }
        let isEnded = set.stops(first) && !(foldsCase && (set.stops(first ^ 0x20) == false))
        if isEnded {
            return Piece(
                pattern: start + set.pattern + escaped(suffix, folds: foldsCase),
                additionalMatches: set.additionalMatches)
        }
        return Piece(
            pattern: start + "[^/]+",
            additionalMatches: "segments without \(String(decoding: suffix, as: UTF8.self)) at their end")
    }

    /// Returns a set that matches all texts of a matcher, and a closure that indicates whether a byte ends it.
    private static func set(
        _ matcher: Matcher
    ) -> (pattern: String, additionalMatches: String?, stops: (UInt8) -> Bool) {
        let isDigit: (UInt8) -> Bool = { $0 &- UInt8(ascii: "0") < 10 }
        switch matcher {
        case .int(let min, let max):
            let digits = Swift.max(String(max).count, min < 0 ? String(min).count - 1 : 1)
            let additionalMatches = "numbers out of range or with leading zeros"
            guard min >= 1 else {
                return ((min < 0 ? "-{0,1}" : "") + "[0-9]{1,\(digits)}", additionalMatches, { !isDigit($0) })
            }
            let isWhole = min == 1 && String(max).allSatisfy { $0 == "9" }
            let more = digits > 1 ? "[0-9]{0,\(digits - 1)}" : ""
            return ("[1-9]" + more, isWhole ? nil : additionalMatches, { !isDigit($0) || digits == 1 })
        case .uuid:
            let groups = [8, 4, 4, 4, 12].map { "[0-9A-Fa-f]{\($0)}" }
            return (groups.joined(separator: "-"), nil, { _ in true })
        case .date: return ("[0-9]{4}-[0-9]{2}-[0-9]{2}", "invalid dates", { _ in true })
        case .characters(let set, let min, let max):
            return ("[\(members(set))]{\(min),\(max)}", nil, { !set.contains($0) || min == max })
        default: return ("[^/]+", nil, { _ in false })
        }
    }

    /// Returns the characters of a class inside brackets, with a hyphen at the end, where it is not a range.
    private static func members(_ set: CharacterClass) -> String {
        var text = ""
        var run: [UInt8] = []
        func flush() {
            guard let first = run.first, let last = run.last else { return }
            let shown = run.count > 2 ? [first, UInt8(ascii: "-"), last] : run
            text += String(decoding: shown, as: UTF8.self)
            run = []
        }
        for byte in set.characters where byte != UInt8(ascii: "-") {
            if let last = run.last, byte != last + 1 || !isAlphanumeric(byte) || !isAlphanumeric(last) { flush() }
            run.append(byte)
        }
        flush()
        return text + (set.contains(UInt8(ascii: "-")) ? "-" : "")
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "0") < 10 || (byte | 0x20) &- UInt8(ascii: "a") < 26
    }

    /// Returns text in an advanced pattern, where with folding a letter becomes a set of both cases.
    private func escaped(_ text: [UInt8], folds: Bool) -> String {
        var result = ""
        for character in String(decoding: text, as: UTF8.self) {
            if folds, character.isASCII, character.isLetter {
                result += "[\(character.lowercased())\(character.uppercased())]"
            } else if "[]{}*+.\\^".contains(character) {
                result += "\\" + String(character)
            } else {
                result.append(character)
            }
        }
        return result
    }
}
