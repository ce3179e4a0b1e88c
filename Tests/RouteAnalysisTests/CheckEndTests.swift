import LinkCoordinator
import RouteAnalysis
import Synchronization
import TestSupport
import Testing

@Suite("Checks that a caller ends")
struct CheckEndTests {
    /// Returns a table whose routes all overlap with the others.
    private static func file(_ count: Int, _ members: (Int) -> String) -> [UInt8] {
        let routes = (0..<count).map { #"{ "id": "r\#($0)", \#(members($0)), "to": { "root": true } }"# }
        return Array(
            """
            { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
              "link": { "schemes": ["s"], "host": "segment" }, "routes": [ \(routes.joined(separator: ",\n")) ] }
            """.utf8)
    }

    /// Tables with 4,096 routes, whose proofs take minutes in a debug build.
    private static let slowTables: [[UInt8]] = [
        file(4096) { #""match": "/{n:int(0..\#($0))}", "priority": \#(4096 - $0)"# },
        file(4096) { #""match": "/{n:int(\#($0)..\#($0 + 4096))}", "priority": \#($0)"# },
        file(4096) { #""match": "\#($0 % 2 == 0 ? "/a/\($0)-{x}" : "/a/{x}-\($0)")", "priority": \#($0)"# },
    ]

    @Test(
        "A table whose proof takes minutes has no result soon after the end of the time", arguments: slowTables.indices)
    func ends(index: Int) {
        let start = ContinuousClock.now
        let isOver = { @Sendable in ContinuousClock.now - start > .milliseconds(200) }
        let milliseconds = ThreadTime.milliseconds {
            #expect(RouteTable.check(Self.slowTables[index], includesAdvice: true, until: isOver) == nil)
        }
        print("\(Int(milliseconds)) ms")
        #expect(milliseconds < 20_000)
    }

    @Test("A check has either its whole result or none, wherever it is ended", arguments: LoadShape.all)
    func wherever(shape: LoadShape) throws {
        let file = shape.file(12)
        let whole = RouteTable.check(file, includesAdvice: true)
        let questions = Atomic(0)
        _ = RouteTable.check(file, includesAdvice: true) {
            questions.add(1, ordering: .relaxed)
            return false
        }
        let count = questions.load(ordering: .relaxed)
        #expect(count > 0)
        for limit in [0, 1, 2, count / 2, count - 1, count] {
            let left = Atomic(limit)
            let result = RouteTable.check(file, includesAdvice: true) {
                left.subtract(1, ordering: .relaxed).newValue < 0
            }
            #expect((result == nil) == (limit < count), "\(limit) of \(count)")
            guard let result else { continue }
            #expect(result.table?.identity == whole.table?.identity && result.problems == whole.problems)
        }
    }
}
