internal import LinkCoordinator
internal import ByteStorage

// Explanations of requests, and of the links that are suggested for a failed one.
//
// Both are here because a link is suggested only if its own explanation shows that it works.
extension Tracer {
    /// Runs the phases and, if one fails, adds suggestions by default and marks the part that is at fault.
    mutating func explain(into explanation: inout Explanation, suggestsCorrections: Bool = true) {
        guard let rejection = trace(into: &explanation) else { return }
        if suggestsCorrections { suggestCorrections(rejection, &explanation) }
        markFault(rejection, in: &explanation)
    }

    /// Resolves a request with a table and explains the decision, with suggestions by default.
    static func explained(
        _ request: UnsafePointer<RequestView>, _ facts: UnsafePointer<DeviceView>, by table: RouteTable,
        suggestsCorrections: Bool = true
    ) -> Explanation {
        var resolver = Resolver()
        var arena = OutputArena(chunkBytes: 4096)
        arena.begin()
        _ = resolver.resolve(request, facts, table: table.compiled.handle, head: nil, into: &arena)
        var explanation = Explanation(decision: Decision(arena.finish().array))
        var tracer = Tracer(table, request, facts)
        tracer.explain(into: &explanation, suggestsCorrections: suggestsCorrections)
        return explanation
    }

    /// Explains another link for the same device, without suggestions by default.
    private func explained(_ link: String, suggestsCorrections: Bool = false) -> Explanation {
        Array(link.utf8).withUnsafeBufferPointer { bytes in
            withUnsafePointer(to: RequestView(form: .link, text: ByteView(bytes))) {
                Self.explained($0, facts, by: table, suggestsCorrections: suggestsCorrections)
            }
        }
    }
}

// Suggestions for a failed request.
extension Tracer {
    /// The maximum numbers of suggestions and of listed hosts and other names.
    static let (maxSuggestions, maxListed) = (3, 12)

    /// Adds suggestions for a failed request and, for a scheme or host that is not listed, the most similar patterns.
    private mutating func suggestCorrections(_ rejection: Rejection, _ explanation: inout Explanation) {
        guard let input = explanation.input, let linkParts else { return suggestNames(rejection, &explanation) }
        let link = LinkEdit(Array(input.utf8), linkParts)
        switch rejection.reason {
        case .scheme:
            explanation.listed = nearestFirst(
                table.source.blocks.flatMap { $0.schemes.map(\.value) }, link.scheme ?? "")
            suggestOrigins(otherSchemes(link, explanation.listed), &explanation)
        case .host:
            let hosts = table.source.blocks[blockNumber].hosts.map(\.value)
            // A web link needs a host, even if the table accepts links without one.
            let isMissing = explanation.decision.detail == "missing"
            explanation.listed = nearestFirst(
                hosts.filter { !isMissing || $0 != .empty }.map(\.text), link.host ?? "")
            suggestOrigins(otherHosts(link, hosts), &explanation)
        case .badEncoding, .emptySegment: suggestOrigins([Correction(text: link.cleaned())], &explanation)
        case .noRoute:
            if explanation.redirects.isEmpty { suggestPaths(link, &explanation) }
        case .paramMissing: suggestQueries(link, &explanation)
        default: return
        }
    }

    /// Returns the names that are similar to a text, followed by the others in the table's order.
    private func nearestFirst(_ names: [String], _ text: String) -> [String] {
        let unique = names.unique
        let near = unique.filter { Misspelling.isNear(Array(text.utf8), Array($0.utf8)) }
        return Array((near + unique.filter { !near.contains($0) }).prefix(Self.maxListed))
    }
}

