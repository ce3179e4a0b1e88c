internal import StrictJSON

extension Table {
    /// Resolves a request and tells how: the same decision, and what each phase saw.
    public func explain(_ request: Request, device: Device = Device()) -> Explanation {
        var explanation = Explanation(decision: resolve(request, device: device))
        device.withFacts { facts in
            _ = request.withRequest { request in
                withUnsafePointer(to: facts) { facts in
                    withUnsafePointer(to: request) { request in
                        var tracer = Tracer(self, request, facts)
                        tracer.trace(into: &explanation)
                    }
                }
            }
        }
        return explanation
    }
}

extension Table {
    /// As `explain`, for a request and facts as a record's reader lends them.
    package func explain(
        _ request: UnsafePointer<LinkRequest>, _ facts: UnsafePointer<DeviceFacts>
    ) -> Explanation {
        var resolver = Resolver()
        var arena = OutputArena(chunkBytes: 4096)
        arena.begin()
        _ = resolver.resolve(request, facts, table: compiled.handle, head: nil, into: &arena)
        var explanation = Explanation(decision: Decision(arena.finish().array))
        var tracer = Tracer(self, request, facts)
        tracer.trace(into: &explanation)
        return explanation
    }
}

/// Looks at a request phase by phase, beside the decision that was made of it.
private struct Tracer: ~Copyable {
    let table: Table
    let request: UnsafePointer<LinkRequest>
    let facts: UnsafePointer<DeviceFacts>
    var resolver = Resolver()
    var compiler: TableCompiler
    var coordinators: Set<[UInt8]>

    init(_ table: Table, _ request: UnsafePointer<LinkRequest>, _ facts: UnsafePointer<DeviceFacts>) {
        self.table = table
        self.request = request
        self.facts = facts
        compiler = TableCompiler(table.source, slab: Slab())
        compiler.number()
        coordinators = Set(table.source.coordinators.map { [UInt8]($0.name.value.utf8) })
    }

    mutating func trace(into explanation: inout Explanation) {
        guard readLink(into: &explanation) else { return }
        traceSelect(into: &explanation)
        traceVariants(into: &explanation)
    }

    /// Reads the link, or the link in the payload; false where there is none or it does not read.
    private mutating func readLink(into explanation: inout Explanation) -> Bool {
        resolver.start(request, facts, image: table.compiled.image)
        let link: ByteView
        switch request.pointee.form {
        case .link: link = request.pointee.text
        case .payload:
            guard let found = resolver.findPayloadLink() else { return false }
            link = found
        case .path, .route:
            return (try? resolver.readAny(request)) != nil
        }
        guard (try? resolver.normalise(link)) != nil else { return false }
        resolver.splitQuery()
        var query: [(name: String, value: String?)] = []
        for index in 0..<resolver.pieces.count {
            let piece = resolver.pieces[index]
            query.append((piece.name.string, piece.hasValue ? resolver.text(of: piece)?.string : nil))
        }
        explanation.link = Explanation.Link(
            scheme: resolver.scheme.string, host: resolver.hasHost ? resolver.host.string : nil,
            segments: resolver.path.map(\.text.string), query: query)
        return true
    }

    /// Which patterns take the link, in the order of 2.3, and where the others part from it.
    private mutating func traceSelect(into explanation: inout Explanation) {
        guard request.pointee.form == .link || request.pointee.form == .payload else { return }
        let segments = resolver.path.map(\.text.array)
        var taken: [(precedence: Precedence, route: String, pattern: String)] = []
        var rejected: [Explanation.Rejected] = []
        for route in table.source.routes {
            for pattern in route.patterns {
                if let (at, want) = mismatch(pattern, of: route, segments) {
                    rejected.append(
                        Explanation.Rejected(route: route.id.value, pattern: pattern.text, at: at, want: want))
                } else {
                    taken.append((route.precedence(of: pattern), route.id.value, pattern.text))
                }
            }
        }
        taken.sort { Precedence.compare($0.precedence, $1.precedence) < 0 }
        explanation.candidates = taken.enumerated().map {
            Explanation.Candidate(route: $0.element.route, pattern: $0.element.pattern, chosen: $0.offset == 0)
        }
        rejected.sort { ($0.at ?? -1, $1.route) > ($1.at ?? -1, $0.route) }
        explanation.rejectedCount = rejected.count
        explanation.rejected = Array(rejected.prefix(Explanation.maxRejected))
    }

