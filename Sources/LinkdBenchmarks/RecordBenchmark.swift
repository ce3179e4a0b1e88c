internal import LinkDecider
internal import Foundation
internal import LinkCoordinator
internal import LinkIngest
internal import ByteStorage

/// The benchmark `record`: a complete record of the workload, from bytes to bytes on one thread, and its three parts.
struct RecordBenchmark {
    let workload: Workload
    let tables: TableSet
    private let configuration: DeciderConfiguration

    /// Creates the benchmark for a route table, with the rules of vendors and link platforms or without.
    init(workload: Workload, table: String, vendors: String? = nil, platforms: String? = nil) throws {
        self.workload = workload
        tables = TableSet([try RouteTable(json: contents(of: table))])
        configuration = DeciderConfiguration(
            tables: tables, passthrough: .campaign,
            vendors: try vendors.map { try VendorTable(json: contents(of: $0)) },
            platforms: try platforms.map { try LinkPlatforms(file: contents(of: $0)) })
    }

    func run(_ options: BenchmarkOptions, _ report: Report) throws {
        report.heading("a complete record, from bytes to bytes (\(workload.count) records, \(options.rounds) rounds)")
        var whole: [Double] = []
        var decode: [Double] = []
        var select: [Double] = []
        var peer: [Double] = []
        for _ in 0..<options.rounds {
            whole.append(wholePass())
            decode.append(decodePass())
            select.append(selectPass())
            guard let path = options.peer("rust-peer") else { continue }
            let line = try PeerProgram.run(path, ["cpu", workload.path])
            if let value = PeerProgram.number("ns_per_record", in: line) { peer.append(value) }
        }
        report.figure(
            "record", unit: "ns", whole, baseline: peer.isEmpty ? nil : ("rust-peer cpu", peer),
            bound: peer.isEmpty ? nil : 0.8)
        report.figure("  decode", unit: "ns", decode)
        report.figure("  split and select", unit: "ns", select)
        let rest = zip(whole, zip(decode, select)).map { $0 - $1.0 - $1.1 }
        report.figure("  bind, compose, encode (the rest)", unit: "ns", rest)
    }

    /// The number of passes in a measurement, which uses the best one, as in `rust-peer cpu`.
    private static let passes = 7

    /// Returns the time per record of the best pass over all records, in nanoseconds.
    private func best(_ pass: (UnsafeBufferPointer<UInt8>) -> Void) -> Double {
        Self.best(of: Self.passes, workload.bytes, workload.count, pass)
    }

    private static func best(
        of passes: Int, _ bytes: [UInt8], _ count: Int, _ pass: (UnsafeBufferPointer<UInt8>) -> Void
    ) -> Double {
        bytes.withUnsafeBufferPointer { bytes in
            (0..<passes).map { _ in nanoseconds { pass(bytes) } / Double(count) }.min() ?? .nan
        }
    }

    private func value(_ index: Int, _ bytes: UnsafeBufferPointer<UInt8>) -> ByteView {
        ByteView(UnsafeBufferPointer(rebasing: bytes[workload.spans[index]]))
    }

    private func wholePass() -> Double {
        Self.best(of: Self.passes, configuration, workload.bytes, workload.spans)
    }

    /// Returns the time per record of the best of some passes that decide about all records, in nanoseconds.
    static func best(
        of passes: Int, _ configuration: DeciderConfiguration, _ bytes: [UInt8], _ spans: [Range<Int>]
    ) -> Double {
        var decider = Decider(configuration)
        var arena = OutputArena(chunkBytes: 4 << 20)
        var decisions: [ProducedDecision] = []
        decisions.reserveCapacity(2000)
        return best(of: passes, bytes, spans.count) { bytes in
            var record = ConsumedRecord(
                topic: 0, partition: 0, offset: 0, timestamp: 0, key: nil, value: nil, index: 0, hasHeaders: false)
            for (index, span) in spans.enumerated() {
                record.offset = Int64(index)
                record.value = ByteView(UnsafeBufferPointer(rebasing: bytes[span]))
                _ = decider.decide(record, topicName: ByteView("links"), into: &arena, decisions: &decisions)
                if decisions.count > 900 {
                    decisions.removeAll(keepingCapacity: true)
                    arena.reset()
                }
            }
        }
    }

    private func decodePass() -> Double {
        var reader = EventReader()
        var devices = 0
        let time = best { bytes in
            for index in 0..<workload.count where reader.readInPlace(value: value(index, bytes), key: nil) {
                devices += reader.eventPointer.pointee.deviceCount
            }
        }
        precondition(devices > 0)
        return time
    }

    /// Measures splitting and searching the paths of the links, which corresponds to the lookup of other routers.
    private func selectPass() -> Double {
        let table = tables.tables[0].compiled.handle
        var resolver = Resolver()
        var paths: [Range<Int>] = []
        for span in workload.spans { paths.append(pathRange(span)) }
        var found = 0
        let time = best { bytes in
            for path in paths {
                let view = ByteView(UnsafeBufferPointer(rebasing: bytes[path]))
                if resolver.lookUp(view, bytesAfter: 16, in: table) != nil { found += 1 }
            }
        }
        precondition(found > 0)
        return time
    }

    /// Returns the range of the path in a record's link.
    private func pathRange(_ span: Range<Int>) -> Range<Int> {
        let bytes = workload.bytes
        let needle = Array("://".utf8)
        var start = span.lowerBound
        while start + 3 < span.upperBound, bytes[start] != needle[0] || bytes[start + 1] != needle[1] { start += 1 }
        start += 3
        while start < span.upperBound, bytes[start] != UInt8(ascii: "/"), bytes[start] != UInt8(ascii: "\"") {
            start += 1
        }
        var end = start
        while end < span.upperBound, bytes[end] != UInt8(ascii: "?"), bytes[end] != UInt8(ascii: "\"") { end += 1 }
        return start..<end
    }

    /// Prints the nanoseconds per record of each pass.
    func printPasses(_ passes: Int) {
        let times = (0..<passes).map { _ in wholePass() }
        for time in times { print("ns/record", time) }
        print("best", times.min() ?? .nan)
    }

    /// Prints the key, a tab, and the decision of every record.
    func printDecisions() {
        var decider = Decider(configuration)
        var arena = OutputArena()
        var decisions: [ProducedDecision] = []
        workload.bytes.withUnsafeBufferPointer { bytes in
            for index in 0..<workload.count {
                workload.keys[index].withUnsafeBufferPointer { key in
                    let record = ConsumedRecord(
                        topic: 0, partition: 0, offset: Int64(index), timestamp: 0, key: ByteView(key),
                        value: value(index, bytes), index: 0, hasHeaders: false)
                    let cause = decider.decide(
                        record, topicName: ByteView("links"), into: &arena, decisions: &decisions)
                    if let cause { FileHandle.standardError.write(Data("\(index): \(cause)\n".utf8)) }
                }
                for decision in decisions { print(decision.key.string + "\t" + decision.value.string) }
                decisions.removeAll(keepingCapacity: true)
                arena.reset()
            }
        }
    }
}