// Schemes and hosts.
extension Tracer {
    /// Returns links to try for one whose scheme is not listed: only links with a similar scheme if there is one.
    private func otherSchemes(_ link: LinkEdit, _ listed: [String]) -> [Correction] {
        let web = listed.filter { $0 == "https" || $0 == "http" }
        guard let scheme = link.scheme else {
            // The first segment can be a host or belong to the path.
            let first = link.withoutSlashes.prefix { $0 != "/" }
            let others = listed.filter { !web.contains($0) }
            var links = [link.trimmed]
            if first.contains(".") { links += (web + others).map { "\($0)://" + link.withoutSlashes } }
            links += others.map { "\($0):///" + link.withoutSlashes }
            return links.map { Correction(text: $0) }
        }
        let near = scheme == "http" ? web : listed.filter { Misspelling.isNear(Array(scheme.utf8), Array($0.utf8)) }
        let links = (near.isEmpty ? listed : near).map { link.with(scheme: $0) }
        return links.map { Correction(text: $0, isLikely: !near.isEmpty || $0.hasPrefix("http")) }
            + (near.isEmpty ? listed : []).filter { !web.contains($0) }.map {
                Correction(text: link.with(scheme: $0, host: ""), isLikely: false)
            }
    }

    private func otherHosts(_ link: LinkEdit, _ hosts: [HostRule]) -> [Correction] {
        // A missing or superfluous slash, userinfo, and ports.
        var corrections = [link.with(host: link.host ?? ""), link.slashed].map { Correction(text: $0, isLikely: true) }
        let written = link.host?.lowercased() ?? ""
        var others: [Correction] = []
        for rule in hosts {
            switch rule {
            case .exact:
                others.append(Correction(text: link.with(host: rule.text), isLikely: Self.isNear(written, rule.text)))
            case .suffix(let suffix):
                // The labels before the suffix stay unchanged.
                let labels = written.split(separator: ".")
                let count = suffix.split(separator: UInt8(ascii: ".")).count
                let tail = labels.suffix(count).joined(separator: ".")
                guard labels.count > count, Self.isNear(tail, Self.text(suffix)) else { continue }
                let host = labels.dropLast(count).joined(separator: ".") + "." + Self.text(suffix)
                others.append(Correction(text: link.with(host: host), isLikely: true))
            case .empty, .any:
                // The text that was read as the host is the first segment: `shop://p/new` instead of `shop:///p/new`.
                if link.scheme != "https", link.scheme != "http" {
                    corrections.append(Correction(text: link.withHostAsSegment, isLikely: true))
                }
            }
        }
        return corrections + others.filter(\.isLikely) + others.filter { !$0.isLikely }
    }

    /// Returns a Boolean value that indicates whether one host was probably written for another.
    ///
    /// The labels of such hosts are similar, or one of them has additional labels before or after the other.
    private static func isNear(_ host: String, _ other: String) -> Bool {
        if host.hasSuffix("." + other) || other.hasSuffix("." + host) { return !host.isEmpty }
        if host.hasPrefix(other + ".") || other.hasPrefix(host + ".") { return !host.isEmpty }
        let (a, b) = (host.split(separator: "."), other.split(separator: "."))
        return a.count == b.count
            && zip(a, b).allSatisfy { $0 == $1 || Misspelling.isNear(Array($0.utf8), Array($1.utf8)) }
            && host != other
    }

    /// A link to try.
    private struct Correction {
        var text: String
        /// A Boolean value that indicates whether to suggest the link, and not only to use its similar patterns.
        var isLikely = true
    }

    /// Resolves corrected links and adds the most similar patterns for the first that matches.
    private mutating func suggestOrigins(_ links: [Correction], _ explanation: inout Explanation) {
        var best: Explanation?
        for link in links where link.text != explanation.input {
            guard explanation.suggestions.count < Self.maxSuggestions,
                !explanation.suggestions.contains(where: { $0.text == link.text })
            else { continue }
            let other = explained(link.text)
            if let route = other.candidates.first(where: \.isChosen)?.route {
                if link.isLikely {
                    explanation.suggestions.append(
                        Explanation.Suggestion(text: link.text, route: other.decision.route ?? route))
                }
                if best?.candidates.isEmpty ?? true { best = other }
            } else if best == nil, other.link != nil {
                best = other
            }
        }
        guard let best else { return }
        if explanation.suggestions.isEmpty, let first = best.input,
            links.contains(where: { $0.isLikely && $0.text == first })
        {
            // Another scheme or host is not enough, so correct the path too.
            let other = explained(first, suggestsCorrections: true)
            explanation.suggestions =
                other.suggestions.isEmpty ? [Explanation.Suggestion(text: first, route: nil)] : other.suggestions
        }
        let mismatch = Explanation.Mismatch(
            part: explanation.listed.isEmpty ? .segment : failedPart(explanation), index: nil,
            expected: explanation.listed.joined(separator: ", "), found: nil, text: failedText(explanation),
            label: "not listed")
        let matching = best.candidates.map {
            Explanation.Rejected(route: $0.route, pattern: $0.pattern, mismatches: [mismatch], isNear: true)
        }
        let others = best.rejected.map {
            Explanation.Rejected(
                route: $0.route, pattern: $0.pattern, mismatches: [mismatch] + $0.mismatches, isNear: $0.isNear)
        }
        explanation.rejected = Array((matching + others).prefix(Explanation.maxRejected))
        explanation.rejectedCount = best.candidates.count + best.rejectedCount
    }

