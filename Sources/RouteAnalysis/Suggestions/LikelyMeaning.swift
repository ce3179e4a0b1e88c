package import LinkCoordinator
package import StrictJSON

extension TableHint {
    /// Adds the suggestion of the first hint that has one to a problem, which otherwise keeps its own suggestion.
    ///
    /// For a file that is not JSON, the problem moves from where the reader stopped to the most likely mistake.
    @Sendable package static func advise(_ hints: [TableHint], _ problem: inout TableProblem) {
        for case .json(let error, let file) in hints { JSONAdvice.correct(&problem, error, in: file) }
        problem.suggestion = hints.lazy.compactMap(\.suggestion).first ?? problem.suggestion
    }

    /// The suggestion, or nil if the hint does not lead to one.
    private var suggestion: String? {
        switch self {
        case .json: nil
        case .key(let name, let known, let unused): LikelyKeys.advice(name, known: known, unused: unused)
        case .value(let type, let text, let expected): LikelyValue.advice(type, text, expected: expected)
        case .word(let text, let known, let before, let after):
            NearestName.of(text, among: known).flatMap { $0 == text ? nil : "did you mean `\(before)\($0)\(after)`?" }
        case .reference(let name, let declared): Self.reference(name, declared)
        case .variable(let name, let known):
            NearestName.of(name, among: known).map { "did you mean `\($0)`?" }
                ?? "add it to \"vars\", or write `{\(CaptureNames.allowed(name))}` for a capture"
        case .path(let path): path.advice
        case .capture(let inside, let mistake): LikelyType.form(inside, mistake)
        case .captureType(let name, let text):
            LikelyType.type(name, text.hasSuffix("}") ? String(text.dropLast()) : text)
        case .captureLengths(let text, let characters): LikelyType.lengths(text, of: characters)
        case .fieldType(let name, let next): LikelyType.field(name, next: next)
        case .pointer(let text): LikelySource.pointer(text).map { "write `\($0)`" }
        case .source(let text): LikelySource.source(text)
        case .version(let text): LikelyVersion.version(text).map { "write `\($0)`" }
        case .comparisons(let text): LikelyVersion.comparisons(text).map { "write `\($0)`" }
        case .time(let text): LikelyValue.time(text)
        }
    }

    /// Returns a suggestion for an unknown name: the nearest declared name, or the likely intention.
    private static func reference(_ name: String, _ declared: [String]) -> String? {
        if name.hasPrefix(":") { return "remove it from the path, and bind the value in `bind`" }
        let parts = name.split { ",|; ".contains($0) }
        if parts.count > 1, parts.allSatisfy({ declared.contains(String($0)) }) {
            return "write [\(parts.map { "\"\($0)\"" }.joined(separator: ", "))]"
        }
        if let nearest = NearestName.of(name, among: declared) { return "did you mean `\(nearest)`?" }
        let dotted = name.split(separator: ".")
        let isPath = dotted.count == 2 && declared.contains(String(dotted[0]))
        return isPath ? "write `/\(dotted[0])/\(dotted[1])`" : nil
    }
}

/// Suggestions for unknown keys: other names of known keys, and keys of a nested object.
enum LikelyKeys {
    /// The names that other formats use, with the keys that they may mean.
    private static let synonyms: [String: [String]] = [
        "name": ["id"], "pattern": ["match"], "patterns": ["match"], "url": ["external", "match"],
        "urls": ["match"], "uri": ["external", "match"], "path": ["match", "path"], "paths": ["match"],
        "target": ["to"], "destination": ["to"], "screen": ["path", "to"], "action": ["to"], "params": ["bind"],
        "parameters": ["bind"], "args": ["bind"], "data": ["bind"], "model": ["needs", "models"],
        "models": ["needs"], "condition": ["when"], "conditions": ["when"], "if": ["when"], "views": ["screens"],
        "children": ["screens"], "routes": ["screens"], "root": ["initial"], "start": ["initial"],
        "default": ["initial", "fallback"], "otherwise": ["else"], "permission": ["claim"], "role": ["claim"],
        "style": ["present"], "presentation": ["present"], "type": ["present"], "domains": ["hosts"],
        "domain": ["hosts", "host"], "protocol": ["schemes", "scheme"], "minVersion": ["minApp", "since"],
        "version": ["app", "minApp"], "appVersion": ["app"], "osVersion": ["os"], "expires": ["ttl"],
        "timeout": ["ttl"], "prefix": ["stripPrefix"], "tests": ["examples"], "expect": ["outcome"],
        "language": ["locale"], "country": ["region"], "features": ["capabilities"], "permissions": ["claims"],
        "reasons": ["on"], "reason": ["on"], "order": ["priority"], "weight": ["priority"],
    ]

