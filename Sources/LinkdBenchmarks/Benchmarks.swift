internal import DispatchWorker
internal import Foundation
internal import KafkaClient
internal import LinkCoordinator
internal import StrictJSON

/// The benchmark program: what is measured, and against what, is said in its help.
enum Benchmarks {
    static func run(_ arguments: [String]) -> Int32 {
        do {
            switch arguments.first {
            case "resolve": try resolve(arguments[1], table: arguments[2])
            case "cpu": try cpu(arguments[1], table: arguments[2])
            default: return 64
            }
            return 0
        } catch {
            FileHandle.standardError.write(Data("LinkdBenchmarks: \(error)\n".utf8))
            return 1
        }
    }

    static func load(_ path: String) throws -> TableSet {
        TableSet([try Table.load([UInt8](try Data(contentsOf: URL(filePath: path))))])
    }

    /// Prints key, tab and decision of every record, for the workload's checker.
    static func resolve(_ path: String, table: String) throws {
        let work = try Workload(path: path)
        var processor = RecordProcessor(tables: try load(table))
        var arena = OutputArena()
        var decisions: [ProducedDecision] = []
        for index in 0..<work.count {
            work.values[index].withUnsafeBufferPointer { value in
                work.keys[index].withUnsafeBufferPointer { key in
                    let record = ConsumedRecord(
                        topic: 0, partition: 0, offset: Int64(index), timestamp: 0, key: ByteView(key),
                        value: ByteView(value), index: 0, hasHeaders: false)
                    if let cause = processor.process(
                        record, topicName: ByteView("links"), into: &arena, decisions: &decisions)
                    {
                        FileHandle.standardError.write(Data("\(cause)\n".utf8))
                    }
                    for decision in decisions { print(decision.key.string + "\t" + decision.value.string) }
                }
            }
            decisions.removeAll(keepingCapacity: true)
            arena.reset()
        }
    }

    static func cpu(_ path: String, table: String) throws {
        let work = try Workload(path: path)
        var processor = RecordProcessor(tables: try load(table))
        var arena = OutputArena(chunkBytes: 4 << 20)
        var decisions: [ProducedDecision] = []
        var all: [UInt8] = []
        var spans: [(Int, Int)] = []
        for value in work.values {
            spans.append((all.count, value.count))
            all += value
        }
        let clock = ContinuousClock()
        var best = Double.infinity
        all.withUnsafeBufferPointer { bytes in
            for _ in 0..<15 {
                let time = clock.measure {
                    for index in 0..<spans.count {
                        let (start, count) = spans[index]
                        let value = ByteView(start: bytes.baseAddress.unsafelyUnwrapped + start, count: count)
                        let record = ConsumedRecord(
                            topic: 0, partition: 0, offset: Int64(index), timestamp: 0, key: nil, value: value,
                            index: 0, hasHeaders: false)
                        _ = processor.process(
                            record, topicName: ByteView("links"), into: &arena, decisions: &decisions)
                        if decisions.count > 900 {
                            decisions.removeAll(keepingCapacity: true)
                            arena.reset()
                        }
                    }
                }
                let ns = Double(time.components.attoseconds) / 1e9 + Double(time.components.seconds) * 1e9
                best = min(best, ns / Double(spans.count))
                print("ns/record", ns / Double(spans.count))
            }
        }
        print("best", best)
    }
}
