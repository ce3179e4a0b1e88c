import LinkCoordinator
import RouteAnalysis
import TableSupport
import TestSupport
import Testing

/// Values for a route, in parts.
private struct RouteValues: Shrinkable {
    let route: String
    var fields: [(model: String, name: String, value: ModelValue)]
    var captures: [(name: String, value: String)]
    /// The error of the link, if there should be one of another kind or none.
    var error: String?

    static var parts: [RemovableParts<RouteValues>] { [RemovableParts(\.fields), RemovableParts(\.captures)] }

    init(_ route: String, _ given: ArgumentGenerator.Arguments) {
        self.route = route
        fields = given.models.fields.flatMap { model, fields in
            fields.map { (model: model, name: $0.key, value: $0.value) }
        }.sorted { ($0.model, $0.name) < ($1.model, $1.name) }
        captures = given.captures.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
    }

    var arguments: ArgumentGenerator.Arguments {
        var given = ArgumentGenerator.Arguments()
        for field in fields { given.models.fields[field.model, default: [:]][field.name] = field.value }
        for capture in captures { given.captures[capture.name] = capture.value }
        return given
    }
}

@Suite("Laws of links of routes") struct ReverseLawTests {
    static let device = DeviceFacts(
        platform: "ios", app: "6.1.0", os: "18.0", capabilities: ["ar"], claims: ["session"])

    @Test("P3: the link of a route with values resolves to that route with these values")
    func linkAndResolve() throws {
        let half = LawCases.count / 2
        let shipped = try linkAndResolve(SampleTable.shipped(), "shipped tables", seed: 3_2026_11)
        #expect(shipped.linked > half * 9 / 10 && shipped.valued > half / 2)
        #expect(Set(shipped.causes.keys).isSubset(of: [.nothingDecoded]))
        let generated = try linkAndResolve(SampleTable.generatedTables(), "generated tables", seed: 33_2026_11)
        #expect(generated.linked > half * 7 / 10 && generated.valued > half * 7 / 10)
        let exact = try linkAndResolve(SampleTable.exact(), "tables with decimals and times", seed: 333_2026_11)
        #expect(exact.linked > half * 6 / 10 && exact.valued > half * 6 / 10)
    }

    /// The results for routes with values.
    private struct Linked {
        var linked = 0
        var valued = 0
        var causes: [RefusalCause: Int] = [:]
    }

    /// The result for a route with values.
    private enum LinkResult {
        case same
        case refused(RefusalCause)
        case wrong(String)
        /// The values cannot be written, and no reason for that is known.
        case unexplained(LinkError)
    }

    private func linkAndResolve(_ tables: [SampleTable], _ kind: String, seed: UInt64) throws -> Linked {
        var arguments = ArgumentGenerator(seed: seed)
        var result = Linked()
        let judges = tables.map { RefusalJudge($0.table) }
        let routes = tables.enumerated().flatMap { index, sample in
            sample.table.source.routes.filter { !$0.patterns.isEmpty && !$0.redirects }.map { (index, $0) }
        }
        for number in 0..<(LawCases.count / 2) {
            let (index, route) = routes[number % routes.count]
            let sample = tables[index]
            let given = arguments.arguments(for: route, in: sample.table.source)
            switch Self.linkAndResolve(given, route, sample.table, judges[index]) {
            case .same:
                result.linked += 1
                if !given.models.fields.allSatisfy(\.value.isEmpty) || !given.captures.isEmpty { result.valued += 1 }
            case .refused(let cause): result.causes[cause, default: 0] += 1
            case .wrong:
                let values = RouteValues(route.id.value, given)
                sample.record("P3, seed \(seed), case \(number)", values, wrong: Self.wrong)
                return result
            case .unexplained(let error):
                var values = RouteValues(route.id.value, given)
                values.error = "\(error)"
                sample.record("P3, seed \(seed), case \(number)", values, wrong: Self.wrong)
                return result
            }
        }
        let causes = result.causes.sorted { $0.value > $1.value }.map { "\($0.key.rawValue) \($0.value)" }
        print(
            "P3: \(LawCases.count / 2) routes with values of \(tables.count) \(kind), seed \(seed): \(result.linked) "
                + "links came back, \(result.valued) of them with values; no link: " + causes.joined(separator: ", "))
        return result
    }

