import Foundation
import LinkCoordinator
import StrictJSON
import TestSupport
import Testing

@Suite("Tables that read queries as the articles do") struct ParityQueryTests {
    // MARK: 002

    private static func link002(_ generator: inout SeededGenerator) -> String {
        let scheme = generator.pick(["tcal", "tcal", "tcal", "tcal", "tcal", "tcal", "TCAL", "http"])
        let host = generator.pick(["h", "www.trips.calendar.com", "", "details", "H", "h:80", "u@h"])
        let steps = [
            "details", "details", "x", "y", "", "Details", "%64etails", "é", "a%2Fdetails", "details ", "..", "%zz",
            "%01", "%FF",
        ]
        var path = generator.joined(0...3, of: generator.one(in: 2) ? ["details", "x", "y"] : steps, by: "/")
        if !path.isEmpty { path = "/" + path }
        let pieces = [
            "reference=1", "reference=55091-231959", "reference", "x=reference", "x=2", "y", "", "=", "reference=1&x=2",
            "reference=%31", "reference=", "=reference", "Reference=9", "reference=a=b", "reference=é", "a b=c",
            "x=1;y",
        ]
        let query = generator.joined(0...4, of: pieces, by: ",")
        let tail = generator.one(in: 8) ? "" : "?" + query
        if generator.one(in: 20) {
            return "\(scheme):\(generator.pick(["details", "x/details", "/details", "", "x"]))\(tail)"
        }
        return "\(scheme)://\(host)\(path)\(tail)" + (generator.one(in: 12) ? "#reference=7" : "")
    }

