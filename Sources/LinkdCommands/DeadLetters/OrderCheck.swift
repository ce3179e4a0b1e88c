internal import ByteStorage
internal import RouteTools

/// A check for devices with decisions that are later than their dead letters.
///
/// A replayed event is decided after them, so it can put a device back to an older state. A decision is later if its
/// event comes from the same partition and has a larger offset, or is a later item of the same record. For other
/// partitions, it is later if it was made after the failure.
struct OrderCheck {
    /// The limit of devices, beyond which devices are not checked.
    static let limit = 1_000_000

    /// The result of the check.
    struct Result: Equatable {
        /// The number of devices of the chosen dead letters.
        var devices: Int
        /// The number of devices with later decisions.
        var later: Int
        /// The first device that was found with a later decision, or nil.
        var example: Example?
        /// A Boolean value that indicates whether there are more devices than the limit.
        var isPartial = false
        /// The number of chosen dead letters whose devices are unknown.
        var unknown = 0

        /// The warning about them, or nil if there are none.
        var doubt: String? {
            guard unknown > 0 else { return nil }
            return "The devices of \(Counts.text(unknown, "dead letter")) are unknown, so their order was not checked."
        }

        /// The warning, or nil if there are no later decisions.
        var warning: String? {
            guard later > 0, let example else { return nil }
            let count = isPartial ? "at least \(Counts.grouped(Int64(later)))" : Counts.grouped(Int64(later))
            return "\(count) of \(Counts.grouped(Int64(devices))) devices have decisions that are later than their "
                + "dead letters, for example \(example.text). Replayed decisions will come after them."
        }
    }

    /// A device with a later decision.
    struct Example: Equatable {
        /// The id of the device, without terminal control.
        var device: String
        /// The position of the decision's record.
        var record: String
        /// The id of the decision.
        var decision: String

        /// The text in messages.
        var text: String { "\(device): \(record) (\(decision))" }
    }

    /// The dead letters of a device from one partition of the input.
    private struct Source {
        var partition: Int32
        var offset: Int64
        /// The index of the item, or 0.
        var item: Int
        var failedAt: Int64
    }

    private let input: String
    private var devices: [[UInt8]: [Source]] = [:]
    private var later: Set<[UInt8]> = []
    private var example: Example?
    private var isPartial = false
    private var unknown = 0
    /// The least time of a failure in milliseconds since 1970, or nil if no device is checked.
    private(set) var firstFailure: Int64?

    /// Creates a check for dead letters of an input.
    init(input: String) { self.input = input }

    /// Adds a chosen dead letter with its key and the devices that its event lists.
    mutating func add(_ head: DeadLetterHead, _ key: ByteView?, _ event: inout DecisionTape) {
        let ids = event.devices(limit: 500)
        if ids.isEmpty, key == nil || !event.isKeyed { unknown += 1 }
        add(head, [key].compactMap(\.self) + ids)
    }

    /// Adds a chosen dead letter with its devices.
    mutating func add(_ head: DeadLetterHead, _ ids: [ByteView]) {
        guard let partition = head.sourcePartition, let offset = head.sourceOffset else { return }
        for id in ids {
            add(id.array, Source(partition: partition, offset: offset, item: head.item ?? 0, failedAt: head.failedAt))
        }
    }

    private mutating func add(_ id: [UInt8], _ source: Source) {
        guard devices.count < Self.limit || devices[id] != nil else {
            isPartial = true
            return
        }
        firstFailure = min(firstFailure ?? .max, source.failedAt)
        if let index = devices[id]?.firstIndex(where: { $0.partition == source.partition }) {
            let known = devices[id]?[index] ?? source
            if (source.offset, source.item) < (known.offset, known.item) {
                devices[id]?[index].offset = source.offset
                devices[id]?[index].item = source.item
            }
            devices[id]?[index].failedAt = min(known.failedAt, source.failedAt)
        } else {
            devices[id, default: []].append(source)
        }
    }

    /// Checks a decision.
    ///
    /// - Parameter decision: The members of the decision.
    mutating func see(_ record: ScannedRecord, _ decision: inout DecisionTape) {
        guard let key = record.key?.array, let sources = devices[key], !later.contains(key) else { return }
        decision.begin(record.value)
        guard let text = decision.string("decision"), let id = DecisionID(text.string) else { return }
        let isLater = sources.contains { source in
            id.topic == input && id.partition == source.partition
                ? (id.offset, id.place.item ?? 0) > (source.offset, source.item) : record.timestamp > source.failedAt
        }
        guard isLater else { return }
        later.insert(key)
        example =
            example
            ?? Example(
                device: Escaping.visible(key), record: "\(record.topic)-\(record.partition)-\(record.offset)",
                decision: id.text)
    }

    /// The result so far.
    var result: Result {
        Result(devices: devices.count, later: later.count, example: example, isPartial: isPartial, unknown: unknown)
    }
}
