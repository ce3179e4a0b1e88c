internal import ByteStorage
internal import LinkCoordinator
internal import RouteAnalysis

/// Sample links, generated from the patterns of a table.
///
/// Each link selects the route that it was generated for. The links are examples in documents, and test inputs for
/// exported patterns.
enum SampleLinks {
    /// Returns a link to the route, with the query parameters that it requires, or nil if none was found.
    static func first(of route: TableSource.Route, in table: RouteTable) -> String? {
        for pattern in route.patterns {
            for link in candidates(pattern, of: route, in: table.source) where selects(link, route, table) {
                return link
            }
        }
        return nil
    }

    /// Returns one link for each pattern of the route, except for patterns without one.
    static func all(of route: TableSource.Route, in table: RouteTable) -> [String] {
        route.patterns.compactMap { pattern in
            candidates(pattern, of: route, in: table.source).first { selects($0, route, table) }
        }.unique
    }

    /// Returns the target of a redirecting route, determined by resolving one of its links.
    ///
    /// If that does not succeed, links with the query parameters of other routes are tried.
    static func redirectTarget(of route: TableSource.Route, in table: RouteTable) -> String? {
        guard let link = first(of: route, in: table), let block = table.source.blocks.first else { return nil }
        if let target = table.resolve(link).route, target != route.id.value { return target }
        for other in table.source.routes where !other.query.isEmpty {
            let query = query(of: other, in: table.source, block: block)
            if table.resolve(link + "?" + query).route == other.id.value { return other.id.value }
        }
        return nil
    }

    private static func selects(_ link: String, _ route: TableSource.Route, _ table: RouteTable) -> Bool {
        let decision = table.resolve(link)
        return decision.via.first == route.id.value || (decision.via.isEmpty && decision.route == route.id.value)
    }

    /// Returns links that match the pattern, the simplest first.
    ///
    /// A more specific pattern can match some of them.
    private static func candidates(
        _ pattern: TableSource.RoutePattern, of route: TableSource.Route, in source: TableSource
    ) -> [String] {
        guard let origin = SampleOrigin(source, scheme: pattern.scheme, host: pattern.host) else { return [] }
        let query = query(of: route, in: source, block: origin.block)
        return (0..<SampleValue.attempts).compactMap { attempt in
            self.segments(of: pattern.path, attempt, source).map { segments in
                origin.link(segments: segments) + (query.isEmpty ? "" : "?" + query)
            }
        }
    }

    private static func segments(of pattern: Pattern, _ attempt: Int, _ source: TableSource) -> [String]? {
        var segments: [String] = []
        for (index, matcher) in pattern.matchers.enumerated() {
            let capture = pattern.captures.first { $0.segment == index }
            switch matcher {
            case .end: break
            case .restStar, .restPlus: segments += ["part", "of", "it"].prefix(attempt % 3 + 1)
            case .anySegment(let text):
                guard let fillers = AnySegmentFillers.all(of: pattern)[safe: attempt] else { return nil }
                segments = fillers.around([String(decoding: text, as: UTF8.self)])
            case .coordinatorPath:
                guard let coordinator = source.coordinators[safe: attempt % max(1, source.coordinators.count)]
                else { return nil }
                segments.append(coordinator.name.value)
                let screen = coordinator.screens.first { $0.needs.isEmpty } ?? coordinator.screens.first
                if let screen { segments.append(screen.name.value) }
            default:
                guard let text = SampleValue.segment(matcher, name: capture?.name ?? "", attempt: attempt) else {
                    return nil
                }
                segments.append(text)
            }
        }
        return segments
    }

