internal import RouteAnalysis
internal import LinkCoordinator
internal import StrictJSON

/// An input of the target `tables`: the bytes of a table's file; behind a zero byte links, one a line.
extension FuzzRunner {
    /// Most links that are resolved by one table.
    private static let links = 12

    func runTable(_ input: [UInt8]) -> String? {
        let file = Array(input.prefix { $0 != 0 })
        let behind = input.dropFirst(file.count + 1)
        let (checked, problems) = Table.check(file)
        if checked == nil, problems.isEmpty { return "a table is refused without a word" }
        for problem in problems where problem.place.line < 1 || problem.place.column < 1 || problem.offset > file.count
        {
            return "a problem stands nowhere: \(problem.text(file: "table"))"
        }
        if problems.isEmpty, let again = Table.check(file).table, again.hash != checked?.hash {
            return "the table has two hashes"
        }
        guard let table = checked ?? Table.unchecked(file) else { return nil }
        var links = behind.split(separator: UInt8(ascii: "\n")).prefix(Self.links).map {
            String(decoding: $0, as: UTF8.self)
        }
        var dice = Dice(seed: UInt64(file.count))
        let maker = LinkMaker(Vocabulary(tables: [file]))
        while links.count < Self.links { links.append(maker.link(&dice)) }
        for link in links { if let wrong = wrong(link, table) { return "\(wrong)\nlink: \(link)" } }
        for problem in problems { if let wrong = wrongWitness(problem, table) { return wrong } }
        return nil
    }

    private func wrong(_ link: String, _ table: Table) -> String? {
        for device in Self.devices {
            guard let facts = try? JSONValue.parse(Array(device.utf8)) else { continue }
            let decision = table.resolve(link, device: Device(facts))
            if let wrong = Self.wrongText(decision.json) { return wrong }
            if decision.json != table.resolve(link, device: Device(facts)).json { return "two decisions" }
        }
        _ = table.explain(.link(link))
        return nil
    }

    /// What a problem's witness comes to: a decision, whatever it is.
    private func wrongWitness(_ problem: TableProblem, _ table: Table) -> String? {
        guard let witness = problem.witness else { return nil }
        return Self.wrongText(table.resolve(witness).json)
    }
}