    /// The keys, with the keys of the objects that contain them.
    private static let containerKeys: [String: [String]] = [
        "path": ["to"], "root": ["to"], "external": ["to"], "mode": ["to"], "parents": ["to"], "present": ["to"],
        "dismissModals": ["to"], "scheme": ["match"], "host": ["match", "link"], "anySegment": ["match"],
        "case": ["path"], "emptySegments": ["path"], "pairSeparators": ["query"], "names": ["query"],
        "duplicates": ["query"], "decode": ["query"], "plus": ["query"], "nulls": ["query"], "flatten": ["query"],
        "maxBytes": ["limits"], "maxSegments": ["limits"], "maxQueryItems": ["limits"], "ttl": ["resume"],
        "once": ["resume"], "resume": ["else"], "app": ["when", "device"], "os": ["when", "device"],
        "platform": ["when", "device"], "locale": ["when", "device"], "region": ["when", "device"],
        "claim": ["when"], "claims": ["device"], "capability": ["when"], "capabilities": ["device"],
        "attributes": ["when", "device"], "coordinator": ["device"], "when": ["variants"], "outcome": ["exclude"],
        "id": ["table"], "version": ["table"], "applications": ["table"], "canary": ["table"],
        "schemes": ["link"], "hosts": ["link"], "rewrites": ["link"], "payload": ["link", "request"],
        "limits": ["link"], "stripPrefix": ["rewrites"], "params": ["request"], "screens": ["coordinators"],
        "const": ["bind"],
    ]

    /// The keys in `containerKeys` whose values are lists, with the form of their items.
    private static let lists = [
        "variants": "{ \"when\": …, \"to\": … }, { \"to\": … }", "rewrites": "{ \"stripPrefix\": … }",
    ]

    /// Returns a suggestion for a key that an object does not have, or nil.
    static func advice(_ name: String, known: [String], unused: [String]) -> String? {
        if let nearest = NearestName.of(name, among: known) { return "did you mean `\(nearest)`?" }
        let candidates = containerKeys[name].map { $0.filter(known.contains) } ?? []
        if let first = candidates.first, let items = lists[first] { return "move it into \"\(first)\": [ \(items) ]" }
        if let first = candidates.first { return "move it into \"\(first)\": { … }" }
        return synonyms[name]?.first(where: unused.contains).map { "did you mean `\($0)`?" }
    }
}

/// Suggestions for values of another type than their key has, and for times with a missing or unknown unit.
enum LikelyValue {
    /// Returns a suggestion for a value whose type and text are given, or nil.
    static func advice(_ type: String, _ text: String, expected: String) -> String? {
        switch type {
        case "null": "remove the key if it has no value"
        case "a string" where expected.hasPrefix("a list"): "write [\"\(text)\"]"
        case "a string" where expected == "a number" && Int64(text) != nil: "write \(text) without quotes"
        case "a string" where expected == "true or false" && ["true", "false"].contains(text):
            "write \(text) without quotes"
        case "a number" where expected.hasPrefix("a string"): "write \"\(text)\""
        case "true", "false": expected.hasPrefix("a string") ? "write \"\(type)\" for a string" : nil
        case "an object" where expected.hasPrefix("a list"): "write it as a list: [ … ]"
        case "a list" where expected == "an object": "write it as an object: { \"NAME\": … }"
        case "a list" where expected.hasPrefix("a string") && text == "1": "remove the brackets"
        default: nil
        }
    }

