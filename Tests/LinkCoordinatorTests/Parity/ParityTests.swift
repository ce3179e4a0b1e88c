import RouteAnalysis
import Foundation
import LinkCoordinator
import StrictJSON
import TableSupport
import TestSupport
import Testing

@Suite("Tables that behave as the articles do") struct ParityTests {
    static let tables = [
        "coordinator-demo", "string-paths", "trips-calendar", "easydev991-parser", "easydev991-parameters",
        "content-flow",
    ]

    @Test("A parity table is loaded without problems, and its examples hold", arguments: tables)
    func loads(name: String) throws {
        let (table, problems, _) = RouteTable.check(try TableFiles.parity(name))
        #expect(problems.map { $0.text(file: name) } == [])
        #expect(table != nil)
    }

    // MARK: 000

    private static func link000(_ generator: inout SeededGenerator) -> String {
        let segments = [
            "a", "b", "c", "a", "b", "auth", "profile", "products", "product", "merch", "x", "", "A", "~", "products",
            "merch", "%61", ".",
        ]
        let ids = [
            "80674450-AAEC-4704-9D0F-63C7B2068FF1", "b121d5e7-ea65-49f8-8b33-b3c43fa93866", "x", "%C3%A9+", "é", "",
        ]
        let counts = ["5", "7", "0", "-3", "99999999999999999999", "x", "", "+7", "07", " 5", "1.0"]
        var items: [String] = []
        for (name, values) in [("id", ids), ("count", counts)] where !generator.one(in: 8) {
            for _ in 0..<(generator.one(in: 5) ? 2 : 1) {
                let written = generator.one(in: 6) ? generator.pick([name.uppercased(), "i%64", name + "s"]) : name
                items.append(
                    generator.one(in: 10)
                        ? written
                        : written + "=" + generator.pick(Array(values.prefix(generator.pick([2, 2, 2, values.count])))))
            }
        }
        if generator.one(in: 4) { items.append(generator.pick(["x=1", "", "=", "y", "%69d=1"])) }
        items.shuffle(using: &generator)
        let scheme = generator.pick(["coordinator", "coordinator", "coordinator", "COORDINATOR", "other"])
        let host = generator.pick([
            "auth", "auth", "profile", "products", "product", "product", "Product", "x", "", "u@auth", "auth:80", "~",
            "a",
        ])
        var path = generator.joined(0...6, of: segments, by: "/")
        if !path.isEmpty { path = "/" + path }
        if host.isEmpty, !generator.one(in: 4) { path = generator.pick(["", "/"]) }
        let link = "\(scheme)://\(host)\(path)" + (items.isEmpty ? "" : "?" + items.joined(separator: "&"))
        if generator.one(in: 60) { return generator.pick(["coordinator:", "coordinator:/", "auth", "x/y"]) }
        return link + (generator.one(in: 10) ? "#x?id=1" : "")
    }

    private static func exclusionReason000(_ url: URL) -> String? {
        let host = url.host() ?? ""
        if host.isEmpty, !["", "/"].contains(url.path()), url.scheme != nil { return "a path without a host" }
        if (host + url.path()).contains("%") { return "escapes in host or path, which the article never decodes" }
        let known = ["auth", "profile", "products"]
        let steps = [host] + url.path().split(separator: "/").map(String.init)
        if host != "product", let first = steps.firstIndex(where: known.contains), first > 4 {
            return "over four unknown segments before a coordinator"
        }
        let counts = NSURLComponents(url: url, resolvingAgainstBaseURL: true)?.queryItems ?? []
        if host == "product", let count = counts.first(where: { $0.name == "count" })?.value, let number = Int(count),
            String(number) != count
        {
            return "numbers that are not canonical"
        }
        return ParityLimits.exclusionReason(url)
    }

    @Test("Article 000: the table agrees with the deep link service and the split coordinator")
    func article000() throws {
        let kinds = try ParityRun(
            name: "coordinator-demo", seed: 2026_000, input: { URL(string: Self.link000(&$0)) },
            link: \.absoluteString, article: { Self.seen(Article000.handle($0)) },
            table: { decision, _ in
                guard decision.outcome == .navigate else { return Article000.Answer.nothing }
                let stack = decision.stack.map { ParityScreen($0) }
                let shown = decision.value["stack"]?.array?.last { $0["coordinator"]?.string == "products" }
                guard let data = shown?["data"] else { return .path(stack, nil) }
                if let id = data["Product"]?["id"]?.string, let count = data["Product"]?["count"]?.integer {
                    return .path(stack, UUID(uuidString: id).map { .product(id: $0, count: Int(count)) })
                }
                let text = data["ProductDict"]
                return .path(stack, .dictionary(id: text?["id"]?.string ?? "", count: text?["count"]?.string ?? ""))
            }, exclusionReason: Self.exclusionReason000,
            kind: { answer in
                switch answer {
                case .nothing: "nothing"
                case .path([], _): "root"
                case .path(_, .product?): "a product"
                case .path(_, .dictionary?): "a path with data"
                case .path(_, nil): "a path"
                }
            }
        ).run()
        for kind in ["nothing", "root", "a product", "a path with data", "a path"] {
            #expect(kinds[kind, default: 0] > LawCases.expected(300))
        }
    }

