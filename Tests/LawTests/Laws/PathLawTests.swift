import RouteAnalysis
import LinkCoordinator
import StrictJSON
import TestSupport
import Testing

/// The tables for the laws of links from routes: the shipped ones, the fixture, and random ones.
enum ReverseTables {
    static func all() throws -> [RouteTable] { try shipped() + generated(94) }

    /// Returns random tables that can be loaded.
    static func generated(_ count: Int) throws -> [RouteTable] {
        var generator = TableGenerator(seed: 123_2026_11)
        var tables: [RouteTable] = []
        for _ in 0..<count {
            let made = generator.settledTable()
            tables.append(try #require(made).table)
        }
        return tables
    }

    static func shipped() throws -> [RouteTable] {
        var tables = [try RouteTable(json: TableFiles.fixture("anchor-features.json"))]
        tables.append(try RouteTable(json: TableFiles.shipped("shop")))
        for seed in TableFiles.seeds { tables.append(try RouteTable(json: TableFiles.shipped("seeds/\(seed)"))) }
        return tables
    }
}

@Suite("Laws of paths and links of routes") struct ReverseLawTests {
    static let cases = 100_000

    @Test("P1: a stack that is printed and parsed is unchanged")
    func printAndParse() throws {
        let tables = try ReverseTables.all()
        var generator = SeededGenerator(seed: 1_2026_11)
        var long = 0
        var switches = 0
        for number in 0..<Self.cases {
            let table = tables[number % tables.count]
            let stack = Self.stack(table.source, &generator)
            let path = table.path(for: stack)
            let parsed = try table.stack(atPath: path)
            guard parsed == stack else {
                Issue.record("seed \(generator.seed), case \(number): \(path) of \(table.id) came back otherwise")
                return
            }
            if stack.count > 2 { long += 1 }
            if Set(stack.map(\.coordinator)).count > 1 { switches += 1 }
        }
        print(
            "P1: \(Self.cases) stacks of \(tables.count) tables, seed \(generator.seed): \(long) of more than two "
                + "entries, \(switches) of several coordinators")
        #expect(long > Self.cases / 3 && switches > Self.cases / 4)
    }

    /// Returns a stack that a path can represent: screens in their default presentation, and one entry of a single
    /// slot.
    static func stack(_ source: TableSource, _ generator: inout SeededGenerator) -> [StackEntry] {
        var stack: [StackEntry] = []
        var taken = Set<String>()
        for _ in 0..<Int.random(in: 0...9, using: &generator) {
            let owner: TableSource.Coordinator
            if let last = stack.last, Bool.random(using: &generator),
                let same = source.coordinators.first(where: { $0.name.value == last.coordinator })
            {
                owner = same
            } else {
                guard let other = source.coordinators.randomElement(using: &generator) else { return [] }
                owner = other
            }
            guard let screen = owner.screens.randomElement(using: &generator) else { continue }
            if owner.singleSlot && !taken.insert(owner.name.value).inserted { continue }
            stack.append(
                StackEntry(
                    coordinator: owner.name.value, screen: screen.name.value, view: screen.view?.value,
                    present: screen.defaultPresentation, nav: screen.nav))
        }
        return stack
    }

    @Test("P2: a path that is parsed and printed is canonical, and repeating it changes nothing")
    func parseAndPrint() throws {
        let tables = try ReverseTables.all()
        var generator = SeededGenerator(seed: 2_2026_11)
        var parsedCount = 0
        var changed = 0
        for number in 0..<Self.cases {
            let table = tables[number % tables.count]
            let path = Self.path(table.source, &generator)
            guard let parsed = try? table.stack(atPath: path) else { continue }
            parsedCount += 1
            let canonical = table.path(for: parsed)
            if canonical != path { changed += 1 }
            let again = try table.stack(atPath: canonical)
            guard again == parsed, table.path(for: again) == canonical else {
                Issue.record("seed \(generator.seed), case \(number): \(path) of \(table.id) gave \(canonical)")
                return
            }
        }
        print(
            "P2: \(Self.cases) paths of \(tables.count) tables, seed \(generator.seed): \(parsedCount) are paths, "
                + "\(changed) were not canonical")
        #expect(parsedCount > Self.cases / 3 && changed > Self.cases / 10)
    }

