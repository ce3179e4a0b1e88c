internal import StrictJSON

extension TableReader {
    /// Reads `to`.
    mutating func target(_ value: JSONValue) -> TableSource.Target? {
        if case .string(let text) = value.kind {
            let form = text == "/" ? "\"root\": true" : "\"\(text.contains("://") ? "external" : "path")\": \"\(text)\""
            wrongType(value, "a target", "an object", suggestion: "write { \(form) }")
            return nil
        }
        guard let members = object(value, "a target", .target), let destination = destination(members) else {
            return nil
        }
        let destinationValue = members["path"] ?? members["root"] ?? members["external"] ?? value
        var target = TableSource.Target(
            destination: destination, mode: nil, parents: .none, present: nil,
            dismissModals: bool(members["dismissModals"], "dismissModals", false), offset: value.offset,
            destinationOffset: destinationValue.offset)
        if let mode = members["mode"] { target.mode = choice(mode, "mode", .replace) }
        if let parents = members["parents"] { target.parents = self.parents(parents) }
        if let present = members["present"].flatMap({ text($0, "present") }) {
            target.present = presentation(present)
            if case .path = destination {
            } else {
                problems.error(.keyNotAllowed, at: present.offset, "`present` is only allowed with a static path")
            }
        }
        if case .external = destination {
            for key in ["mode", "parents", "dismissModals"] {
                guard let own = members[key] else { continue }
                problems.error(.keyNotAllowed, at: own.offset, "`\(key)` is not allowed with `external`")
            }
        }
        return target
    }

    private mutating func destination(_ members: Members) -> TableSource.Target.Destination? {
        guard let key = onlyKey(of: ["path", "root", "external"], in: members), let value = members[key] else {
            return nil
        }
        if key == "root" {
            if case .bool(true) = value.kind { return .root }
            problems.error(.badValue, at: value.offset, "root must be true")
            return nil
        }
        guard let text = nonemptyText(value, key) else { return nil }
        if key == "path" {
            if let name = Self.capturedName(text.value) { return .captured(Located(name, at: text.offset)) }
            return staticPath(text).map { .path(segments: $0.value) }
        }
        do throws(TextError) {
            return .external(try TemplateParser.external(text.value) { fileOffset(of: $0, in: text) })
        } catch {
            reportTextError(error, in: text, .badTemplate)
            return nil
        }
    }

    /// Returns the one of the keys that an object has, and reports an error if it has none or several.
    mutating func onlyKey(of keys: [String], in members: Members) -> String? {
        let found = keys.filter { members[$0] != nil }
        let all = keys.map { "`\($0)`" }.joined(separator: ", ")
        if found.isEmpty {
            problems.error(.missingKey, at: members.value.offset, "\(members.what) needs one of \(all)")
        } else if found.count > 1 {
            problems.error(
                .keyNotAllowed, at: members.value.offset, "\(members.what) must have only one of \(all)",
                suggestion: "remove `\(found[1])` or `\(found[0])`")
        }
        return found.count == 1 ? found[0] : nil
    }

    /// Returns the name in a text of the form `{name}`, or nil.
    private static func capturedName(_ text: String) -> String? {
        guard text.hasPrefix("{"), text.hasSuffix("}") else { return nil }
        let name = String(text.dropFirst().dropLast())
        return NameRule.identifier.matches(name) ? name : nil
    }

    /// Reads a static coordinator path into segments.
    ///
    /// The path `/` has none.
    mutating func staticPath(_ text: Located<String>) -> Located<[String]>? {
        guard text.value.hasPrefix("/") else {
            problems.error(
                .badValue, at: text.offset, "a static path must begin with `/`", suggestion: "write `/\(text.value)`")
            return nil
        }
        if text.value == "/" { return Located([], at: text.offset) }
        let segments = text.value.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        if segments.contains(where: \.isEmpty) {
            let segments = text.value.split(separator: "/").joined(separator: "/")
            problems.error(
                .badValue, at: text.offset, "a static path must not have empty segments",
                suggestion: "write `/\(segments)`")
            return nil
        }
        if text.value.contains("{") {
            problems.error(
                .badTemplate, at: text.offset, "a path must be static, or exactly the `{name}` of a coordinatorPath",
                suggestion:
                    "remove the value from the path, and bind it: \"bind\": { \"MODEL\": { \"FIELD\": \"path.NAME\" } }"
            )
            return nil
        }
        return Located(segments, at: text.offset)
    }