    /// Where a pattern parts from the link and what it wants there, or nil if it takes it.
    private mutating func mismatch(
        _ pattern: TableSource.RoutePattern, of route: TableSource.Route, _ segments: [[UInt8]]
    ) -> (at: Int?, want: String)? {
        if let scheme = pattern.scheme, !ByteScan.equalFolded(resolver.scheme, compiler.slab.view(scheme)) {
            return (nil, "scheme \(scheme)")
        }
        if let host = pattern.host, host != .any {
            let port = resolver.port < 0 ? nil : UInt16(resolver.port)
            if !resolver.hasHost || !host.takes(host: resolver.host.array, port: port) {
                return (nil, "host \(host.text.isEmpty ? "none" : host.text)")
            }
        }
        let folds = table.source.foldsPathCase
        for (index, matcher) in pattern.path.matchers.enumerated() {
            if matcher.isTerminal {
                let takes = matcher.takesTail(segments, from: index, foldsCase: folds) { coordinators.contains($0) }
                return takes ? constraintMismatch(route) : (index, matcher.name)
            }
            guard index < segments.count else { return (index, matcher.name) }
            let takes = segments[index].withUnsafeBufferPointer { matcher.takes(ByteView($0), foldsCase: folds) }
            if !takes { return (index, matcher.name) }
        }
        return nil
    }

    private mutating func constraintMismatch(_ route: TableSource.Route) -> (at: Int?, want: String)? {
        for constraint in route.query {
            let image = compiler.slab.store([compiler.image(constraint)])
            if !resolver.holds(image.at(0)) { return (nil, constraint.name(holding: true)) }
        }
        return nil
    }

    /// The variants of the route that was chosen, up to the one that was taken.
    private mutating func traceVariants(into explanation: inout Explanation) {
        guard let id = explanation.decision.route, let number = compiler.routeNumbers[id] else { return }
        let route = table.source.routes[number]
        guard route.listsVariants else { return }
        for (index, variant) in route.variants.enumerated() {
            guard let condition = variant.when, !condition.isEmpty else {
                explanation.trials.append(Explanation.Trial(index: index, holds: true, because: "always"))
                return
            }
            let tests = condition.tests
            if let failing = tests.first(where: { !holds($0) }) {
                explanation.trials.append(
                    Explanation.Trial(index: index, holds: false, because: text(of: failing, holding: false)))
                continue
            }
            let because = tests.map { text(of: $0, holding: true) }.joined(separator: " and ")
            explanation.trials.append(Explanation.Trial(index: index, holds: true, because: because))
            return
        }
    }

    private mutating func holds(_ test: TableSource.Condition) -> Bool {
        let images = compiler.slab.store([compiler.image(test)])
        return resolver.holds(images.at(0))
    }

    private func text(of test: TableSource.Condition, holding: Bool) -> String {
        func known(_ fact: DeviceFacts.Fact, _ view: ByteView) -> String {
            facts.pointee.has(fact) ? view.string : "unknown"
        }
        let word = holding ? "" : "no "
        if let app = test.app.first { return "app \(known(.app, facts.pointee.app)) \(app.text(holding: holding))" }
        if let os = test.os.first { return "os \(known(.os, facts.pointee.os)) \(os.text(holding: holding))" }
        if let capability = test.capabilities.first { return "\(word)capability \(capability.value)" }
        if let claim = test.claims.first { return "\(word)claim \(claim.value)" }
        let isOne = holding ? "is one of" : "is none of"
        if let platforms = test.platforms {
            return "platform \(known(.platform, facts.pointee.platform)) \(isOne) \(platforms.joined(separator: ", "))"
        }
        if let regions = test.regions {
            return "region \(known(.region, facts.pointee.region)) \(isOne) \(regions.joined(separator: ", "))"
        }
        if let locales = test.locales {
            return "locale \(known(.locale, facts.pointee.locale)) \(isOne) \(locales.joined(separator: ", "))"
        }
        if let attribute = test.attributes.first {
            return "attribute \(attribute.name.value) \(isOne) \(attribute.values.joined(separator: ", "))"
        }
        return test.query.first?.name(holding: holding) ?? "always"
    }
}

extension TableSource.RoutePattern {
    /// The pattern with the scheme and host that it names.
    var text: String {
        guard scheme != nil || host != nil else { return path.text }
        return "\(scheme ?? "*")://\(host?.text ?? "*")\(path.text)"
    }
}