    /// Returns the constraints of the route and its required values, in the query syntax of the block.
    private static func query(
        of route: TableSource.Route, in source: TableSource, block: TableSource.LinkBlock
    ) -> String {
        let separator = String(decoding: block.query.pairSeparators.prefix(1), as: UTF8.self)
        var pairs: [String] = []
        var named: Set<String> = []
        func add(_ name: String, _ value: String?) {
            guard named.insert(name).inserted else { return }
            let text = block.query.decode == .none ? name : PercentText.encode(name)
            let shown = value.map { block.query.decode == .none ? $0 : PercentText.encode($0) }
            pairs.append(text + (shown.map { "=" + $0 } ?? ""))
        }
        for constraint in route.query {
            switch constraint.test {
            case .equals(let value): add(constraint.name.value, value)
            case .present: add(constraint.name.value, "1")
            case .absent: named.insert(constraint.name.value)
            }
        }
        for binding in route.bindings {
            guard case .query(let name) = binding.source.value,
                let field = source.models.first(where: { $0.name == binding.model })?
                    .field(named: binding.field.value),
                field.absence == .required
            else { continue }
            add(name, SampleValue.field(field.type, name: name))
        }
        return pairs.joined(separator: separator)
    }
}

extension Array {
    /// Returns the element at an index, or nil if there is none.
    package subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}

/// The start of a table's links: a scheme with a host, or only a scheme if the block reads the host as a segment.
struct SampleOrigin {
    /// The block that reads the link.
    let block: TableSource.LinkBlock
    let scheme: String
    /// The host with its port, or nil if the block reads the host as the first segment.
    let host: String?

    /// Creates the first origin that a pattern's scheme and host rule allow, or returns nil if there is none.
    ///
    /// A rule for many hosts is represented by one of them, for example `*.shop.example` by `www.shop.example`.
    init?(_ source: TableSource, scheme: String? = nil, host rule: HostRule? = nil) {
        for block in source.blocks {
            for name in Self.schemes(of: block, requested: scheme, in: source) {
                if block.hostRole == .segment {
                    guard rule == nil else { continue }
                    self.init(block: block, scheme: name, host: nil)
                    return
                }
                let isWeb = ["http", "https"].contains(name.lowercased())
                guard let host = Self.host(of: block, requested: rule, isWeb: isWeb) else { continue }
                self.init(block: block, scheme: name, host: host)
                return
            }
        }
        return nil
    }

    /// Creates an origin from its parts.
    init(block: TableSource.LinkBlock, scheme: String, host: String?) {
        self.block = block
        self.scheme = scheme
        self.host = host
    }

    /// Returns the link with the given segments and without a query.
    func link(segments: [String]) -> String {
        let path = segments.map(PercentText.encode).joined(separator: "/")
        if let host { return "\(scheme)://\(host)/\(path)" }
        return "\(scheme)://" + (segments.isEmpty ? "/" : path)
    }

    /// Returns the schemes of a block, https first, because a browser opens its links even without the app.
    private static func schemes(
        of block: TableSource.LinkBlock, requested: String?, in source: TableSource
    ) -> [String] {
        let names = block.schemes.map(\.value)
        if let requested {
            if names.contains(requested) { return [requested] }
            let isNamed = source.blocks.contains { $0.schemes.contains { $0.value == requested } }
            return block.acceptsOtherSchemes && !isNamed ? [requested] : []
        }
        let web = names.filter { $0 == "https" }
        return web + names.filter { $0 != "https" } + (names.isEmpty && block.acceptsOtherSchemes ? ["app"] : [])
    }

    private static func host(of block: TableSource.LinkBlock, requested: HostRule?, isWeb: Bool) -> String? {
        // An http or https link must have a host.
        if isWeb && requested == .empty { return nil }
        let rules = block.hosts.map(\.value).filter { !isWeb || $0 != .empty }
        if let requested, requested != .any {
            return rules.contains { $0.overlaps(requested) } ? requested.sample : nil
        }
        let named = rules.first { if case .exact = $0 { true } else { false } }
        return (named ?? rules.first)?.sample
    }
}

extension HostRule {
    /// A host that the rule matches.
    var sample: String {
        switch self {
        case .any: "example.com"
        case .empty: ""
        case .exact(let host, let port): String(decoding: host, as: UTF8.self) + (port.map { ":\($0)" } ?? "")
        case .suffix(let suffix): "www." + String(decoding: suffix, as: UTF8.self)
        }
    }
}

/// Sample values that a matcher or a type accepts.
enum SampleValue {
    /// The number of different values to try for one segment.
    static let attempts = 6

    private static let uuids = [
        "B121D5E7-EA65-49F8-8B33-B3C43FA93866", "80674450-AAEC-4704-9D0F-63C7B2068FF1",
    ]

