import LinkCoordinator
import TestSupport

/// A link with its parts.
struct GeneratedLink: Sendable {
    var scheme: String
    /// The host and optional port as written in the link, or nil for a link without an authority.
    var authority: String?
    /// The decoded authority, if a block reads it as a segment.
    var authoritySegment: [UInt8]?
    /// The decoded segments of the path, without empty ones and without the authority.
    var segments: [[UInt8]]
    /// The path as written in the link.
    var path: String
    /// The query as written in the link, or nil for none.
    var query: String?
    var fragment: String?

    var text: String {
        "\(scheme):" + (authority.map { "//\($0)" } ?? "") + path + (query.map { "?\($0)" } ?? "")
            + (fragment.map { "#\($0)" } ?? "")
    }

    /// The number of bytes before the path.
    var pathStart: Int { scheme.utf8.count + 1 + (authority.map { $0.utf8.count + 2 } ?? 0) }
    /// The number of bytes before the fragment.
    var fragmentStart: Int { pathStart + path.utf8.count + (query.map { $0.utf8.count + 1 } ?? 0) }
}

/// Generates links that routes of a table are likely to match, and near misses.
struct LinkGenerator: SeededChoices {
    let source: TableSource
    var generator: SeededGenerator
    private let names: [String]
    private let screens: [String]
    private var targets: [(route: Int, pattern: TableSource.RoutePattern)]

    init(_ source: TableSource, seed: UInt64) {
        self.source = source
        generator = SeededGenerator(seed: seed)
        names = source.coordinators.map(\.name.value)
        screens = source.coordinators.flatMap { $0.screens.map(\.name.value) }
        targets = source.routes.enumerated().flatMap { index, route in route.patterns.map { (index, $0) } }
    }

    /// Limits the generator to links for these routes.
    mutating func keep(_ routes: Set<String>) {
        targets.removeAll { !routes.contains(source.routes[$0.route].id.value) }
    }

    /// Segments that patterns of generated tables may match or nearly match.
    private static let words = [
        "a", "b", "x", "ab", "a7", "7", "12", "15", "100", "201", "a1b", "zz", "true", "0", "2025-01-31", "07",
        "80674450-aaec-4704-9d0f-63c7b2068ff1", "long-segment", "home", "shop", "feed", "é", "a b", "en", "v1", "A",
        "%41", "日本",
    ]

    /// Returns a link, usually for a route of the table, and sometimes with random words.
    mutating func link() -> GeneratedLink {
        let block = source.blocks[Int.random(in: 0..<source.blocks.count, using: &generator)]
        guard !targets.isEmpty, !one(in: 12) else { return render(block, nil, anySegments(), nil) }
        let (route, pattern) = pick(targets)
        var segments = segments(for: pattern.path)
        if one(in: 6) { miss(&segments) }
        if one(in: 3), let rule = block.rewrites.first { segments = prefix(rule) + segments }
        return render(block, pattern, segments, source.routes[route])
    }

    private mutating func anySegments() -> [[UInt8]] {
        (0..<Int.random(in: 0...4, using: &generator)).map { _ in Array(pick(Self.words).utf8) }
    }