    /// Returns a path of names of the table with empty segments, escapes, repeated names, and occasionally an unknown
    /// one.
    static func path(_ source: TableSource, _ generator: inout SeededGenerator) -> String {
        var segments: [String] = []
        for _ in 0..<Int.random(in: 0...4, using: &generator) {
            guard let owner = source.coordinators.randomElement(using: &generator) else { return "/" }
            segments.append(owner.name.value)
            for _ in 0..<Int.random(in: 0...2, using: &generator) {
                if let screen = owner.screens.randomElement(using: &generator) { segments.append(screen.name.value) }
            }
        }
        if Int.random(in: 0..<12, using: &generator) == 0 {
            segments.insert("nowhere", at: Int.random(in: 0...segments.count, using: &generator))
        }
        if Int.random(in: 0..<8, using: &generator) == 0 {
            segments.insert("", at: Int.random(in: 0...segments.count, using: &generator))
        }
        if Int.random(in: 0..<6, using: &generator) == 0, let index = segments.indices.randomElement(using: &generator)
        {
            segments[index] = segments[index].utf8.map { "%" + hex($0) }.joined()
        }
        return (Bool.random(using: &generator) ? "/" : "") + segments.joined(separator: "/")
            + (Int.random(in: 0..<8, using: &generator) == 0 ? "/" : "")
    }

    private static func hex(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }

    static let device = DeviceFacts(
        platform: "ios", app: "6.1.0", os: "18.0", capabilities: ["ar"], claims: ["session"])

    @Test("P3: the link of a route with values resolves to that route with these values")
    func linkAndResolve() throws {
        let shipped = try linkAndResolve(ReverseTables.shipped(), "shipped tables", seed: 3_2026_11)
        #expect(shipped.linked > Self.cases / 2 * 9 / 10 && shipped.valued > Self.cases / 4)
        #expect(Set(shipped.causes.keys).isSubset(of: [.nothingDecoded]))
        let made = try linkAndResolve(ReverseTables.generated(94), "tables made at random", seed: 33_2026_11)
        #expect(made.linked > Self.cases / 2 * 7 / 10 && made.valued > Self.cases / 2 * 7 / 10)
    }

    /// The results for routes with values.
    struct Linked {
        var linked = 0
        var valued = 0
        var causes: [RefusalCause: Int] = [:]
        var unexplained: [String] = []
    }

    private func linkAndResolve(_ tables: [RouteTable], _ what: String, seed: UInt64) throws -> Linked {
        var arguments = ArgumentGenerator(seed: seed)
        var result = Linked()
        let judges = tables.map(RefusalJudge.init)
        let routes = tables.enumerated().flatMap { index, table in
            table.source.routes.filter { !$0.patterns.isEmpty && !$0.redirects }.map { (index, $0) }
        }
        for number in 0..<(Self.cases / 2) {
            let (index, route) = routes[number % routes.count]
            let table = tables[index]
            let given = arguments.arguments(for: route, in: table.source)
            let link: String
            do throws(LinkError) {
                link = try table.link(
                    route: route.id.value, models: given.models, captures: given.captures, device: Self.device)
            } catch {
                if let cause = judges[index].cause(of: error, route, given, Self.device) {
                    result.causes[cause, default: 0] += 1
                } else {
                    result.unexplained.append("case \(number), \(route.id.value): \(error): \(given)")
                }
                continue
            }
            result.linked += 1
            if !given.models.fields.allSatisfy(\.value.isEmpty) || !given.captures.isEmpty { result.valued += 1 }
            let decision = table.resolve(link, device: Self.device)
            if let difference = Self.difference(decision, route, given, table.source) {
                Issue.record("seed \(seed), case \(number): \(link) of \(table.id): \(difference)")
                break
            }
        }
        let causes = result.causes.sorted { $0.value > $1.value }.map { "\($0.key.rawValue) \($0.value)" }
        print(
            "P3: \(Self.cases / 2) routes with values of \(tables.count) \(what), seed \(seed): \(result.linked) links "
                + "came back, \(result.valued) of them with values; no link: " + causes.joined(separator: ", "))
        #expect(
            result.unexplained.isEmpty,
            "\(result.unexplained.count): \(result.unexplained.prefix(20).joined(separator: "\n"))")
        return result
    }