    private func failedPart(_ explanation: Explanation) -> Explanation.Mismatch.Part {
        explanation.decision.reason == .scheme ? .scheme : .host
    }

    private func failedText(_ explanation: Explanation) -> String { explanation.failure?.text ?? "" }
}

// Paths and queries.
extension Tracer {
    /// Suggests links that the most similar patterns match, as far as the patterns determine the text.
    private mutating func suggestPaths(_ link: LinkEdit, _ explanation: inout Explanation) {
        for (rejected, one) in zip(explanation.rejected, rejectedPatterns).prefix(8) where rejected.isNear {
            guard explanation.suggestions.count < Self.maxSuggestions, one.others.isEmpty,
                let text = corrected(link, one), text != explanation.input,
                !explanation.suggestions.contains(where: { $0.text == text })
            else { continue }
            let other = explained(text)
            guard other.candidates.first(where: \.isChosen)?.route == rejected.route else { continue }
            explanation.suggestions.append(
                Explanation.Suggestion(text: text, route: other.decision.route ?? rejected.route))
        }
    }

    /// Returns the link with the path that a pattern expects, or nil if the path cannot be determined or is too
    /// different.
    private mutating func corrected(_ link: LinkEdit, _ one: RejectedPattern) -> String? {
        let pattern = table.source.routes[one.route].patterns[one.pattern].path
        var link = link
        let shift = resolver.selection.path.first
        let segments = resolver.path.map(\.text.array)
        var isChanged = false
        for step in one.alignment.steps.reversed() {
            switch step {
            case .fits: continue
            case .extra(let segment): link.remove(segment: segment + shift)
            case .wrong(let segment, let matcher):
                guard let text = replacement(segments[segment], pattern.matchers[matcher]) else { return nil }
                link.replace(segment: segment + shift, by: text)
            case .missing(let matcher, let next):
                guard case .literal(let text) = pattern.matchers[matcher] else { return nil }
                link.insert(text, before: next + shift)
            }
            if isChanged, one.alignment.cost > 2 * PatternAlignment.Cost.extra { return nil }
            isChanged = true
        }
        return isChanged ? link.text : nil
    }

    /// Returns the text that was probably intended for a matcher, or nil if it cannot be determined.
    private func replacement(_ text: [UInt8], _ matcher: Matcher) -> [UInt8]? {
        switch matcher {
        case .literal(let own): return Misspelling.isNear(text, own) ? own : nil
        case .anySegment(let own): return Misspelling.isNear(text, own) ? own : nil
        case .enumeration(let values): return values.first { Misspelling.isNear(text, $0) }
        case .coordinatorPath:
            return table.source.coordinators.map { Array($0.name.value.utf8) }.first { Misspelling.isNear(text, $0) }
        case .int:
            let digits = text.drop { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "0") }
            return digits.isEmpty ? nil : Array(digits)
        case .uuid:
            let dashes = Self.text(text).unicodeScalars.map { scalar in
                (0x2010...0x2015).contains(scalar.value) || scalar.value == 0x2212 ? "-" : scalar
            }
            var plain = ""
            plain.unicodeScalars.append(contentsOf: dashes)
            return Array(plain.utf8)
        default: return nil
        }
    }

    /// Suggests links in which a query name that is similar to the missing one is replaced by it.
    private mutating func suggestQueries(_ link: LinkEdit, _ explanation: inout Explanation) {
        for part in explanation.parts where part.kind == .query {
            guard let hint = part.hint, case let pieces = hint.split(separator: "`"), pieces.count > 1 else { continue }
            let text = link.with(queryName: String(pieces[1]), at: part)
            let other = explained(text)
            guard other.failure == nil, let route = other.decision.route else { continue }
            explanation.suggestions.append(Explanation.Suggestion(text: text, route: route))
        }
    }
}

