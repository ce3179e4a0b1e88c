internal import ByteStorage
internal import Foundation
internal import LinkCoordinator
internal import RouteAnalysis
internal import StrictJSON

/// The benchmark `lookup`: splitting a path, selecting a route, and extracting captures, on the route sets of other
/// routers.
enum LookupBenchmark {
    /// The route sets, with the lines of the path file to look up in turn.
    private static let shapes: [(name: String, file: String, lines: Range<Int>?)] = [
        ("dld2000/first", "dld2000", 0..<1), ("dld2000/500th", "dld2000", 1..<2), ("dld2000/1000th", "dld2000", 2..<3),
        ("dld2000/1500th", "dld2000", 3..<4), ("dld2000/last", "dld2000", 4..<5), ("dld2000/miss", "dld2000", 5..<6),
        ("github130", "github", nil), ("table10000", "table10000", nil),
    ]

    static func run(_ options: BenchmarkOptions, _ report: Report) throws {
        guard let directory = options.peers.map({ "\($0)/lookup" }) else { return }
        report.heading("one lookup (\(options.rounds) rounds, best of 5 passes each)")
        var tables: [String: CompiledTable] = [:]
        var times: [String: [Double]] = [:]
        var peers: [String: [Double]] = [:]
        for _ in 0..<options.rounds {
            for shape in shapes {
                let table = try tables[shape.file] ?? compile("\(directory)/\(shape.file)-routes.txt")
                tables[shape.file] = table
                let lines = try readLines("\(directory)/\(shape.file)-paths.txt")
                let chosen = Array(lines[shape.lines ?? 0..<lines.count])
                times[shape.name, default: []].append(try measure(chosen, table, shape: shape.name))
            }
            guard let peer = options.peer("lookup/lookup-matchit") else { continue }
            for line in try PeerProgram.run(peer, [directory]).split(separator: "\n") {
                for shape in shapes where line.contains("\"\(shape.name)\"") {
                    if let value = PeerProgram.number("ns_per_lookup", in: line) {
                        peers[shape.name, default: []].append(value)
                    }
                }
            }
        }
        for shape in shapes {
            let baseline = peers[shape.name].map { (name: "matchit", values: $0) }
            report.figure(
                shape.name, unit: "ns", times[shape.name] ?? [], baseline: baseline, bound: baseline == nil ? nil : 1.2)
        }
    }

    private static func readLines(_ path: String) throws -> [String] {
        String(decoding: try contents(of: path), as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Compiles the routes of a file.
    ///
    /// The route sets contain overlapping routes, so they are compiled without checks.
    private static func compile(_ path: String) throws -> CompiledTable {
        let routes = try readLines(path).enumerated().map {
            #"{"id":"r\#($0.offset)","match":\#(JSONValue(.string($0.element)).text),"to":{"root":true}}"#
        }
        let text = """
            {"schemaVersion":1,"table":{"id":"lookup","version":"1"},
             "link":{"schemes":["t"],"host":"authority","hosts":["*"]},"routes":[\(routes.joined(separator: ","))]}
            """
        guard let source = TableSource.read([UInt8](text.utf8)).source else {
            throw BenchmarkError(text: "the routes in \(path) do not form a valid table", code: 65)
        }
        return CompiledTable(source, hash: "00000000")
    }

    /// Measures the lookups of all paths in turn.
    ///
    /// Each lookup must find a route if the line of the path names one, and no route otherwise.
    private static func measure(_ lines: [String], _ table: CompiledTable, shape: String) throws -> Double {
        var resolver = Resolver()
        var bytes: [UInt8] = []
        var spans: [Range<Int>] = []
        var isMiss: [Bool] = []
        for line in lines {
            let parts = line.split(separator: "\t", omittingEmptySubsequences: false)
            let path = [UInt8](parts[0].utf8)
            spans.append(bytes.count..<bytes.count + path.count)
            bytes += path
            isMiss.append(parts.count < 2 || parts[1].isEmpty || parts[1] == "-")
        }
        // As in a record, other bytes follow each path.
        bytes += [UInt8](repeating: 0, count: 32)
        let handle = table.handle
        let repeats = max(1, 200_000 / spans.count)
        var wrong = 0
        let best = bytes.withUnsafeBufferPointer { bytes in
            (0..<5).map { _ in
                nanoseconds {
                    for _ in 0..<repeats {
                        for index in 0..<spans.count {
                            let view = ByteView(UnsafeBufferPointer(rebasing: bytes[spans[index]]))
                            let found = resolver.lookUp(view, bytesAfter: 32, in: handle)
                            if (found == nil) != isMiss[index] { wrong += 1 }
                        }
                    }
                } / Double(repeats * spans.count)
            }.min() ?? .nan
        }
        if wrong > 0 { throw BenchmarkError(text: "\(shape): \(wrong) lookups had a wrong result", code: 70) }
        return best
    }
}