    @Test("The values of a resolved link can be written as a link and read back unchanged")
    func writtenAgain() throws {
        var refused: [String: Int] = [:]
        var written = 0
        let seed: UInt64 = 34_2026_11
        for table in try ReverseTables.all() {
            var links = LinkGenerator(table.source, seed: seed)
            for number in 0..<100 {
                let link = links.link().text
                let trace = table.explain(.link(link), device: Self.device)
                guard let route = trace.decision.route, trace.decision.via.isEmpty, trace.failure == nil,
                    trace.bindings.allSatisfy({ $0.result != .dropped && !$0.source.hasPrefix("payload") })
                else { continue }
                // The part before a resetting empty segment is not a value that a link of the route carries.
                if trace.decision.notes.contains("empty segments reset") { continue }
                guard let (models, captures) = Self.arguments(trace, table.source) else { continue }
                do throws(LinkError) {
                    let again = try table.link(
                        route: route, models: models, captures: captures, device: Self.device)
                    let values = table.explain(.link(again), device: Self.device)
                    // A variant may depend on a part of the query that no field is bound to.
                    if values.decision.variant != trace.decision.variant { continue }
                    written += 1
                    guard values.bindings.map(\.value) == trace.bindings.map(\.value),
                        values.captures == trace.captures
                    else {
                        Issue.record("seed \(seed), case \(number): \(link) was written \(again)\n\(values.text)")
                        return
                    }
                } catch {
                    refused[error.code.rawValue, default: 0] += 1
                }
            }
        }
        print("written again: seed \(seed): \(written) links; refused: \(refused)")
        // A flattened query may read a name as a value, and a variant may depend on a value that no field is bound to.
        #expect(written > 500 && refused.values.reduce(0, +) < written / 10)
    }

    /// Returns the values that a link carries according to its explanation, or nil if a model is incomplete.
    static func arguments(_ trace: Explanation, _ source: TableSource) -> (Models, [String: String])? {
        var models = Models()
        for binding in trace.bindings where binding.result == .bound || binding.result == .repaired {
            let name = binding.field.split(separator: ".").map(String.init)
            models.fields[name[0], default: [:]][name[1]] = binding.value
        }
        for model in source.models {
            guard let given = models[model.name.value] else { continue }
            if model.fields.contains(where: { $0.absence == .required && given[$0.name.value] == nil }) { return nil }
        }
        let captures = Dictionary(trace.captures.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        return (models, captures)
    }

    /// Returns the part of a decision that differs from the request, or nil.
    static func difference(
        _ decision: Decision, _ route: TableSource.Route, _ given: ArgumentGenerator.Arguments, _ source: TableSource
    ) -> String? {
        if decision.route != route.id.value { return "route \(decision.route ?? "none")" }
        if !decision.via.isEmpty { return "via \(decision.via)" }
        if case .variants = route.action, let reason = decision.reason, reason != .unsupported {
            return reason.rawValue
        }
        guard decision.outcome == .navigate, decision.reason == nil else { return nil }
        for (model, fields) in given.models.fields {
            // The last entry with the model belongs to the route itself. Parents may bind theirs from other places.
            guard let came = decision.stack.last(where: { $0.models[model] != nil })?.models[model] else { continue }
            for (field, value) in fields where !same(value, came[field]) { return "\(model).\(field)" }
        }
        return nil
    }

    /// Returns a Boolean value that indicates whether a value was read back, with an uppercase UUID and composed text.
    private static func same(_ given: ModelValue, _ came: ModelValue?) -> Bool {
        guard let came else { return false }
        switch (given, came) {
        case (.text(let a), .text(let b)): return a == b || (a.utf8.count == 36 && a.uppercased() == b)
        case (.list(let a), .list(let b)): return a.count == b.count && zip(a, b).allSatisfy { same($0, $1) }
        default: return given == came
        }
    }
}

extension TableSource.Route {
    /// A Boolean value that indicates whether the route redirects.
    var redirects: Bool {
        if case .redirect = action { true } else { false }
    }
}
