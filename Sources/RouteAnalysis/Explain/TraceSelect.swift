internal import LinkCoordinator
internal import ByteStorage

// The trace of the phases `select` and `variant`.
extension Tracer {
    /// Adds the patterns that match the link in order of precedence, the mismatches of the others, and the redirects.
    mutating func traceSelect(into explanation: inout Explanation) throws(Rejection) {
        traceCandidates(into: &explanation)
        while true {
            try resolver.searchPattern()
            if let routeNumber { arrive(at: routeNumber, in: &explanation) }
            if explanation.redirects.isEmpty { markSegments(&explanation) }
            let before = resolver.via.count
            let ends: Bool
            do throws(Rejection) {
                ends = try resolver.follow()
            } catch {
                addRedirects(from: before, into: &explanation)
                throw error
            }
            addRedirects(from: before, into: &explanation)
            if ends { break }
        }
        addCaptures(into: &explanation)
    }

    /// Records the route that the last redirect led to.
    private mutating func arrive(at route: Int, in explanation: inout Explanation) {
        guard let last = explanation.redirects.indices.last else { return }
        explanation.redirects[last].leadsTo = table.source.routes[route].id.value
    }

    private mutating func addRedirects(from first: Int, into explanation: inout Explanation) {
        for index in first..<resolver.via.count {
            let route = table.source.routes[Int(resolver.via[index])]
            arrive(at: Int(resolver.via[index]), in: &explanation)
            guard case .redirect(let redirect) = route.action else { continue }
            explanation.redirects.append(
                Explanation.Redirect(route: route.id.value, to: redirect.text, segments: nil, leadsTo: nil))
            if case .template = redirect, index == resolver.via.count - 1 {
                explanation.redirects[explanation.redirects.count - 1].segments = resolver.path.map(\.text.string)
            }
        }
        if resolver.via.count > first, let routeNumber {
            let last = table.source.routes[Int(resolver.via[resolver.via.count - 1])]
            if case .redirect(.route) = last.action { arrive(at: routeNumber, in: &explanation) }
        }
    }

    private mutating func addCaptures(into explanation: inout Explanation) {
        for number in 0..<resolver.tableData.names.count {
            let name = resolver.tableData.names[number].string
            guard let texts = resolver.capturedTexts(name) else { continue }
            explanation.captures.append(Explanation.Capture(name: name, value: texts.joined(separator: "/")))
        }
    }

    /// Adds the variants of a route, up to the selected one.
    mutating func traceVariants(of route: TableSource.Route, into explanation: inout Explanation) {
        guard route.listsVariants else { return }
        for (index, variant) in route.variants.enumerated() {
            guard let condition = variant.when, !condition.isEmpty else {
                explanation.variants.append(Explanation.VariantResult(index: index, holds: true, because: "always"))
                return
            }
            let tests = condition.tests
            if let failing = tests.first(where: { !holds($0) }) {
                explanation.variants.append(
                    Explanation.VariantResult(index: index, holds: false, because: text(of: failing, holding: false)))
                continue
            }
            let because = tests.map { text(of: $0, holding: true) }.joined(separator: " and ")
            explanation.variants.append(Explanation.VariantResult(index: index, holds: true, because: because))
            return
        }
    }

    private mutating func holds(_ test: TableSource.Condition) -> Bool {
        let storedConditions = compiler.storage.store([compiler.compile(test)])
        return resolver.holds(storedConditions.at(0))
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
        return test.query.first?.text(holding: holding) ?? "always"
    }
}