// Requests that are not links.
extension Tracer {
    private mutating func suggestNames(_ rejection: Rejection, _ explanation: inout Explanation) {
        var names: [String] = []
        var requestedName = rejection.detail
        switch (rejection.reason, request.pointee.form) {
        case (.noRoute, .route), (.noRoute, .payload): names = table.source.routes.map(\.id.value)
        case (.unknownScreen, .path):
            names = table.source.coordinators.flatMap { $0.screens.map(\.name.value) + [$0.name.value] }
        case (.paramMissing, .route):
            let given = (0..<resolver.record.params.count).map { resolver.record.params.name(Int32($0)).string }
            requestedName = requestedName.split(separator: ".").last.map(String.init) ?? requestedName
            // A parameter was given under a similar name.
            names =
                given.contains { Misspelling.isNear(Array($0.utf8), Array(requestedName.utf8)) } ? [requestedName] : []
        default: return
        }
        let near = names.filter { Misspelling.isNear(Array(requestedName.utf8), Array($0.utf8)) }
        for name in near.prefix(Self.maxSuggestions) where !explanation.suggestions.contains(where: { $0.text == name })
        {
            let isRoute = rejection.reason == .noRoute
            explanation.suggestions.append(Explanation.Suggestion(text: name, route: isRoute ? name : nil))
        }
    }
}

/// A link whose parts, identified by their byte ranges, can be replaced.
struct LinkEdit {
    private var bytes: [UInt8]
    private let linkParts: LinkParts
    /// The current byte ranges of the segments.
    private var segments: [Range<Int>]
    private var pathEnd: Int

    init(_ bytes: [UInt8], _ linkParts: LinkParts) {
        self.bytes = bytes
        self.linkParts = linkParts
        segments = linkParts.parts.filter { $0.kind == .segment }.map { $0.offset..<($0.offset + $0.count) }
        pathEnd = linkParts.pathEnd
    }