    private static func linkAndResolve(
        _ given: ArgumentGenerator.Arguments, _ route: TableSource.Route, _ table: RouteTable, _ judge: RefusalJudge
    ) -> LinkResult {
        do throws(LinkError) {
            let link = try table.link(
                route: route.id.value, models: given.models, captures: given.captures, device: device)
            let difference = difference(table.resolve(link, device: device), route, given, table.source)
            return difference.map { .wrong("\(link) of \(route.id.value) with \(given): \($0)") } ?? .same
        } catch {
            return judge.cause(of: error, route, given, device).map { .refused($0) } ?? .unexplained(error)
        }
    }

    /// Returns the evidence that the values of a route do not come back, or nil.
    private static func wrong(_ values: RouteValues, _ table: RouteTable) -> String? {
        guard let route = table.source.routes.first(where: { $0.id.value == values.route }), !route.patterns.isEmpty
        else { return nil }
        switch linkAndResolve(values.arguments, route, table, RefusalJudge(table)) {
        case .wrong(let evidence): return values.error == nil ? evidence : nil
        case .unexplained(let error):
            // Without a required field another error is expected.
            return values.error == "\(error)" ? "\(values.route) with \(values.arguments): \(error)" : nil
        case .same, .refused: return nil
        }
    }

    /// A case is a link of a table.
    ///
    /// Only links whose values a link of their route can carry are written again.
    @Test("The values of a resolved link can be written as a link and read back unchanged")
    func writtenAgain() throws {
        let tables = try SampleTable.all() + SampleTable.exact()
        var refused: [String: Int] = [:]
        var written = 0
        let seed: UInt64 = 34_2026_11
        for (index, sample) in tables.enumerated() {
            var links = LinkGenerator(sample.table.source, seed: seed)
            for number in 0..<(LawCases.count / tables.count) {
                let link = Array(links.link().text.utf8)
                switch Self.rewritten(link, sample.table) {
                case .same: written += 1
                case .refused(let code): refused[code, default: 0] += 1
                case .notComparable: break
                case .wrong:
                    sample.record("seed \(seed), table \(index), case \(number)", link) { bytes, table in
                        guard case .wrong(let evidence) = Self.rewritten(bytes, table) else { return nil }
                        return evidence
                    }
                    return
                }
            }
        }
        print("written again: seed \(seed): \(written) links; refused: \(refused)")
        // A flattened query may read a name as a value, and a variant may depend on a value that no field is bound to.
        #expect(written > LawCases.count / 20 && refused.values.reduce(0, +) < written / 10)
    }

    /// The result of writing the values of a link again.
    private enum Rewriting {
        case same
        case notComparable
        case refused(String)
        case wrong(String)
    }

    private static func rewritten(_ bytes: [UInt8], _ table: RouteTable) -> Rewriting {
        let link = String(decoding: bytes, as: UTF8.self)
        let trace = table.explain(.link(link), device: device)
        guard let route = trace.decision.route, trace.decision.via.isEmpty, trace.failure == nil,
            trace.bindings.allSatisfy({ $0.result != .dropped && !$0.source.hasPrefix("payload") }),
            // The part before a resetting empty segment is not a value that a link of the route carries.
            !trace.decision.notes.contains("empty segments reset"),
            let (models, captures) = arguments(trace, table.source)
        else { return .notComparable }
        do throws(LinkError) {
            let again = try table.link(route: route, models: models, captures: captures, device: device)
            let values = table.explain(.link(again), device: device)
            // A variant may depend on a part of the query that no field is bound to.
            if values.decision.variant != trace.decision.variant { return .notComparable }
            let isSame =
                values.bindings.map(\.value) == trace.bindings.map(\.value) && values.captures == trace.captures
            return isSame ? .same : .wrong("\(link) was written as \(again)\n\(values.text)")
        } catch {
            return .refused(error.code.rawValue)
        }
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
        let own = ownModels(route, source)
        for (model, fields) in given.models.fields where own?.contains(model) ?? true {
            // The last entry with the model belongs to the route itself. Parents may bind theirs from other sources.
            guard let came = decision.stack.last(where: { $0.models[model] != nil })?.models[model] else { continue }
            for (field, value) in fields where !same(value, came[field]) { return "\(model).\(field)" }
        }
        return nil
    }

    /// Returns the models that the entries of the route itself need, or nil if a target is captured from the link.
    private static func ownModels(_ route: TableSource.Route, _ source: TableSource) -> Set<String>? {
        var models = Set<String>()
        for variant in route.variants {
            switch variant.to.destination {
            case .captured: return nil
            case .path(let segments):
                guard let stack = try? StaticStack.compose(segments, in: source, names: TableNames(source)) else {
                    return nil
                }
                for entry in stack.entries {
                    models.formUnion(source.coordinators[entry.coordinator].screens[entry.screen].needs.map(\.value))
                }
            case .root, .external: break
            }
        }
        return models
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
