internal import RouteAnalysis
internal import LinkCoordinator
internal import StrictJSON

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
