@testable import DispatchWorker
@testable import KafkaClient
import ByteStorage
import LinkCoordinator
@testable import LinkDecider
import LinkIngest

/// A processor that copies values into decisions instead of resolving links.
///
/// A decision consists of the record's position, a space, and the record's value. The key is unchanged.
///
/// The beginning of a value can request more: `bad` becomes a dead letter, `fan N` makes N decisions for different
/// devices, `huge N` makes a decision with N more bytes, and `slow N` takes N ms. The simulated broker refuses
/// decisions whose values end with `poison` or `cursed`.
struct EchoProcessing: RecordProcessing, ~Copyable {
    /// The decisions of the open transaction and of all committed ones, counted as those of a candidate.
    private var open: UInt64 = 0
    private var total: UInt64 = 0
    private var last: UInt64 = 0

    mutating func withdraw() { open -= last }

    mutating func ended(isCommitted: Bool) -> CanaryTotals? {
        if isCommitted { total += open }
        open = 0
        var totals = CanaryTotals(table: "echo", base: "echo", percent: 0, compare: 0)
        totals.decided = total
        return totals
    }

    /// Advances the time for `slow N`, only in a simulation.
    var delay: (Int) -> Void = { _ in }

    /// The number of output topics, to which the last byte of the key assigns a decision.
    var outputs: UInt8 = 1

    init() {}

    /// Creates a processor whose slow records call `delay`.
    init(outputs: UInt8, delay: @escaping (Int) -> Void) {
        self.outputs = outputs
        self.delay = delay
    }

    mutating func process(
        _ record: ConsumedRecord, headers: [HeaderView], topicName: ByteView, into arena: inout OutputArena,
        decisions: inout [ProducedDecision]
    ) -> DeadLetterCause? {
        let before = decisions.count
        defer {
            last = UInt64(decisions.count - before)
            open += last
        }
        guard let value = record.value else { return DeadLetterCause(reason: .nullValue, detail: "there is no value") }
        if value.isEmpty { return DeadLetterCause(reason: .emptyValue, detail: "the value is empty") }
        if value.count > Limits().recordBytes { return DeadLetterCause(reason: .oversizeInput, detail: "too large") }
        guard let key = record.key else { return DeadLetterCause(reason: .missingDevice, detail: "there is no key") }
        if value.hasPrefix(ByteView("bad")) {
            return DeadLetterCause(reason: .badJSON, detail: "expected an object or a link", pointer: "/link")
        }
        if value.hasPrefix(ByteView("fan ")) {
            for index in 0..<(Int(value.dropFirst(4).string) ?? 0) {
                arena.begin()
                arena.append(key)
                arena.append(byte: UInt8(ascii: "/"))
                arena.append(decimal: Int64(index))
                let device = arena.finish()
                decisions.append(decision(record, topicName, device, value, 0, &arena))
            }
            return nil
        }
        if value.hasPrefix(ByteView("slow ")) { delay(Int(value.dropFirst(5).string) ?? 0) }
        let padding = value.hasPrefix(ByteView("huge ")) ? Int(value.dropFirst(5).string) ?? 0 : 0
        decisions.append(decision(record, topicName, key, value, padding, &arena))
        return nil
    }

    private func decision(
        _ record: ConsumedRecord, _ topic: ByteView, _ key: ByteView, _ value: ByteView, _ padding: Int,
        _ arena: inout OutputArena
    ) -> ProducedDecision {
        arena.begin()
        arena.append(topic)
        arena.append(byte: UInt8(ascii: "-"))
        arena.append(decimal: Int64(record.partition))
        arena.append(byte: UInt8(ascii: "-"))
        arena.append(decimal: record.offset)
        arena.append(byte: UInt8(ascii: " "))
        arena.append(value)
        for _ in 0..<padding { arena.append(byte: UInt8(ascii: "x")) }
        return ProducedDecision(
            key: key, value: arena.finish(), outcome: .navigate, output: key.isEmpty ? 0 : key[key.count - 1] % outputs)
    }
}