    /// The current text of the link.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    private func string(_ range: some RangeExpression<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    private func part(_ kind: LinkPart.Kind) -> String? {
        linkParts.parts.first { $0.kind == kind }.map { string($0.offset..<($0.offset + $0.count)) }
    }

    /// The scheme in lowercase, or nil if there is none.
    var scheme: String? { part(.scheme)?.lowercased() }
    /// The host as received.
    var host: String? { part(.host) }
    /// The link without surrounding white space, brackets, and quotes.
    var trimmed: String {
        let around = Array(" \t\r\n<>\"'()[]".utf8)
        let start = bytes.firstIndex { !around.contains($0) } ?? 0
        let end = bytes.lastIndex { !around.contains($0) } ?? -1
        return end < start ? "" : string(start...end)
    }
    /// The link without leading slashes.
    var withoutSlashes: String { String(trimmed.drop { $0 == "/" }) }

    /// The offset of the end of the authority, which is the start of the path.
    private var authorityEnd: Int {
        let authority = linkParts.parts.filter { $0.offset >= linkParts.authorityStart && $0.kind.isAuthority }
        return authority.last.map { $0.offset + $0.count } ?? linkParts.authorityStart
    }

    /// Returns the link with another scheme, or with another host and without userinfo and port.
    func with(scheme: String? = nil, host: String? = nil) -> String {
        let name = scheme ?? self.scheme ?? ""
        let hasSlashes = string(..<linkParts.authorityStart).hasSuffix("//")
        guard let host else { return name + string((part(.scheme)?.utf8.count ?? 0)...) }
        let rest = string((hasSlashes ? authorityEnd : linkParts.authorityStart)...)
        return "\(name)://\(host)" + (rest.hasPrefix("/") || host.isEmpty == rest.isEmpty ? "" : "/") + rest
    }

    /// The link with exactly two slashes after its scheme.
    var slashed: String {
        let count = part(.scheme)?.utf8.count ?? 0
        let rest = string(min(count + 1, bytes.count)...).drop { $0 == "/" }
        return string(..<count) + "://" + rest
    }

    /// The link with its host as the first segment of the path.
    var withHostAsSegment: String {
        "\(scheme ?? "")://" + "/" + string(linkParts.authorityStart...)
    }

    /// Returns the link without bytes that are invalid in links, and with single slashes in its path.
    func cleaned() -> String {
        let invisible: [ClosedRange<UInt32>] = [
            0x200B...0x200F, 0x202A...0x202E, 0x2060...0x2060, 0x2066...0x2069, 0xFEFF...0xFEFF,
        ]
        var result = ""
        for scalar in trimmed.unicodeScalars where scalar.value >= 0x20 && scalar.value != 0x7F {
            if scalar == "\\" {
                result.append("/")
            } else if !invisible.contains(where: { $0.contains(scalar.value) }), scalar.value != 0xFFFD {
                result.unicodeScalars.append(scalar)
            }
        }
        guard let start = result.firstRange(of: "://") else { return result }
        let head = result[..<start.upperBound]
        var path = result[start.upperBound...]
        let tail = path.firstIndex { $0 == "?" || $0 == "#" }.map { path[$0...] } ?? ""
        path = path.dropLast(tail.count)
        var single = ""
        for character in path where character != "/" || single.last != "/" { single.append(character) }
        return head + single + tail
    }

    /// Replaces a segment.
    mutating func replace(segment index: Int, by text: [UInt8]) {
        guard segments.indices.contains(index) else { return }
        splice(segments[index], Array(LinkEncoding.encode(text).utf8))
    }

    /// Removes a segment with the slash before it, or the slash after it if the segment is the host.
    mutating func remove(segment index: Int) {
        guard segments.indices.contains(index) else { return }
        let own = segments[index]
        let hasSlash = own.lowerBound > linkParts.authorityStart && bytes[own.lowerBound - 1] == UInt8(ascii: "/")
        let range = hasSlash ? (own.lowerBound - 1)..<own.upperBound : own.lowerBound..<min(own.upperBound + 1, pathEnd)
        splice(range, [])
        segments.remove(at: index)
    }

    /// Inserts a segment before another one, or at the end of the path.
    mutating func insert(_ text: [UInt8], before index: Int) {
        let encoded = Array(LinkEncoding.encode(text).utf8)
        guard segments.indices.contains(index) else {
            let hasSlash = pathEnd > 0 && bytes[pathEnd - 1] == UInt8(ascii: "/")
            return splice(pathEnd..<pathEnd, (hasSlash ? [] : [UInt8(ascii: "/")]) + encoded)
        }
        splice(segments[index].lowerBound..<segments[index].lowerBound, encoded + [UInt8(ascii: "/")])
    }

    /// Returns the link with another name in a part of its query.
    func with(queryName name: String, at part: LinkPart) -> String {
        let piece = bytes[part.offset..<(part.offset + part.count)]
        let value = piece.firstIndex(of: UInt8(ascii: "=")).map { piece[$0...] } ?? []
        return string(..<part.offset) + name + String(decoding: value, as: UTF8.self)
            + string((part.offset + part.count)...)
    }

    private mutating func splice(_ range: Range<Int>, _ text: [UInt8]) {
        bytes.replaceSubrange(range, with: text)
        let change = text.count - range.count
        for index in segments.indices where segments[index].lowerBound >= range.upperBound {
            segments[index] = (segments[index].lowerBound + change)..<(segments[index].upperBound + change)
        }
        pathEnd += change
    }
}

extension LinkPart.Kind {
    /// A Boolean value that indicates whether the part belongs to the authority.
    fileprivate var isAuthority: Bool {
        switch self {
        case .userinfo, .host, .port: true
        default: false
        }
    }
}
