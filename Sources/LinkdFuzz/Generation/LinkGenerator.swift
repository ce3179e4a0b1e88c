/// A generator of links that a table matches, almost matches, or must reject.
struct LinkGenerator {
    private let words: Vocabulary

    /// Creates a generator of links with the words of a table.
    init(_ words: Vocabulary) { self.words = words }

    /// Returns a link, which can contain any text.
    func link(_ random: inout RandomSource) -> String {
        var link = random.below(5) < 2 && !words.links.isEmpty ? random.pick(words.links) : built(&random)
        for _ in 0..<(random.one(in: 3) ? random.below(3) : 0) { link = damaged(link, &random) }
        return link
    }

    private func built(_ random: inout RandomSource) -> String {
        let scheme = random.pick(words.schemes, else: "https")
        var link = scheme + ":"
        if !random.one(in: 12) { link += "//" + host(&random) }
        if random.one(in: 10) { link += "/" + random.pick(["en", "ru", "de", "xx"]) }
        link += path(&random)
        if random.one(in: 2) { link += "?" + query(&random) }
        if random.one(in: 9) { link += "#" + text(&random) }
        return link
    }

    /// Returns a host of a rule, or a similar one.
    func host(_ random: inout RandomSource) -> String {
        var host = random.pick(words.hosts, else: "a.example")
        if host.hasPrefix("*") { host = random.pick(["www", "a.b", "", "x-1"]) + host.dropFirst() }
        switch random.below(14) {
        case 0: return host.uppercased()
        case 1: return host + "."
        case 2: return host + ":" + random.pick(["443", "80", "", "8080", "99999"])
        case 3: return random.pick(["user@", "a:b@", "@"]) + host
        case 4: return "." + host
        case 5: return String(host.dropLast()) + random.pick(["x", "", "f"])
        case 6: return random.pick(["", "evil.example", "[::1]", "*", "p"])
        default: return host
        }
    }

    /// Returns a path of one of the patterns, with values for its captures.
    func path(_ random: inout RandomSource) -> String {
        let pattern = random.pick(words.patterns, else: "/a/{b}")
        var path = pattern.hasPrefix("/") ? "" : "/"
        var rest = pattern[...]
        while let open = rest.firstIndex(of: "{") {
            path += rest[..<open]
            let close = rest[open...].firstIndex(of: "}") ?? rest.index(before: rest.endIndex)
            path += value(of: String(rest[open...close]), &random)
            rest = rest[rest.index(after: close)...]
        }
        path += rest
        switch random.below(20) {
        case 0: return path + "/"
        case 1: return path.replacing("/", with: "//", maxReplacements: 2)
        case 2: return path + random.pick(["/.", "/..", "/%2e%2e", "/x"])
        default: return path
        }
    }

    /// Returns a value for a capture in the syntax of patterns.
    private func value(of capture: String, _ random: inout RandomSource) -> String {
        if random.one(in: 10) { return text(&random) }
        if capture.contains("uuid") { return random.pick(Self.identifiers) }
        if capture.contains("int") { return String(random.below(2_000) - 2) }
        if capture.contains("date") { return random.pick(["2026-02-28", "2026-02-30", "0000-01-01"]) }
        if capture.contains("bool") { return random.pick(["true", "0", "yes"]) }
        if capture.contains("coordinatorPath") { return String(random.pick(words.paths, else: "/a").dropFirst()) }
        if capture.contains("enum("), let open = capture.firstIndex(of: "("), let close = capture.firstIndex(of: ")") {
            return random.pick(
                capture[capture.index(after: open)..<close].split(separator: "|").map(String.init), else: "a")
        }
        if capture.contains("+") || capture.contains("*") {
            return (0...random.below(4)).map { _ in text(&random) }.joined(separator: "/")
        }
        return text(&random)
    }

    /// Returns a query with names from bindings and others.
    func query(_ random: inout RandomSource) -> String {
        (0...random.below(5)).map { _ in
            let name =
                random.one(in: 4)
                ? random.pick(["utm_source", "x", "ID", "a%20b", ""]) : random.pick(words.names, else: "q")
            switch random.below(8) {
            case 0: return name
            case 1: return name + "="
            case 2: return name + "=" + String(random.below(200))
            case 3: return name + "=" + random.pick(Self.identifiers)
            case 4: return name.uppercased() + "=" + text(&random)
            default: return name + "=" + random.pick(words.values, else: "v")
            }
        }.joined(separator: random.one(in: 12) ? "&amp;" : "&")
    }

    private static let identifiers = [
        "B121D5E7-EA65-49F8-8B33-B3C43FA93866", "b121d5e7-ea65-49f8-8b33-b3c43fa93866",
        "B121D5E7\u{2013}EA65-49F8-8B33-B3C43FA93866", "80674450-AAEC-4704-9D0F-63C7B2068FF1",
    ]

    /// Returns a short text for a segment or a value.
    func text(_ random: inout RandomSource) -> String {
        switch random.below(12) {
        case 0: "%D0%BA%D0%BE%D1%82"
        case 1: "e\u{301}t\u{E9}"
        case 2: "a%2Fb"
        case 3: String(repeating: "%CC%81", count: 1 + random.below(20))
        case 4: "%" + random.pick(["zz", "0", "00", "FF", "e2%80%8b"])
        case 5: String(repeating: "x", count: random.below(90))
        case 6: "red+shoes%20"
        case 7: random.pick(words.values, else: "v")
        default: random.pick(["a", "b7", "details", "item", "k-1", "t1"])
        }
    }

    /// Returns a link with a lowercase copy of its host written over it, as reused memory might contain.
    private func overlaid(_ link: String, _ random: inout RandomSource) -> String {
        var bytes = Array(link.lowercased().utf8)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return link }
        let rest = bytes[(colon + 1)...].drop { $0 == UInt8(ascii: "/") }
        let host = Array(rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") })
        let position = random.one(in: 2) ? colon : random.below(bytes.count)
        bytes.replaceSubrange(position..<min(bytes.count, position + host.count), with: host)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns a link with one change.
    private func damaged(_ link: String, _ random: inout RandomSource) -> String {
        var bytes = Array(link.utf8)
        guard !bytes.isEmpty else { return "x" }
        let position = random.below(bytes.count)
        switch random.below(9) {
        case 8: return overlaid(link, &random)
        case 0: bytes[position] = UInt8(0x20 + random.below(95))
        case 1: bytes.remove(at: position)
        case 2: bytes.insert(contentsOf: text(&random).utf8, at: position)
        case 3: bytes.removeSubrange(position..<min(bytes.count, position + 6))
        case 4: bytes += Array("&\(random.pick(words.names, else: "q"))=\(text(&random))".utf8)
        case 5: bytes.insert(contentsOf: bytes[position..<min(bytes.count, position + 9)], at: position)
        case 6: bytes = bytes.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "_") : $0 }
        default:
            bytes.insert(
                contentsOf: Array(random.pick(["\u{A0}", "\u{200B}", " ", "\u{B6}", "кот", "é"]).utf8), at: position)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
