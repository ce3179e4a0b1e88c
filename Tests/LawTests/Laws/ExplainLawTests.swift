import LinkCoordinator
import RouteAnalysis
import StrictJSON
import TableSupport
import TestSupport
import Testing

/// A link and a device, in parts.
private struct LinkOnDevice: Shrinkable {
    var link: [UInt8]
    var device: DeviceFacts

    static var parts: [RemovableParts<LinkOnDevice>] {
        [RemovableParts(\.link)] + DeviceFacts.removable.map { RemovableParts(\.device, $0) }
    }
}

@Suite("Explanations agree with decisions") struct ExplainLawTests {
    /// Links of the shipped tables' routes with values, both intact and damaged, and links of no route.
    private struct Links {
        var arguments: ArgumentGenerator
        let table: RouteTable

        mutating func next() -> String {
            let routes = table.source.routes.filter { !$0.patterns.isEmpty }
            let route = arguments.pick(routes)
            let given = arguments.arguments(for: route, in: table.source)
            let device = DeviceFacts(app: "6.1.0", capabilities: ["ar"])
            let written = try? table.link(
                route: route.id.value, models: given.models, captures: given.captures, device: device)
            var link = written ?? "\(arguments.pick(["shop", "tcal", "myapp", "content", "coordinator"])):///o/12"
            if arguments.one(in: 2) { return link }
            let damage = [
                "%", "?count=x", "/", "//", "&id", "#f", "/x", "auth", "%2E%2E", "product", "é", "\u{7}", "=1",
            ]
            let position = link.indices.randomElement(using: &arguments.generator) ?? link.startIndex
            if arguments.one(in: 3) {
                link.remove(at: position)
            } else {
                link.insert(contentsOf: arguments.pick(damage), at: position)
            }
            return link
        }
    }

    static let devices: [DeviceFacts] = [
        DeviceFacts(),
        DeviceFacts(platform: "ios", app: "6.1.0", os: "18.0", capabilities: ["ar"], claims: ["session"]),
        DeviceFacts(app: "3.9.1"), DeviceFacts(app: "5.3.0", claims: []),
    ]

    /// A case is a link on a device.
    @Test("The selected candidate, variant, stack, values, guard, and failure are also in the decision")
    func agrees() throws {
        var kinds: [String: Int] = [:]
        let tables = try SampleTable.all()
        let shipped = try SampleTable.shipped().count
        let seed: UInt64 = 36_2026_11
        for (index, sample) in tables.enumerated() {
            var links = Links(arguments: ArgumentGenerator(seed: seed &+ UInt64(index)), table: sample.table)
            // Half of the links belong to the shipped tables, which come first.
            let count = LawCases.count / 2 / (index < shipped ? shipped : tables.count - shipped)
            for number in 0..<count {
                let link = links.next()
                let device = Self.devices[number % Self.devices.count]
                let trace = sample.table.explain(.link(link), device: device)
                let decision = sample.table.resolve(link, device: device)
                if trace.decision.json != decision.json || Self.difference(trace) != nil {
                    let input = LinkOnDevice(link: Array(link.utf8), device: device)
                    sample.record("seed \(seed), \(sample.table.id), case \(number)", input, wrong: Self.wrong)
                    return
                }
                kinds[trace.failure?.phase.rawValue ?? trace.decision.outcome.rawValue, default: 0] += 1
                if !trace.redirects.isEmpty { kinds["redirected", default: 0] += 1 }
                if !trace.variants.isEmpty { kinds["with variants", default: 0] += 1 }
            }
        }
        print(
            "explanations: \(LawCases.count) links of \(tables.count) tables, seed \(seed): "
                + kinds.map { "\($0.key) \($0.value)" }.sorted().joined(separator: ", "))
        for kind in ["normalize", "select", "bind", "navigate", "redirected", "with variants"] {
            #expect(kinds[kind] ?? 0 > LawCases.count / 1_000, "\(kind)")
        }
    }

    /// Returns the evidence that an explanation does not agree with its decision, or nil.
    private static func wrong(_ input: LinkOnDevice, _ table: RouteTable) -> String? {
        let link = String(decoding: input.link, as: UTF8.self)
        let trace = table.explain(.link(link), device: input.device)
        let decision = table.resolve(link, device: input.device)
        let other = trace.decision.json == decision.json ? difference(trace) : "the decision itself"
        return other.map { "\(link) on \(input.device.json): \($0)\n\(trace.text)" }
    }

    /// Returns the part of a trace that differs from the decision, or nil.
    static func difference(_ trace: Explanation) -> String? {
        let decision = trace.decision
        let chain = decision.via + [decision.route].compactMap { $0 }
        if trace.failure?.reason != "redirect_limit" {
            if trace.candidates.first(where: \.isChosen)?.route != chain.first { return "candidate" }
            if trace.redirects.map(\.route) != decision.via { return "redirects" }
            if zip(trace.redirects, chain.dropFirst()).contains(where: { $0.leadsTo != $1 }) { return "leads to" }
        }
        if let variant = decision.variant, trace.variants.last?.index != variant { return "variant" }
        if trace.variants.last?.holds == false { return "the last variant does not hold" }
        let excluded = decision.reason == "excluded"
        if !excluded, trace.failure?.reason != decision.reason {
            return "reason \(trace.failure?.reason.rawValue ?? "none")"
        }
        if !excluded, trace.failure?.detail ?? "" != decision.detail ?? "" { return "detail" }
        if decision.outcome == .navigate, trace.failure == nil {
            let screens = decision.stack.map { "\($0.coordinator).\($0.screen).\($0.present.rawValue)" }
            let composed = trace.composed.map { "\($0.coordinator).\($0.screen).\($0.present.rawValue)" }
            let dropped = decision.notes.count { $0.hasPrefix("parent dropped:") }
            if dropped == 0, screens != composed { return "stack" }
            for binding in trace.bindings {
                let name = binding.field.split(separator: ".").map(String.init)
                let models = decision.stack.last { $0.models[name[0]] != nil }?.models
                guard let data = models?[name[0]] else { continue }
                if data[name[1]] != binding.value { return binding.field }
            }
        }
        if trace.guards.first(where: { !$0.holds })?.name != decision.guard { return "guard" }
        return nil
    }

    @Test("The parts of a link are the segments and query items that the phases read")
    func parts() throws {
        for table in try SampleTable.all().map(\.table) {
            var links = Links(arguments: ArgumentGenerator(seed: 37_2026_11), table: table)
            for _ in 0..<60 {
                let link = links.next()
                let trace = table.explain(.link(link))
                guard let read = trace.link else { continue }
                let bytes = Array(link.utf8)
                let texts = trace.parts.map { part in
                    (part.kind, String(decoding: bytes[part.offset..<part.offset + part.count], as: UTF8.self))
                }
                let segments = texts.filter { $0.0 == .segment }.map(\.1)
                #expect(segments.count >= read.segments.count, "\(link)")
                for (raw, own) in zip(segments.suffix(read.segments.count), read.segments) where !raw.contains("%") {
                    #expect(raw == own, "\(link)")
                }
                let queries = texts.filter { $0.0 == .query }.count
                // If the dialect does not split at fixed characters, the query is a single part.
                let isCut = !read.dialect.contains("are one list") && !read.dialect.contains("decoded before")
                #expect(isCut ? queries == read.query.count : queries <= 1, "\(link)")
                #expect(trace.text.split(separator: "\n").allSatisfy { !$0.unicodeScalars.contains("\u{7}") })
            }
        }
    }
}
