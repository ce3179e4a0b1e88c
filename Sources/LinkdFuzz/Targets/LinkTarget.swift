internal import ByteStorage
internal import LinkCoordinator
internal import LinkDecider
internal import RouteAnalysis
internal import StrictJSON

/// The target `links`. An input is a line with letters for the environment, its table, and the device, followed by the
/// link.
extension FuzzRunner {
    /// The devices, as in events.
    static let devices = [
        #"{"id":"d"}"#, #"{"id":"d","platform":"ios","app":"6.1.0","os":"18.2","locale":"en-GB","region":"GB"}"#,
        #"{"id":"d","platform":"Android","app":"3.9.12","locale":"ru","claims":["session"],"coordinator":"hall"}"#,
        #"{"id":"d","app":"2.0","capabilities":["ar","new"],"attributes":{"tier":"gold"},"coordinator":"auth"}"#,
        #"{"id":"d","app":"x","os":"3","attributes":{"tier":"e\u0301te\u0301"},"claims":["session","x"],"locale":7}"#,
    ]

    func runLink(_ input: [UInt8]) -> String? {
        let line = input.prefix { $0 != UInt8(ascii: "\n") }
        let letters = Array(line.prefix(3)) + [UInt8](repeating: UInt8(ascii: "a"), count: 3 - min(line.count, 3))
        let tables = FuzzEnvironment.named(letters[0], of: environments).configuration.tables.tables
        let table = tables[Int(letters[1] &- UInt8(ascii: "a")) % tables.count]
        let device = Self.devices[Int(letters[2] &- UInt8(ascii: "a")) % Self.devices.count]
        let bytes = Array(input.dropFirst(line.count + 1))
        guard let link = String(validating: bytes, as: UTF8.self), let facts = try? JSONValue.parse(Array(device.utf8))
        else { return resolveRaw(bytes, table) }
        let decision = table.resolve(link, device: DeviceFacts(facts))
        // The library also parses the decision it has written. That time is not part of the bound.
        let excess = cost.excess(devices: 50) {
            bytes.count + table.resolve(link, device: DeviceFacts(facts)).json.count
        }
        if let excess { return "the link takes \(excess / 1_000) µs" }
        return EventCheck(link: link, device: device, table: table).difference(from: decision)
            ?? Self.decisionViolation(decision.json) ?? explanationViolation(table, link, DeviceFacts(facts), decision)
    }

    private func explanationViolation(_ table: RouteTable, _ link: String, _ device: DeviceFacts, _ decision: Decision)
        -> String?
    {
        let explanation = table.explain(.link(link), device: device)
        if explanation.decision.json != decision.json { return "the explanation has a different decision" }
        let chosen = explanation.candidates.filter(\.isChosen).map(\.route)
        // The target of a redirect is not a candidate.
        if decision.via.isEmpty, let route = decision.route, !chosen.isEmpty, chosen != [route] {
            return "the explanation has the route \(chosen), the decision has \(route)"
        }
        return nil
    }

    /// Resolves bytes that are not UTF-8, which must yield a decision too.
    private func resolveRaw(_ bytes: [UInt8], _ table: RouteTable) -> String? {
        var resolver = Resolver()
        var arena = OutputArena(chunkBytes: 4096)
        arena.begin()
        bytes.withUnsafeBufferPointer { bytes in
            let request = RequestView(form: .link, text: ByteView(bytes))
            withUnsafePointer(to: request) { request in
                withUnsafePointer(to: DeviceView()) { facts in
                    _ = resolver.resolve(request, facts, table: table.compiled.handle, head: nil, into: &arena)
                }
            }
        }
        return Self.decisionViolation(arena.finish().array)
    }
}

/// A comparison of the library with the worker, which receives the link in an event, with and without escapes.
private struct EventCheck {
    let link: String
    let device: String
    let table: RouteTable

    /// Returns the difference between the decision of an event and the decision of the library, or nil.
    func difference(from decision: Decision) -> String? {
        var plain = TextWriter()
        plain.string(link)
        var escaped = TextWriter()
        var random = RandomSource(seed: UInt64(link.utf8.count))
        escaped.escaped(link, &random)
        for text in [plain.bytes, escaped.bytes] {
            let event = Array(#"{"link":"#.utf8) + text + Array(",\"device\":\(device)}".utf8)
            guard event.count <= 1 << 20 else { continue }
            var decider = Decider(DeciderConfiguration(tables: TableSet([table])))
            var arena = OutputArena(chunkBytes: 4096)
            var found: [UInt8] = []
            let cause = event.withUnsafeBufferPointer { event in
                decider.decide(value: ByteView(event), key: nil, into: &arena) { _, decision, _ in
                    found = decision.array
                }
            }
            // The only result with a single table is the library's decision.
            if let cause { return "the event is a dead letter: \(cause.detail)" }
            if found != decision.json {
                return "the decision of an event differs from the decision of the library\n"
                    + String(decoding: found, as: UTF8.self) + "\n" + String(decoding: decision.json, as: UTF8.self)
            }
        }
        return nil
    }
}

/// The target `tables`. An input is the file of a table, and after a zero byte links, one per line.
extension FuzzRunner {
    /// The number of links to resolve with one table.
    private static let links = 12

    func runTable(_ input: [UInt8]) -> String? {
        let file = Array(input.prefix { $0 != 0 })
        let linkBytes = input.dropFirst(file.count + 1)
        let (checked, problems, _) = RouteTable.check(file)
        if checked == nil, problems.isEmpty { return "a table is refused without a reported problem" }
        for problem in problems
        where problem.location.line < 1 || problem.location.column < 1 || problem.offset > file.count {
            return "a problem has no location in the file: \(problem.text(file: "table"))"
        }
        if problems.isEmpty, let again = RouteTable.check(file).table, again.hash != checked?.hash {
            return "the table has a different hash when it is loaded again"
        }
        guard let table = checked ?? RouteTable.unchecked(file) else { return nil }
        var links = linkBytes.split(separator: UInt8(ascii: "\n")).prefix(Self.links).map {
            String(decoding: $0, as: UTF8.self)
        }
        var random = RandomSource(seed: UInt64(file.count))
        let generator = LinkGenerator(Vocabulary(tables: [file]))
        while links.count < Self.links { links.append(generator.link(&random)) }
        for link in links { if let wrong = wrong(link, table) { return "\(wrong)\nlink: \(link)" } }
        for problem in problems { if let wrong = witnessViolation(problem, table) { return wrong } }
        return nil
    }

    private func wrong(_ link: String, _ table: RouteTable) -> String? {
        for device in Self.devices {
            guard let facts = try? JSONValue.parse(Array(device.utf8)) else { continue }
            let decision = table.resolve(link, device: DeviceFacts(facts))
            if let wrong = Self.decisionViolation(decision.json) { return wrong }
            if decision.json != table.resolve(link, device: DeviceFacts(facts)).json {
                return "the link has a different decision when it is resolved again"
            }
        }
        _ = table.explain(.link(link))
        return nil
    }

    /// Returns a violation in the decision of a problem's witness, or nil.
    private func witnessViolation(_ problem: TableProblem, _ table: RouteTable) -> String? {
        guard let witness = problem.witness else { return nil }
        return Self.decisionViolation(table.resolve(witness).json)
    }
}
