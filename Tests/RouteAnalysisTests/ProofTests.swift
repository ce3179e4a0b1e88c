import LinkCoordinator
import RouteAnalysis
import Synchronization
import TestSupport
import Testing

@Suite("Proofs about patterns")
struct ProofTests {
    @Test("A proof that would take too much work is reported as unproved, with its route")
    func unproved() throws {
        // Each clause of a hard formula is a pattern. The goal is reachable exactly if the formula is satisfiable.
        var generator = SeededGenerator(seed: 43)
        let variables = 50
        let goal = "/{z:enum(c)}" + (0..<variables).map { "/{v\($0):enum(t|f)}" }.joined()
        let clauses = (0..<Int(4.26 * Double(variables))).map { _ in
            var segments = (0..<variables).map { "{v\($0)}" }
            for index in (0..<variables).shuffled(using: &generator).prefix(3) {
                segments[index] = Bool.random(using: &generator) ? "t" : "f"
            }
            return "\"/c/" + segments.joined(separator: "/") + "\""
        }
        let file = Array(
            """
            { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
              "link": { "schemes": ["s"], "host": "segment" },
              "routes": [
                { "id": "clauses", "match": "/c", "alias": [\(clauses.joined(separator: ","))],
                  "to": { "root": true } },
                { "id": "goal", "match": "\(goal)", "to": { "root": true } } ] }
            """.utf8)
        let source = try #require(TableSource.read(file).source)
        var problems = ProblemList()
        OverlapProof.run(source, budget: WorkBudget(perSearch: 20_000, total: 4_000_000), into: &problems)
        let found = problems.located(in: file).filter { $0.code == .unproved }
        #expect(found.contains { $0.routes.first == "goal" })
        #expect(found.allSatisfy { $0.severity == .warning })
    }

    @Test("A search that is ended stops before its units are used up")
    func ended() throws {
        let calls = Mutex(0)
        var budget = WorkBudget {
            calls.withLock { count in
                count += 1
                return count > 2
            }
        }
        budget.begin()
        #expect(throws: WorkBudget.Exhausted.self) {
            for _ in 0..<100 { try budget.spend(1_000) }
        }
        #expect(calls.withLock { $0 } == 3)
    }
}