    /// Returns the result that a user sees.
    ///
    /// Data belongs to the entries that need it, so it is not visible without such a screen.
    private static func seen(_ answer: Article000.Answer) -> Article000.Answer {
        guard case .path(let stack, _) = answer, !stack.contains(where: { $0.coordinator == "products" }) else {
            return answer
        }
        return .path(stack, nil)
    }

    // MARK: 001

    private static func path001(_ generator: inout SeededGenerator) -> String {
        let steps = [
            "a", "b", "c", "a", "b", "auth", "profile", "auth", "profile", "x", "", "~", "A", "%61", "a b", "é", "?a",
        ]
        var path = generator.joined(0...8, of: generator.one(in: 2) ? steps : Array(steps.prefix(9)), by: "/")
        if generator.one(in: 2) { path = "/" + path }
        if generator.one(in: 12) { path += "/" }
        return generator.one(in: 50) ? generator.pick(["", "/", "//", "/auth/a//b/c/profile/a/c", "auth//"]) : path
    }

    /// Returns the string as a link in which every part is literal.
    private static func link001(_ path: String) -> String {
        let plain = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")
        return "path:" + (path.addingPercentEncoding(withAllowedCharacters: plain) ?? path)
    }

    private static func exclusionReason001(_ path: String) -> String? {
        let steps = path.components(separatedBy: "/")
        if !steps.contains(""), !steps.contains("auth"), !steps.contains("profile") {
            return "relative paths without a coordinator"
        }
        let filled = steps.filter { !$0.isEmpty }
        if let first = filled.firstIndex(where: { $0 == "auth" || $0 == "profile" }), first > 4 {
            return "over four unknown segments before a coordinator"
        }
        return nil
    }

    /// The stack of the device before the request.
    private static let before = [ParityScreen("profile", "b"), ParityScreen("auth", "c")]

    private static func after(_ decision: Decision) -> [ParityScreen] {
        guard decision.outcome == .navigate else { return before }
        return (decision.mode == .append ? before : []) + decision.stack.map { ParityScreen($0) }
    }

    private static func article001(_ path: String) -> [ParityScreen] {
        var app = Article001(path: before)
        app.setPath(path)
        return app.path
    }

    private static func kind001(_ path: [ParityScreen]) -> String {
        if path.isEmpty { return "root" }
        return path.starts(with: before) ? (path == before ? "unchanged" : "appended") : "replaced"
    }

    @Test("Article 001: the table agrees with the coordinator that a string controls")
    func article001() throws {
        let kinds = try ParityRun(
            name: "string-paths", seed: 2026_001, input: { Self.path001(&$0) }, link: Self.link001,
            article: Self.article001, table: { decision, _ in Self.after(decision) },
            exclusionReason: Self.exclusionReason001,
            kind: Self.kind001
        ).run()
        for kind in ["root", "appended", "replaced"] { #expect(kinds[kind, default: 0] > LawCases.expected(300)) }
    }

    @Test("Article 001: the table agrees for strings without unknown screens as path requests, and writes their paths")
    func article001Requests() throws {
        let parity = try RouteTable(json: TableFiles.parity("string-paths"))
        var generator = SeededGenerator(seed: 2026_0011)
        var kinds: [String: Int] = [:]
        while kinds.values.reduce(0, +) < 10_000 {
            let path = generator.joined(1...8, of: ["a", "b", "c", "auth", "profile", "auth", "profile", ""], by: "/")
            let steps = path.split(separator: "/")
            guard let first = steps.first, first == "auth" || first == "profile" else { continue }
            let expected = Self.article001(path)
            let decision = parity.resolve(.path(path))
            kinds[Self.kind001(expected), default: 0] += 1
            #expect(Self.after(decision) == expected, "\(path)")
            guard decision.mode == .replace else { continue }
            let built = Article001(path: expected).buildPath()
            #expect(decision.path == (built.isEmpty ? "/" : built), "\(path)")
        }
        print("parity string-paths, as paths: seed \(generator.seed), \(kinds)")
        for kind in ["root", "appended", "replaced"] { #expect(kinds[kind, default: 0] > LawCases.expected(300)) }
    }
}