    private mutating func miss(_ segments: inout [[UInt8]]) {
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: segments.append(Array(pick(Self.words).utf8))
        case 1 where !segments.isEmpty: segments.removeLast()
        default:
            if segments.isEmpty { return }
            segments[Int.random(in: 0..<segments.count, using: &generator)] = Array(pick(Self.words).utf8)
        }
    }

    private mutating func prefix(_ rule: TableSource.Rewrite) -> [[UInt8]] {
        rule.pattern.matchers.prefix(rule.segmentCount).map { segment(for: $0) }
    }

    // MARK: Paths

    /// Returns segments that the pattern matches.
    mutating func segments(for pattern: Pattern) -> [[UInt8]] {
        var segments = pattern.matchers.dropLast().map { segment(for: $0) }
        switch pattern.matchers[pattern.matchers.count - 1] {
        case .coordinatorPath: segments += coordinatorPath()
        case .anySegment(let own): segments = anySegments() + [own] + anySegments()
        case .restPlus: segments += [Array(pick(Self.words).utf8)] + anySegments()
        case .restStar: segments += anySegments()
        default: break
        }
        return segments
    }

    private mutating func coordinatorPath() -> [[UInt8]] {
        guard !names.isEmpty else { return anySegments() }
        var path: [String] = []
        for _ in 0..<Int.random(in: 1...2, using: &generator) {
            let coordinator = source.coordinators[Int.random(in: 0..<names.count, using: &generator)]
            path.append(coordinator.name.value)
            for screen in coordinator.screens.map(\.name.value) where one(in: 2) { path.append(screen) }
        }
        if one(in: 8) { path.append(pick(Self.words)) }
        return path.map { Array($0.utf8) }
    }

    /// Returns a segment that the matcher matches.
    mutating func segment(for matcher: Matcher) -> [UInt8] {
        switch matcher {
        case .literal(let own), .anySegment(let own): return cased(own)
        case .enumeration(let values): return cased(pick(values))
        case .affix(let prefix, let inner, let suffix): return cased(prefix) + segment(for: inner) + cased(suffix)
        case .int(let min, let max):
            let low = Swift.max(min, -1000)
            let high = Swift.min(max, low &+ 2000)
            return Array(String(low <= high ? Int64.random(in: low...high, using: &generator) : min).utf8)
        case .bool: return Array(pick(["true", "false", "1", "0"]).utf8)
        case .date: return Array(pick(["2025-01-31", "2024-02-29", "0000-12-01"]).utf8)
        case .uuid: return Array(pick([uuid, uuid.lowercased()]).utf8)
        case .characters(let set, let min, let max):
            let count = Int.random(in: min...Swift.min(max, min + 3), using: &generator)
            return (0..<count).map { _ in pick(set.characters) }
        default: return Array(pick(Self.words).utf8)
        }
    }

    private var uuid: String { "B121D5E7-EA65-49F8-8B33-B3C43FA93866" }

    private mutating func cased(_ text: [UInt8]) -> [UInt8] {
        guard source.foldsPathCase, one(in: 3) else { return text }
        return text.map { $0 &- UInt8(ascii: "a") < 26 ? $0 & 0xDF : $0 }
    }

    // MARK: Rendering

    private mutating func render(
        _ block: TableSource.LinkBlock, _ pattern: TableSource.RoutePattern?, _ decoded: [[UInt8]],
        _ route: TableSource.Route?
    ) -> GeneratedLink {
        var link = GeneratedLink(scheme: scheme(block, pattern), authority: nil, segments: decoded, path: "")
        if !one(in: 15) {
            link.authority = authority(block, pattern)
            if block.hostRole == .segment, let first = decoded.first, !one(in: 10) {
                link.authority = escaped(first)
                link.authoritySegment = first
                link.segments.removeFirst()
            }
        }
        for (index, segment) in link.segments.enumerated() {
            if index > 0 || link.authority != nil || !one(in: 2) { link.path += "/" }
            if one(in: 20), link.authority != nil || index > 0 { link.path += "/" }
            link.path += escaped(segment)
        }
        if one(in: 8) { link.path += "/" }
        if link.authority == nil, link.path.hasPrefix("//") { link.path.removeFirst() }
        link.query = query(block, route)
        if one(in: 8) { link.fragment = pick(["", "top", "5", "%41", "2025-01-31"]) }
        return link
    }

    private mutating func scheme(_ block: TableSource.LinkBlock, _ pattern: TableSource.RoutePattern?) -> String {
        if one(in: 40) { return pick(["zz", "https", "S"]) }
        if let own = pattern?.scheme, !one(in: 5) { return own }
        let listed = block.schemes.map(\.value)
        let scheme = listed.isEmpty ? pick(["s", "q"]) : pick(listed)
        return one(in: 20) ? scheme.uppercased() : scheme
    }

    private mutating func authority(
        _ block: TableSource.LinkBlock, _ pattern: TableSource.RoutePattern?
    ) -> String {
        if block.hostRole == .segment { return "" }
        if !one(in: 5) {
            switch pattern?.host {
            case .exact(let host, let port)?:
                return String(decoding: host, as: UTF8.self) + (port.map { ":\($0)" } ?? "")
            case .suffix(let suffix)?: return "c." + String(decoding: suffix, as: UTF8.self)
            case .empty?: return ""
            default: break
            }
        }
        return pick([
            "a.example", "b.a.example", "c.b.a.example", "b.example:8080", "", "A.example", "a.example.", "other",
            "a.example:", "u@a.example",
        ])
    }

    /// Returns the segment in the encoding of a path: reserved bytes are escaped, others only occasionally, and
    /// non-ASCII text sometimes.
    private mutating func escaped(_ segment: [UInt8]) -> String {
        let raw = one(in: 2)
        var out = ""
        for byte in segment {
            let isPlain = PercentDecoding.isUnreserved(byte) ? !one(in: 25) : byte >= 0x80 && raw
            out += isPlain && byte < 0x80 ? String(UnicodeScalar(byte)) : "%" + Self.hex(byte)
        }
        return raw && segment.contains { $0 >= 0x80 } ? String(decoding: segment, as: UTF8.self) : out
    }

    static func hex(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true) }
}