    /// Returns a segment that the matcher accepts, or nil if this attempt has none.
    static func segment(_ matcher: Matcher, name: String, attempt: Int) -> String? {
        switch matcher {
        case .literal(let text): return String(decoding: text, as: UTF8.self)
        case .enumeration(let values): return String(decoding: values[attempt % values.count], as: UTF8.self)
        case .affix(let prefix, let inner, let suffix):
            return segment(inner, name: name, attempt: attempt).map {
                String(decoding: prefix, as: UTF8.self) + $0 + String(decoding: suffix, as: UTF8.self)
            }
        case .int(let min, let max): return String(integer(min, max, attempt))
        case .bool: return ["true", "false", "1", "0"][attempt % 4]
        case .date: return ["2025-11-20", "2024-02-29", "2026-01-01"][attempt % 3]
        case .uuid: return uuids[attempt % uuids.count]
        case .characters(let set, let min, let max): return characters(set, min, max, attempt)
        case .any: return ["\(name.isEmpty ? "value" : name)", "42", "blue", "a b", "x-1", "é"][attempt % 6]
        case .coordinatorPath, .anySegment, .restPlus, .end, .restStar: return nil
        }
    }

    /// Returns a value of a field's type, in the form of a link.
    static func field(_ type: FieldType, name: String, attempt: Int = 0) -> String {
        switch type {
        case .uuid: return uuids[attempt % uuids.count]
        case .int(let min, let max): return String(integer(min, max, attempt))
        case .string(let min, let max):
            let texts = [name, "42", "blue", "a b", "x-1", "\u{E9}"]
            let text = texts[attempt % texts.count]
            if text.utf8.count >= min, text.utf8.count <= max { return text }
            return String(repeating: "x", count: Swift.max(min, Swift.min(1, max)))
        case .bool: return ["true", "false"][attempt % 2]
        case .double: return ["1.5", "2", "-0.25"][attempt % 3]
        case .decimal(let min, let max):
            let valid = ["1.5", "1", min, max, "2", "-0.25"].compactMap(\.self).filter { type.canonicalText($0) != nil }
            return valid.isEmpty ? "0" : valid[attempt % valid.count]
        case .dateTime: return ["2025-11-20T09:30:00Z", "2024-02-29T23:59:59.5Z"][attempt % 2]
        case .date: return ["2025-11-20", "2024-02-29", "2026-01-01"][attempt % 3]
        case .enumeration(let values):
            return values.isEmpty ? "" : String(decoding: values[attempt % values.count], as: UTF8.self)
        case .url(let hosts):
            return "https://\(hosts.first?.sample ?? "example.com")/" + ["", "x"][attempt % 2]
        case .list(let element, _, _): return field(element, name: name, attempt: attempt)
        }
    }

    private static func integer(_ min: Int64, _ max: Int64, _ attempt: Int) -> Int64 {
        let candidates: [Int64] = [12, 7, 1, 99, min, max]
        return Swift.min(Swift.max(candidates[attempt % candidates.count], min), max)
    }

    private static func characters(_ set: CharacterClass, _ min: Int, _ max: Int, _ attempt: Int) -> String {
        let letters = set.characters.reversed().filter { $0 != UInt8(ascii: ".") }
        let all = letters.isEmpty ? set.characters : letters
        let count = attempt % 2 == 0 ? min : max
        return String(decoding: (0..<count).map { all[($0 + attempt) % all.count] }, as: UTF8.self)
    }
}

/// Percent-encoding for generated links.
enum PercentText {
    /// Returns a segment, or a name or value of a query, with all but unreserved characters escaped (RFC 3986, 2.3).
    static func encode(_ text: String) -> String { LinkEncoding.encode(Array(text.utf8)) }

    /// Returns a literal of a pattern in the form that browsers keep: `pchar` (RFC 3986, 3.3) is not escaped.
    static func literal(_ text: [UInt8]) -> String {
        text.map { byte in
            PercentDecoding.isUnreserved(byte) || "!$&'()*+,;=:@".utf8.contains(byte)
                ? String(UnicodeScalar(byte)) : LinkEncoding.escape([byte])
        }.joined()
    }
}