    private mutating func parents(_ value: JSONValue) -> TableSource.Target.Parents {
        if case .array(let elements) = value.kind {
            return .paths(
                elements.compactMap { element in
                    text(element, "an item of parents").flatMap { staticPath($0) }
                })
        }
        guard case .string = value.kind, let text = text(value, "parents") else {
            wrongType(value, "parents", "a string or a list of paths")
            return .none
        }
        switch text.value {
        case "none": return .none
        case "initial": return .initial
        default:
            if text.value.hasPrefix("route:") {
                return .route(Located(String(text.value.dropFirst(6)), at: text.offset))
            }
            if text.value.hasPrefix("/") {
                problems.error(
                    .badValue, at: text.offset, "the paths of parents must be in a list",
                    suggestion: "write [\"\(text.value)\"]")
            } else {
                badWord(text, "parents", ["none", "initial", "route:ID"])
            }
            return .none
        }
    }

    /// Reads `guards`.
    mutating func guards(_ value: JSONValue) -> [TableSource.Guard] {
        (members(value, "guards") ?? []).compactMap { member in
            name(member.name, at: member.nameOffset - 1, "a guard", .identifier)
            let what = "the guard `\(member.name)`"
            guard let own = object(member.value, what, .guardRule),
                let claim = own["claim"].flatMap({ nonemptyText($0, "claim") }),
                let otherwise = own["else"].flatMap({ object($0, "else", .guardTarget) }),
                let target = otherwise["to"].flatMap({ target($0) })
            else { return nil }
            return TableSource.Guard(
                name: Located(member.name, at: member.nameOffset - 1), claim: claim.value, otherwise: target,
                resume: otherwise["resume"].flatMap { resume($0) })
        }
    }

    private mutating func resume(_ value: JSONValue) -> TableSource.Guard.Resume? {
        guard let members = object(value, "resume", .resumeOptions) else { return nil }
        let once = bool(members["once"], "resume.once", true)
        guard let ttl = members["ttl"] else { return nil }
        if case .number(let number) = ttl.kind {
            wrongType(
                ttl, "resume.ttl", "a string with a unit",
                suggestion: "write \"\(number)s\" for seconds, or \"\(number)m\" for minutes")
            return nil
        }
        guard let text = text(ttl, "resume.ttl") else { return nil }
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86400]
        guard let unit = text.value.last.flatMap({ units[$0] }), text.value.utf8.count <= 10,
            text.value.dropLast().utf8.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }),
            let number = Int64(text.value.dropLast()), number > 0
        else {
            problems.error(
                .badValue, at: text.offset,
                "resume.ttl must be a number greater than 0 with the unit `s`, `m`, `h`, or `d`",
                suggestion: Self.likelyTTL(text.value))
            return nil
        }
        return TableSource.Guard.Resume(ttlSeconds: number * unit, once: once)
    }

    /// Returns a suggestion for a time with a missing or unknown unit.
    ///
    /// For example, `15 min` is `15m`, and a week is seven days.
    private static func likelyTTL(_ text: String) -> String {
        let digits = text.prefix { "0123456789".contains($0) }
        guard let number = Int64(digits), number > 0, number < 1_000_000 else { return "write a time such as `15m`" }
        switch text.dropFirst(digits.count).first(where: { $0 != " " })?.lowercased() {
        case nil: return "write `\(number)s` for seconds, or `\(number)m` for minutes"
        case "s": return "write `\(number)s`"
        case "m": return "write `\(number)m`"
        case "h": return "write `\(number)h`"
        case "d": return "write `\(number)d`"
        case "w": return "write `\(number * 7)d`"
        default: return "write a time such as `15m`"
        }
    }
}
