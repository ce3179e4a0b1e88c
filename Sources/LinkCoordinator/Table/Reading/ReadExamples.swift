internal import StrictJSON

extension TableReader {
    /// Reads `fallback`: a rule or a list of rules.
    mutating func fallback(_ value: JSONValue) -> [TableSource.FallbackRule] {
        if case .array(let elements) = value.kind { return elements.compactMap { fallbackRule($0) } }
        return fallbackRule(value).map { [$0] } ?? []
    }

    private mutating func fallbackRule(_ value: JSONValue) -> TableSource.FallbackRule? {
        if case .string(let text) = value.kind {
            wrongType(value, "a fallback rule", "an object", suggestion: "write { \"outcome\": \"\(text)\" }")
            return nil
        }
        guard let members = object(value, "a fallback rule", .fallbackRule),
            let outcome = members["outcome"]
        else { return nil }
        var rule = TableSource.FallbackRule(
            on: members["on"].map { reasons($0) }, outcome: choice(outcome, "fallback.outcome", .reject),
            to: members["to"].flatMap { target($0) }, offset: value.offset)
        let leads = rule.outcome == .navigate || rule.outcome == .external
        if let to = members["to"], !leads {
            problems.error(
                .keyNotAllowed, at: to.offset, "`to` is not allowed with the outcome `\(rule.outcome.rawValue)`")
            rule.to = nil
        } else if leads, members["to"] == nil {
            problems.error(
                .missingKey, at: value.offset,
                "a fallback rule with the outcome `\(rule.outcome.rawValue)` needs the key `to`")
        }
        guard let target = rule.to else { return rule }
        let isExternal = if case .external = target.destination { true } else { false }
        if isExternal != (rule.outcome == .external) {
            problems.error(
                .badValue, at: target.offset,
                "the outcome `\(rule.outcome.rawValue)` needs \(isExternal ? "a path or the root" : "an external URL")")
        }
        return rule
    }

    private mutating func reasons(_ value: JSONValue) -> [Located<ReasonCode>] {
        if case .array(let elements) = value.kind, elements.isEmpty {
            problems.error(
                .badValue, at: value.offset, "on must list at least one reason",
                suggestion: "list the reasons, or remove `on` so that the rule applies to every reason")
        }
        let known = ReasonCode.allCases.filter { ![.excluded, .noLink, .internalError].contains($0) }
        return texts(value, "on").compactMap { text in
            if let reason = ReasonCode(rawValue: text.value), known.contains(reason) {
                return Located(reason, at: text.offset)
            }
            if ReasonCode(rawValue: text.value) != nil {
                problems.error(
                    .badValue, at: text.offset, "the reason `\(text.value)` never reaches the fallback",
                    suggestion: "remove it")
            } else {
                badWord(text, "on", known.map(\.rawValue))
            }
            return nil
        }
    }

    /// Reads `examples`.
    mutating func examples(_ value: JSONValue) -> [TableSource.Example] {
        (list(value, "examples") ?? []).compactMap { example($0) }
    }

    private mutating func example(_ value: JSONValue) -> TableSource.Example? {
        guard let members = object(value, "an example", .example),
            let key = onlyKey(of: ["link", "request"], in: members), let content = members[key]
        else { return nil }
        var request = TableSource.Example.Request.request(content)
        if key == "link" {
            guard case .string(let link) = content.kind else {
                wrongType(content, "link", "a string")
                return nil
            }
            request = .link(link)
        } else if !checkRequest(content) {
            return nil
        }
        if let device = members["device"] { _ = object(device, "device", .deviceFacts) }
        let expectations = TableObject.expectations.compactMap { name in
            members[name].map { TableSource.Example.Expectation(member: name, value: Self.normalized($0)) }
        }
        return TableSource.Example(
            request: request, device: members["device"].map(Self.normalized), expectations: expectations,
            offset: value.offset)
    }

    private mutating func checkRequest(_ value: JSONValue) -> Bool {
        guard let members = object(value, "request", .exampleRequest),
            let form = onlyKey(of: ["link", "path", "route", "payload"], in: members), let content = members[form]
        else { return false }
        for (key, owner) in [("mode", "path"), ("params", "route")] {
            guard form != owner, let own = members[key] else { continue }
            problems.error(.keyNotAllowed, at: own.offset, "`\(key)` is only allowed in a request with `\(owner)`")
        }
        if let mode = members["mode"] { _ = choice(mode, "mode", TableSource.Target.Mode.replace) }
        if let params = members["params"] { _ = self.members(params, "params") }
        if form == "payload" { return self.members(content, "payload") != nil }
        return text(content, form) != nil
    }

    /// Returns the value with all its texts in NFC.
    private static func normalized(_ value: JSONValue) -> JSONValue {
        switch value.kind {
        case .string(let text): JSONValue(.string(nfc(text)), offset: value.offset)
        case .array(let elements): JSONValue(.array(elements.map(normalized)), offset: value.offset)
        case .object(let members):
            JSONValue(
                .object(
                    members.map {
                        JSONMember(name: nfc($0.name), nameOffset: $0.nameOffset, value: normalized($0.value))
                    }), offset: value.offset)
        default: value
        }
    }
}