    @Test("Article 002: the table agrees with the deep linker of the trips calendar")
    func article002() throws {
        let kinds = try ParityRun(
            name: "trips-calendar", seed: 2026_002, input: { URL(string: Self.link002(&$0)) }, link: \.absoluteString,
            article: Article002.manage,
            table: { decision, _ in
                guard decision.outcome == .navigate, decision.dismissModals else { return Article002.Deeplink?.none }
                if decision.stack.isEmpty { return .home }
                return decision.field("TripRef", "reference").map { .details(reference: $0) }
            }, exclusionReason: ParityLimits.exclusionReason,
            kind: { answer in
                switch answer {
                case nil: "nothing"
                case .home: "home"
                case .details: "details"
                }
            }
        ).run()
        for kind in ["nothing", "home", "details"] { #expect(kinds[kind, default: 0] > LawCases.expected(1000)) }
    }

    // MARK: 003

    private static func link003(_ generator: inout SeededGenerator, names: [String], hosts: [String]) -> String {
        let scheme = generator.pick(["easydev991", "myapp", "MYAPP", "x"])
        var path = generator.joined(0...2, of: ["x", "simple", "", "é", "a%20b", "a+b"], by: "/")
        if !path.isEmpty { path = "/" + path }
        let host = generator.pick(hosts)
        if host.isEmpty { path = generator.pick(["", "/", path]) }
        let values = [
            "1", "VALUE", "", "a%20b", "a+b", "é", "%C3%A9", "a b", "x%26baz%3Dy", "%2525", "a=b", "%2541", "a;b", "¶m",
            "x%26FOO%3D%2541",
        ]
        var items: [String] = []
        for _ in 0..<Int.random(in: 0...4, using: &generator) {
            let name = generator.pick(names)
            items.append(generator.one(in: 6) ? name : name + "=" + generator.pick(values))
        }
        let tail = items.isEmpty && generator.one(in: 2) ? "" : "?" + items.joined(separator: "&")
        if generator.one(in: 50) { return generator.pick(["invalid-url", "myapp:", "myapp:/x", "simple"]) + tail }
        return "\(scheme)://\(host)\(path)\(tail)" + (generator.one(in: 12) ? "#id=7" : "")
    }

    private static func parserExclusionReason(_ url: URL) -> String? {
        let host = URLComponents(url: url, resolvingAgainstBaseURL: false)?.host ?? ""
        if host.isEmpty, !url.path().allSatisfy({ $0 == "/" }) { return "a path without a host" }
        return ParityLimits.exclusionReason(url)
    }

    @Test("Article 003: the table agrees with the parser")
    func article003Parser() throws {
        let names = ["id", "id", "id", "ID", "x", "i%64", "", "foo"]
        let hosts = [
            "simple", "complex", "complex", "complex", "Complex", "unknown", "", "s%69mple", "u@complex", "simple:80",
        ]
        let kinds = try ParityRun(
            name: "easydev991-parser", seed: 2026_003,
            input: { URL(string: Self.link003(&$0, names: names, hosts: hosts)) }, link: \.absoluteString,
            article: Article003.path,
            table: { decision, _ in
                guard decision.outcome == .navigate else { return Article003.Path?.none }
                if decision.route == "simple" { return .simple }
                return decision.field("Complex", "id").map { .complex(id: $0) }
            }, exclusionReason: Self.parserExclusionReason,
            kind: { answer in
                switch answer {
                case nil: "nothing"
                case .simple: "simple"
                case .complex: "complex"
                }
            }
        ).run()
        for kind in ["nothing", "simple", "complex"] { #expect(kinds[kind, default: 0] > LawCases.expected(500)) }
    }

    private static func parametersExclusionReason(_ url: URL) -> String? {
        if url.scheme == nil { return "links without a scheme" }
        if let reason = ParityLimits.exclusionReason(url) { return reason }
        let query = url.query(percentEncoded: true) ?? ""
        let once = query.removingPercentEncoding ?? query
        if once.contains("#") || url.path().lowercased().contains("%3f") { return "escapes of '#' and '?'" }
        if once.removingPercentEncoding == nil { return "a '%' without two digits after one decoding" }
        let whole = url.absoluteString.removingPercentEncoding ?? url.absoluteString
        if whole.contains("%"), URLComponents(string: whole, encodingInvalidCharacters: false) == nil {
            return "a '%' next to a character that no URL contains, after one decoding"
        }
        return nil
    }

    @Test("Article 003: the table agrees with the parameters")
    func article003Parameters() throws {
        let bound = ["foo", "baz", "id", "param1", "param2"]
        let names = bound + ["FOO", "Foo", "BAZ", "f%6Fo", "f%256Fo", "x", "Param1", ""]
        let kinds = try ParityRun(
            name: "easydev991-parameters", seed: 2026_0031,
            input: { URL(string: Self.link003(&$0, names: names, hosts: ["complex", "path", ""])) },
            link: \.absoluteString,
            article: { url in Article003.dictionary(url).filter { bound.contains($0.key) } },
            table: { decision, _ in
                Dictionary(
                    uniqueKeysWithValues: bound.compactMap { name in
                        decision.field("Parameters", name).map { (name, $0) }
                    })
            }, exclusionReason: Self.parametersExclusionReason,
            kind: { $0.isEmpty ? "none" : $0.count == 1 ? "one" : "several" }
        ).run()
        for kind in ["none", "one", "several"] { #expect(kinds[kind, default: 0] > LawCases.expected(500)) }
    }

    // MARK: 004

    private static func text(_ generator: inout SeededGenerator) -> String {
        let parts = [
            "Some param", "first", "é", "e\u{301}", "&", "=", "?", "#", "%", "%41", "+", "日本", "🎉", "/", "..",
            "\u{200B}", "\n", "a",
        ]
        return generator.joined(0...4, of: parts, by: "")
    }

    private static func event(_ generator: inout SeededGenerator) -> ContentLink {
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: .firstLink
        case 1: .firstLinkParametrized(text: text(&generator))
        case 2: .secondLink
        case 3:
            .secondLinkParametrized(
                number: generator.pick([0, -1, .min, .max, Int.random(in: -9999...9999, using: &generator)]))
        case 4: .thirdLink
        default: .sheetLink(item: text(&generator))
        }
    }

    private static func link(_ event: ContentLink) -> String {
        let plain = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        func escaped(_ text: String) -> String { text.addingPercentEncoding(withAllowedCharacters: plain) ?? text }
        return switch event {
        case .firstLink: "content://first"
        case .firstLinkParametrized(let text): "content://first?text=" + escaped(text)
        case .secondLink: "content://second"
        case .secondLinkParametrized(let number): "content://second?number=\(number)"
        case .thirdLink: "content://third"
        case .sheetLink(let item): "content://sheet?item=" + escaped(item)
        }
    }

    /// The result of a decision: the view, its presentation as a sheet, and its identity.
    struct Shown: Equatable {
        var view: ContentLink.Shown
        var isSheet: Bool
        var identity: String
    }

    private static func shown(_ decision: Decision) -> Shown {
        let entry = decision.stack.last
        let view: ContentLink.Shown =
            switch entry.map({ $0.view ?? $0.screen }) {
            case "first": .firstView(text: decision.field("FirstText", "text"))
            case "second": .secondView(number: decision.field("SecondNumber", "number").flatMap { Int($0) })
            case "sheet": .sheetView(text: decision.field("SheetItem", "item") ?? "")
            default: .emptyView
            }
        // An empty identity is omitted from a decision.
        return Shown(view: view, isSheet: entry?.present == .sheet, identity: entry?.identity ?? "")
    }

    @Test("Article 004: the table agrees with the flow coordinator")
    func article004() throws {
        let kinds = try ParityRun(
            name: "content-flow", seed: 2026_004, input: { Self.event(&$0) }, link: Self.link,
            article: { Shown(view: $0.shown.view, isSheet: $0.shown.isSheet, identity: $0.id) },
            table: { decision, _ in Self.shown(decision) },
            exclusionReason: { event in
                switch event {
                case .firstLinkParametrized(let text), .sheetLink(let text):
                    text.contains("\n") ? "control characters" : nil
                default: nil
                }
            }, kind: { "\($0.view)".prefix { $0 != "(" }.description + ($0.identity == "third" ? " as third" : "") }
        ).run()
        for kind in ["firstView", "secondView", "secondView as third", "sheetView"] {
            #expect(kinds[kind, default: 0] > LawCases.expected(1000))
        }
    }
}
