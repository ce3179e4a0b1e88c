import LinkCoordinator
import TableSupport
import TestSupport
import Testing

@Suite("Laws of paths") struct PathLawTests {
    @Test("P1: a stack that is printed and parsed is unchanged")
    func printAndParse() throws {
        let tables = try SampleTable.all()
        var generator = SeededGenerator(seed: 1_2026_11)
        var long = 0
        var switches = 0
        for number in 0..<LawCases.count {
            let sample = tables[number % tables.count]
            let stack = Self.stack(sample.table.source, &generator)
            if Self.changed(stack, sample.table) != nil {
                sample.record("P1, seed \(generator.seed), case \(number)", stack, wrong: Self.changed)
                return
            }
            if stack.count > 2 { long += 1 }
            if Set(stack.map(\.coordinator)).count > 1 { switches += 1 }
        }
        print(
            "P1: \(LawCases.count) stacks of \(tables.count) tables, seed \(generator.seed): \(long) of more than two "
                + "entries, \(switches) of several coordinators")
        #expect(long > LawCases.count / 3 && switches > LawCases.count / 4)
    }

    /// Returns the path of a stack that does not come back from it, or nil.
    private static func changed(_ stack: [StackEntry], _ table: RouteTable) -> String? {
        let path = table.path(for: stack)
        return (try? table.stack(atPath: path)) == stack ? nil : "stack: \(stack)\npath: \(path)"
    }

    /// Returns a stack that a path can represent: screens in their default presentation, and one entry of a single
    /// slot.
    static func stack(_ source: TableSource, _ generator: inout SeededGenerator) -> [StackEntry] {
        var stack: [StackEntry] = []
        var usedCoordinators = Set<String>()
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
            if owner.singleSlot && !usedCoordinators.insert(owner.name.value).inserted { continue }
            stack.append(
                StackEntry(
                    coordinator: owner.name.value, screen: screen.name.value, view: screen.view?.value,
                    present: screen.defaultPresentation, nav: screen.nav))
        }
        return stack
    }

    @Test("P2: a path that is parsed and printed is canonical, and repeating it changes nothing")
    func parseAndPrint() throws {
        let tables = try SampleTable.all()
        var generator = SeededGenerator(seed: 2_2026_11)
        var (parsed, changed) = (0, 0)
        for number in 0..<LawCases.count {
            let sample = tables[number % tables.count]
            let path = Self.path(sample.table.source, &generator)
            guard let stack = try? sample.table.stack(atPath: path) else { continue }
            parsed += 1
            if sample.table.path(for: stack) != path { changed += 1 }
            if Self.otherForm(Array(path.utf8), sample.table) != nil {
                sample.record(
                    "P2, seed \(generator.seed), case \(number)", Array(path.utf8), wrong: Self.otherForm)
                return
            }
        }
        print(
            "P2: \(LawCases.count) paths of \(tables.count) tables, seed \(generator.seed): \(parsed) are paths, "
                + "\(changed) were not canonical")
        #expect(parsed > LawCases.count / 3 && changed > LawCases.count / 10)
    }

    /// Returns the forms of a path that is not canonical after it was printed, or nil.
    private static func otherForm(_ bytes: [UInt8], _ table: RouteTable) -> String? {
        let path = String(decoding: bytes, as: UTF8.self)
        guard let parsed = try? table.stack(atPath: path) else { return nil }
        let canonical = table.path(for: parsed)
        let again = try? table.stack(atPath: canonical)
        let form = again.map { table.path(for: $0) }
        return again == parsed && form == canonical ? nil : "path: \(path)\nforms: \(canonical) \(form ?? "none")"
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
}
