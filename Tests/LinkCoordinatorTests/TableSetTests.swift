import ByteStorage
import Foundation
import LinkCoordinator
import Synchronization
import TableSupport
import Testing

/// The observations of threads while sets are replaced.
private final class Run: Sendable {
    struct Seen {
        var requests = 0
        /// The number of times that the set changed between two requests of a thread.
        var sets = 0
        var problems: [String] = []
    }

    /// The number of requests of each thread.
    static let requests = 4_000

    let seen = Mutex(Seen())
    /// The newest version that has certainly been stored.
    let replaced = Mutex(0)

    /// Resolves as a lane of the worker does: one resolver for the current set, request after request.
    func read(from owner: Lock<TableSet>) {
        var resolver = ReusedResolver()
        var seen = Seen()
        var newest = -1
        for number in 0..<Self.requests {
            let least = replaced.withLock { $0 }
            let set = owner.withLock { $0 }
            let versions = set.tables.compactMap { Int($0.version) }
            let decisions = set.tables.map { table in
                try? Decision(
                    json: resolver.decide(
                        Array("\(table.id == "a" ? "app" : "b"):///x".utf8), DeviceView(), table.compiled))
            }
            seen.requests += 1
            if versions[0] != newest { seen.sets += 1 }
            if versions.count != 2 || versions[0] != versions[1] { seen.problems.append("\(number): \(versions)") }
            if versions[0] < max(least, newest) { seen.problems.append("\(number): \(versions[0]) after \(least)") }
            let tables = decisions.map { $0?.table ?? "none" }
            if tables != set.tables.map(\.identity) { seen.problems.append("\(number): \(tables)") }
            newest = versions[0]
        }
        self.seen.withLock {
            $0.requests += seen.requests
            $0.sets += seen.sets
            $0.problems += seen.problems
        }
    }
}

@Suite("Sets of tables")
struct TableSetTests {
    private func table(_ id: String, _ link: String, version: String) throws
        -> RouteTable
    {
        try RouteTable(
            json:
                Array(
                    """
                    { "schemaVersion": 1,
                      "table": { "id": "\(id)", "version": "\(version)" },
                      "link": \(link), "routes": [ { "id": "all", "match": "/{r*}", "to": { "root": true } } ] }
                    """.utf8))
    }

    private static let segment = #"{ "schemes": ["app"], "host": "segment" }"#

    /// Returns a newly loaded set of two tables of one version.
    private func set(version: Int) throws -> TableSet {
        TableSet([
            try table("a", Self.segment, version: "\(version)"),
            try table("b", #"{ "schemes": ["b"], "host": "segment" }"#, version: "\(version)"),
        ])
    }

    @Test("While sets are replaced, every request uses one complete set, the newest or the previous one")
    func replacing() throws {
        let owner = Lock(try set(version: 0))
        let run = Run()
        let readers = 3
        let done = DispatchGroup()
        for _ in 0..<readers {
            done.enter()
            let thread = Thread {
                run.read(from: owner)
                done.leave()
            }
            thread.start()
        }
        var version = 0
        // Each set is unique. After it was replaced, it is kept alive only by its readers.
        while done.wait(timeout: .now()) == .timedOut {
            version += 1
            let next = try set(version: version)
            let last = owner.withLock { held in
                let last = held
                held = next
                return last
            }
            #expect(last.tables[0].version == "\(version - 1)")
            run.replaced.withLock { $0 = version }
        }
        let seen = run.seen.withLock { $0 }
        print(
            "replacing: \(version) sets, \(readers) threads, \(seen.requests) requests, \(seen.sets) sets seen by them")
        #expect(seen.problems == [])
        #expect(seen.requests == readers * Run.requests && seen.sets > readers && version > 1)
        #expect(owner.withLock { $0 }.tables.map(\.version) == ["\(version)", "\(version)"])
    }
}
