internal import LinkCoordinator
internal import ByteStorage
internal import StrictJSON

// Descriptions of reasons.
extension Tracer {
    /// Returns a description of a failure, without a period.
    mutating func failureText(_ rejection: Rejection, _ explanation: Explanation) -> String {
        let detail = rejection.detail
        let limits = table.source.limits
        switch (rejection.reason, detail) {
        case (.budget, "bytes"): return "the link has more than \(limits.maxBytes) bytes"
        case (.budget, "segments"): return "the path has more than \(limits.maxSegments) segments"
        case (.budget, "query items"): return "the query has more than \(limits.maxQueryItems) items"
        case (.budget, _): return "the stack has more than \(StaticStack.maxEntries) screens"
        case (.badEncoding, _): return "\(detail) is not valid in a link"
        case (.scheme, ""): return "the link has no scheme"
        case (.scheme, _): return "the scheme `\(detail)` is not listed"
        case (.host, _): return hostText(detail, explanation)
        case (.emptySegment, _): return "the path has an empty segment, which the table rejects"
        case (.dotSegment, _): return "\(detail) consists only of dots"
        case (.noRoute, ""): return noRouteText(explanation)
        case (.noRoute, _): return "there is no route `\(detail)`"
        case (.redirectLimit, _): return "the route `\(detail)` would redirect twice, or be the sixth redirect"
        case (.excluded, _): return "the route is excluded"
        case (.externalRefused, _): return "`externals` does not allow the link's scheme or host"
        case (.unknownScreen, _): return "`\(detail)` is neither a screen of its coordinator nor a coordinator"
        case (.unsupported, _): return "the device lacks the screen `\(detail)`"
        case (.paramInvalid, _): return valueText(detail, "has the wrong type", explanation)
        case (.paramMissing, _): return valueText(detail, "is missing", explanation)
        case (.presentation, _): return "`\(detail)` cannot be presented at its position in the stack"
        default:
            return rejection.reason == .noLink
                ? "the payload contains neither a link nor a route" : "the request could not be resolved"
        }
    }

    private func hostText(_ detail: String, _ explanation: Explanation) -> String {
        let host = explanation.parts.first { $0.kind == .host }
        let text = host.flatMap { part in
            explanation.input.map {
                String(decoding: Array($0.utf8)[part.offset..<(part.offset + part.count)], as: UTF8.self)
            }
        }
        switch detail {
        case "userinfo": return "an http or https link must not contain a user name"
        case "port": return "the port is not a number from 0 to 65535"
        case "syntax": return "`\(text ?? "")` is not a valid host name"
        case "unlisted": return text.map { "the host `\($0)` is not listed" } ?? "the link has no host"
        case "missing": return "http and https links must have a host, even if the table lists links without one"
        default: return "the link has no host"
        }
    }

    private func noRouteText(_ explanation: Explanation) -> String {
        if let last = explanation.redirects.last {
            return "`\(last.route)` redirects to a path that no pattern matches"
        }
        return "no pattern matches the link"
    }

    /// Returns a description such as "`Product.count` from `query.count` is not `int(1..99)`".
    private mutating func valueText(_ field: String, _ fault: String, _ explanation: Explanation) -> String {
        guard let binding = explanation.bindings.first(where: { $0.field == field }) else {
            return field.hasPrefix("path.") ? parameterText(field, fault) : "`\(field)` \(fault)"
        }
        let isWrong = binding.result == .invalid
        let sourceText = binding.source.hasPrefix("const") ? "a constant" : "`\(binding.source)`"
        if isWrong { return "`\(field)` from \(sourceText) is not `\(binding.type)`" }
        return "`\(field)` \(fault): it is read from \(sourceText)"
    }

    /// Returns a description of a parameter of a route request, with the given parameters.
    private mutating func parameterText(_ field: String, _ fault: String) -> String {
        let given = (0..<resolver.record.params.count).map { "`\(resolver.record.params.name(Int32($0)).string)`" }
        let parameters =
            given.isEmpty ? "no parameters were given" : "given: \(given.prefix(8).joined(separator: ", "))"
        return "the parameter `\(field.dropFirst(5))` \(fault); \(parameters)"
    }
}