    /// Returns a suggestion with the time that a text most likely means, or nil.
    ///
    /// For example, `15 min` is `15m`, and a week is seven days.
    static func time(_ text: String) -> String? {
        let digits = text.prefix { "0123456789".contains($0) }
        guard let number = Int64(digits), number > 0, number < 1_000_000 else { return nil }
        switch text.dropFirst(digits.count).first(where: { $0 != " " })?.lowercased() {
        case nil: return "write `\(number)s` for seconds, or `\(number)m` for minutes"
        case let unit? where ["s", "m", "h", "d"].contains(unit): return "write `\(number)\(unit)`"
        case "w": return "write `\(number * 7)d`"
        default: return nil
        }
    }
}

/// The most likely mistake in a table file that is not strict JSON, with a suggestion.
package enum JSONAdvice {
    /// Returns the cause for which a file is not strict JSON and its offset, or nil if the error says what there is to
    /// say.
    package static func cause(of error: JSONError, in file: [UInt8]) -> (message: String, offset: Int)? {
        // A control character is in a string, where nothing else is meant.
        guard error.code != .controlCharacter, !file.allSatisfy(isBlank),
            let found = encoding(file) ?? found(error, file)
        else { return nil }
        return found.message.map { ($0, found.offset) }
    }

    /// Corrects the problem of a file, after the bytes around the position at which the reader stopped.
    static func correct(_ problem: inout TableProblem, _ error: JSONError, in file: [UInt8]) {
        guard let found = encoding(file) ?? found(error, file) else { return }
        problem.message = found.message ?? problem.message
        (problem.suggestion, problem.offset) = (found.suggestion, found.offset)
    }

    private typealias Found = (message: String?, suggestion: String?, offset: Int)

    private static func encoding(_ file: [UInt8]) -> Found? {
        ForeignFile.fault(of: file).map { ($0.message, $0.suggestion, 0) }
    }

    private static func found(_ error: JSONError, _ file: [UInt8]) -> Found? {
        let at = file[min(error.offset, file.count)...].firstIndex { !isBlank($0) } ?? file.count
        let rest = file[at...]
        let before = file[..<at].lastIndex { !isBlank($0) }
        if starts(rest, "//") || starts(rest, "/*") || starts(rest, "#") {
            return ("comments are not allowed in JSON", "remove the comment", at)
        }
        if let before, file[before] == UInt8(ascii: ","), let byte = rest.first, "}]".utf8.contains(byte) {
            return ("there is a comma before the closing bracket", "remove the comma", before)
        }
        if starts(rest, "'") || ["\u{201C}", "\u{201D}", "\u{2018}", "\u{2019}"].contains(where: { starts(rest, $0) }) {
            return ("strings and names need straight double quotes", "write \"…\"", at)
        }
        let word = String(decoding: rest.prefix { ($0 | 0x20) &- UInt8(ascii: "a") < 26 || $0 == 0x5F }, as: UTF8.self)
        if let advice = advice(error.code, rest.first, word) { return (nil, advice, error.offset) }
        return nil
    }

    private static func advice(_ code: JSONError.Code, _ byte: UInt8?, _ word: String) -> String? {
        switch code {
        case .unexpectedEnd: return "add the missing closing bracket or quotation mark"
        case .expectedName: return word.isEmpty ? nil : "write \"\(word)\""
        case .expectedColon: return "write `:` between the name and its value"
        case .expectedCommaOrEnd:
            switch byte {
            case UInt8(ascii: "}"), UInt8(ascii: "]"): return "end an object with `}` and a list with `]`"
            case UInt8(ascii: ":"): return "write a name and its value in `{ … }`, not in `[ … ]`"
            default: return "add a comma before it"
            }
        case .expectedValue, .badLiteral: return self.word(byte, word)
        case .trailingBytes: return "a file has one table; check for an extra closing bracket before it"
        case .badNumber: return "write the number without `+` and leading zeros, and with digits on both sides of a dot"
        case .controlCharacter: return "write `\\n` for a line break in a string"
        case .badEscape: return "write `\\\\` for a backslash"
        default: return nil
        }
    }

    private static func word(_ byte: UInt8?, _ word: String) -> String? {
        switch word.lowercased() {
        case "": return byte == UInt8(ascii: ",") ? "remove the comma" : nil
        case "true", "yes", "on": return "write true"
        case "false", "no", "off": return "write false"
        case "null", "none", "nil", "undefined": return "write null, or remove the key"
        default: return "write strings in double quotes: \"\(word)\""
        }
    }

    private static func starts(_ bytes: ArraySlice<UInt8>, _ text: String) -> Bool { bytes.starts(with: text.utf8) }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte &- 9 < 2 || byte == 13 }
}

