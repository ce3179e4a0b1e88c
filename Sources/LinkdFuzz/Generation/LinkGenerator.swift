/// A generator of links that a table matches, almost matches, or must reject.
package struct LinkMaker {
    private let words: Vocabulary

    /// Creates a generator of links with the words of a table.
    package init(_ words: Vocabulary) { self.words = words }

    /// Returns a link, which can contain any text.
    package func link(_ dice: inout Dice) -> String {
        var link = dice.below(5) < 2 && !words.links.isEmpty ? dice.pick(words.links) : built(&dice)
        for _ in 0..<(dice.one(in: 3) ? dice.below(3) : 0) { link = damaged(link, &dice) }
        return link
    }

    private func built(_ dice: inout Dice) -> String {
        let scheme = dice.pick(words.schemes, else: "https")
        var link = scheme + ":"
        if !dice.one(in: 12) { link += "//" + host(&dice) }
        if dice.one(in: 10) { link += "/" + dice.pick(["en", "ru", "de", "xx"]) }
        link += path(&dice)
        if dice.one(in: 2) { link += "?" + query(&dice) }
        if dice.one(in: 9) { link += "#" + text(&dice) }
        return link
    }

    /// Returns a host of a rule, or a similar one.
    package func host(_ dice: inout Dice) -> String {
        var host = dice.pick(words.hosts, else: "a.example")
        if host.hasPrefix("*") { host = dice.pick(["www", "a.b", "", "x-1"]) + host.dropFirst() }
        switch dice.below(14) {
        case 0: return host.uppercased()
        case 1: return host + "."
        case 2: return host + ":" + dice.pick(["443", "80", "", "8080", "99999"])
        case 3: return dice.pick(["user@", "a:b@", "@"]) + host
        case 4: return "." + host
        case 5: return String(host.dropLast()) + dice.pick(["x", "", "f"])
        case 6: return dice.pick(["", "evil.example", "[::1]", "*", "p"])
        default: return host
        }
    }

    /// Returns a path of one of the patterns, with values for its captures.
    package func path(_ dice: inout Dice) -> String {
        let pattern = dice.pick(words.patterns, else: "/a/{b}")
        var path = pattern.hasPrefix("/") ? "" : "/"
        var rest = pattern[...]
        while let open = rest.firstIndex(of: "{") {
            path += rest[..<open]
            let close = rest[open...].firstIndex(of: "}") ?? rest.index(before: rest.endIndex)
            path += value(of: String(rest[open...close]), &dice)
            rest = rest[rest.index(after: close)...]
        }
        path += rest
        switch dice.below(20) {
        case 0: return path + "/"
        case 1: return path.replacing("/", with: "//", maxReplacements: 2)
        case 2: return path + dice.pick(["/.", "/..", "/%2e%2e", "/x"])
        default: return path
        }
    }

    /// Returns a value for a capture in the syntax of patterns.
    private func value(of capture: String, _ dice: inout Dice) -> String {
        if dice.one(in: 10) { return text(&dice) }
        if capture.contains("uuid") { return dice.pick(Self.identifiers) }
        if capture.contains("int") { return String(dice.below(2_000) - 2) }
        if capture.contains("date") { return dice.pick(["2026-02-28", "2026-02-30", "0000-01-01"]) }
        if capture.contains("bool") { return dice.pick(["true", "0", "yes"]) }
        if capture.contains("coordinatorPath") { return String(dice.pick(words.paths, else: "/a").dropFirst()) }
        if capture.contains("enum("), let open = capture.firstIndex(of: "("), let close = capture.firstIndex(of: ")") {
            return dice.pick(
                capture[capture.index(after: open)..<close].split(separator: "|").map(String.init), else: "a")
        }
        if capture.contains("+") || capture.contains("*") {
            return (0...dice.below(4)).map { _ in text(&dice) }.joined(separator: "/")
        }
        return text(&dice)
    }

    /// Returns a query with names from bindings and others.
    package func query(_ dice: inout Dice) -> String {
        (0...dice.below(5)).map { _ in
            let name =
                dice.one(in: 4) ? dice.pick(["utm_source", "x", "ID", "a%20b", ""]) : dice.pick(words.names, else: "q")
            switch dice.below(8) {
            case 0: return name
            case 1: return name + "="
            case 2: return name + "=" + String(dice.below(200))
            case 3: return name + "=" + dice.pick(Self.identifiers)
            case 4: return name.uppercased() + "=" + text(&dice)
            default: return name + "=" + dice.pick(words.values, else: "v")
            }
        }.joined(separator: dice.one(in: 12) ? "&amp;" : "&")
    }

    private static let identifiers = [
        "B121D5E7-EA65-49F8-8B33-B3C43FA93866", "b121d5e7-ea65-49f8-8b33-b3c43fa93866",
        "B121D5E7\u{2013}EA65-49F8-8B33-B3C43FA93866", "80674450-AAEC-4704-9D0F-63C7B2068FF1",
    ]

    /// Returns a short text for a segment or a value.
    package func text(_ dice: inout Dice) -> String {
        switch dice.below(12) {
        case 0: "%D0%BA%D0%BE%D1%82"
        case 1: "e\u{301}t\u{E9}"
        case 2: "a%2Fb"
        case 3: String(repeating: "%CC%81", count: 1 + dice.below(20))
        case 4: "%" + dice.pick(["zz", "0", "00", "FF", "e2%80%8b"])
        case 5: String(repeating: "x", count: dice.below(90))
        case 6: "red+shoes%20"
        case 7: dice.pick(words.values, else: "v")
        default: dice.pick(["a", "b7", "details", "item", "k-1", "t1"])
        }
    }

    /// Returns a link with a lowercase copy of its host written over it, as reused memory might contain.
    private func overlaid(_ link: String, _ dice: inout Dice) -> String {
        var bytes = Array(link.lowercased().utf8)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return link }
        let rest = bytes[(colon + 1)...].drop { $0 == UInt8(ascii: "/") }
        let host = Array(rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") })
        let place = dice.one(in: 2) ? colon : dice.below(bytes.count)
        bytes.replaceSubrange(place..<min(bytes.count, place + host.count), with: host)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns a link with one change.
    private func damaged(_ link: String, _ dice: inout Dice) -> String {
        var bytes = Array(link.utf8)
        guard !bytes.isEmpty else { return "x" }
        let place = dice.below(bytes.count)
        switch dice.below(9) {
        case 8: return overlaid(link, &dice)
        case 0: bytes[place] = UInt8(0x20 + dice.below(95))
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(contentsOf: text(&dice).utf8, at: place)
        case 3: bytes.removeSubrange(place..<min(bytes.count, place + 6))
        case 4: bytes += Array("&\(dice.pick(words.names, else: "q"))=\(text(&dice))".utf8)
        case 5: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 9)], at: place)
        case 6: bytes = bytes.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "_") : $0 }
        default:
            bytes.insert(
                contentsOf: Array(dice.pick(["\u{A0}", "\u{200B}", " ", "\u{B6}", "кот", "é"]).utf8), at: place)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
