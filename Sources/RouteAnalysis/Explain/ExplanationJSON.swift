internal import LinkCoordinator
internal import StrictJSON

extension Explanation {
    /// The trace as JSON, for the decision's member `explain`.
    ///
    /// `candidates`, `rejected` and `variants` come first, then the results of the other phases.
    public var json: [UInt8] { [UInt8](value.text.utf8) }

    var value: JSONValue {
        var members: [JSONMember] = [
            .list("candidates", candidates.map(\.value)), .list("rejected", rejected.map(\.value)),
            .list("variants", variants.map(\.value)),
        ]
        if !suggestions.isEmpty { members.append(.list("suggestions", suggestions.map(\.value))) }
        if !listed.isEmpty { members.append(.texts("listed", listed)) }
        if let link {
            members.append(JSONMember(name: "link", value: link.value(parts)))
        } else if !parts.isEmpty {
            // The parts of a link that failed to normalize.
            let own = JSONValue.object(.list("parts", parts.map(\.value)))
            members.append(JSONMember(name: "link", value: own))
        }
        members.append(.list("redirects", redirects.map(\.value)))
        members.append(.list("captures", captures.map { .object(.text("name", $0.name), .text("value", $0.value)) }))
        members.append(.list("compose", composed.map(\.value)))
        members.append(.list("bind", bindings.map(\.jsonValue)))
        members.append(.list("guards", guards.map(\.value)))
        if let failure { members.append(JSONMember(name: "failed", value: failure.value)) }
        return JSONValue(.object(members))
    }

    /// The decision's JSON with the trace as its last member.
    public var decisionJSON: [UInt8] {
        var bytes = decision.json
        bytes.removeLast()
        return bytes + [UInt8](",\"explain\":".utf8) + json + [UInt8(ascii: "}")]
    }
}

extension JSONMember {
    fileprivate static func text(_ name: String, _ text: String) -> JSONMember {
        JSONMember(name: name, value: JSONValue(.string(text)))
    }

    fileprivate static func number(_ name: String, _ number: Int) -> JSONMember {
        JSONMember(name: name, value: JSONValue(.number("\(number)")))
    }

    fileprivate static func bool(_ name: String, _ value: Bool) -> JSONMember {
        JSONMember(name: name, value: JSONValue(.bool(value)))
    }

    fileprivate static func list(_ name: String, _ items: [JSONValue]) -> JSONMember {
        JSONMember(name: name, value: JSONValue(.array(items)))
    }

    fileprivate static func texts(_ name: String, _ texts: [String]) -> JSONMember {
        .list(name, texts.map { JSONValue(.string($0)) })
    }
}

extension JSONValue {
    fileprivate static func object(_ members: JSONMember?...) -> JSONValue {
        JSONValue(.object(members.compactMap { $0 }))
    }
}

extension ModelValue {
    /// The value in the form of a decision's JSON.
    var json: JSONValue {
        switch self {
        case .null: JSONValue(.null)
        case .bool(let value): JSONValue(.bool(value))
        case .number(let text): JSONValue(.number(text))
        case .text(let text): JSONValue(.string(text))
        case .list(let items): JSONValue(.array(items.map(\.json)))
        }
    }
}

extension Explanation.Link {
    fileprivate func value(_ parts: [LinkPart]) -> JSONValue {
        .object(
            .text("scheme", scheme), host.map { .text("host", $0) }, .texts("segments", segments),
            .list(
                "query",
                query.map { item in .object(.text("name", item.name), item.value.map { .text("value", $0) }) }),
            .texts("rewrites", rewrites), .text("dialect", dialect), .list("parts", parts.map(\.value)))
    }
}

extension LinkPart {
    fileprivate var value: JSONValue {
        .object(
            .text("kind", kind.rawValue), .number("offset", offset), .number("bytes", count),
            use.map { .text("use", $0) }, hint.map { .text("hint", $0) }, fault.map { .text("fault", $0) })
    }
}

extension Explanation.Candidate {
    fileprivate var value: JSONValue {
        .object(.text("route", route), .text("pattern", pattern), isChosen ? .bool("chosen", true) : nil)
    }
}

extension Explanation.Rejected {
    fileprivate var value: JSONValue {
        .object(
            .text("route", route), .text("pattern", pattern), firstMismatchedSegment.map { .number("at", $0) },
            .text("want", expected),
            .bool("near", isNear), .list("misses", mismatches.map(\.value)))
    }
}

extension Explanation.Mismatch {
    fileprivate var value: JSONValue {
        .object(
            .text("part", part.rawValue), index.map { .number("segment", $0) }, .text("want", expected),
            found.map { .text("found", $0) }, .text("text", text))
    }
}

extension Explanation.Suggestion {
    fileprivate var value: JSONValue { .object(.text("text", text), route.map { .text("route", $0) }) }
}

extension Explanation.VariantResult {
    fileprivate var value: JSONValue { .object(.number("index", index), .text(holds ? "ok" : "failed", because)) }
}

extension Explanation.Redirect {
    fileprivate var value: JSONValue {
        .object(
            .text("route", route), .text("to", to), segments.map { .texts("segments", $0) },
            leadsTo.map { .text("leadsTo", $0) })
    }
}

extension Explanation.ComposedEntry {
    fileprivate var value: JSONValue {
        .object(
            .text("coordinator", coordinator), .text("screen", screen), .text("present", present.rawValue),
            isParent ? .bool("parent", true) : nil, isSupported ? nil : .bool("unsupported", true))
    }
}

extension Explanation.Binding {
    fileprivate var jsonValue: JSONValue {
        .object(
            .text("field", field), .text("source", source), .text("type", type), .texts("raw", raw),
            .text("result", result.rawValue),
            self.value.map { JSONMember(name: "value", value: $0.json) })
    }
}

extension Explanation.Guard {
    fileprivate var value: JSONValue {
        .object(
            .text("coordinator", coordinator), .text("guard", name), .text("claim", claim), .bool("holds", holds))
    }
}

extension Explanation.Failure {
    fileprivate var value: JSONValue {
        .object(
            .text("phase", phase.rawValue), .text("reason", reason.rawValue),
            detail.isEmpty ? nil : .text("detail", detail),
            .text("text", text), rule.map { .number("fallback", $0) })
    }
}