/// Recognizes sources and pointers in the syntax of other tools.
enum LikelySource {
    /// Returns the JSON pointer that a text most likely means.
    ///
    /// For example, `data.link`, `$.data.link`, and `#/data/link` mean `/data/link`.
    static func pointer(_ text: String) -> String? {
        var own = text[...]
        if own.hasPrefix("#") { own = own.dropFirst() }
        if own.hasPrefix("$") { own = own.dropFirst() }
        let parts = own.contains("/") ? own.split(separator: "/") : own.split(separator: ".")
        let path = "/" + parts.joined(separator: "/")
        return parts.isEmpty || JSONPath(path) == nil ? nil : path
    }

    /// Returns a suggestion with the source that a text most likely means, or nil.
    static func source(_ text: String) -> String? {
        let words = [
            "path": "path", "params": "path", "param": "path", "capture": "path", "captures": "path", "route": "path",
            "query": "query", "queries": "query", "search": "query", "args": "query", "rewrite": "rewrite",
            "rewrites": "rewrite", "payload": "payload", "data": "payload",
        ]
        if ["hash", "anchor", "#"].contains(text) { return "write `fragment`" }
        let bare = text.drop { ":{$<".contains($0) }.prefix { !"}>".contains($0) }
        let halves = bare.split(maxSplits: 1) { ".:/[".contains($0) }
        guard let first = halves.first else { return nil }
        if halves.count == 1, NameRule.identifier.matches(String(first)) {
            guard words[String(first)] == nil else { return nil }
            let (path, query) = ("write `path.\(first)` for a capture, ", "`query.\(first)` for a value of the query")
            return path + (text == first ? "\(query), or `{\"const\": \"\(first)\"}` for this text" : "or \(query)")
        }
        guard halves.count == 2, let word = words[first.lowercased()] else { return nil }
        let rest = String(halves[1].drop { "/{:\"'".contains($0) }.prefix { !"}]\"'".contains($0) })
        if word == "payload" { return pointer(rest).map { "write `payload.\($0)`" } }
        return NameRule.identifier.matches(rest) ? "write `\(word).\(rest)`" : nil
    }
}

/// Recognizes versions and comparisons in the syntax of other tools.
enum LikelyVersion {
    /// Returns the version that a text most likely means, or nil.
    static func version(_ text: String) -> String? {
        var own = text.drop { $0 == "v" || $0 == "V" || $0 == " " }
        while own.last == " " { own = own.dropLast() }
        if own.hasSuffix(".x") || own.hasSuffix(".*") { own = own.dropLast(2) }
        return VersionText(String(own)).map(\.text)
    }

    /// Returns the comparisons that a text most likely means, or nil.
    static func comparisons(_ text: String) -> String? {
        var signs = text.replacing("\u{2265}", with: ">=").replacing("\u{2264}", with: "<=")
        for (wrong, right) in [("=>", ">="), ("=<", "<="), ("==", "="), ("&&", " "), (",", " "), (" and ", " ")] {
            signs = signs.replacing(wrong, with: right)
        }
        let bounds = signs.split(separator: " - ")
        if bounds.count == 2, let low = version(String(bounds[0])), let high = version(String(bounds[1])) {
            return ">=\(low) <=\(high)"
        }
        var parts: [String] = []
        for part in signs.split(separator: " ") {
            let sign = part.prefix { "<>=".contains($0) }
            if sign.count == part.count {
                parts.append(String(part))
            } else if let last = parts.last, last.allSatisfy({ "<>=".contains($0) }) {
                parts[parts.count - 1] = last + part
            } else {
                parts.append(String(part))
            }
        }
        let converted = parts.map { part -> String? in
            let sign = part.prefix { "<>=".contains($0) }
            let isOpen = sign.isEmpty && part.hasSuffix("+")
            guard let version = version(String(isOpen ? part.dropLast() : part.dropFirst(sign.count))) else {
                return nil
            }
            return (sign.isEmpty ? ">=" : sign) + version
        }
        let known = converted.compactMap { $0 }
        return known.count == parts.count && !known.isEmpty ? known.joined(separator: " ") : nil
    }
}
