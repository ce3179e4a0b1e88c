internal import ByteStorage
internal import KafkaClient
internal import ShortLinks
internal import StrictJSON

/// The decisions that a recall has chosen: the last one of each device.
///
/// It keeps no decision's bytes but a hash of 128 bits, and knows a device by a hash of 64 bits. The hashes have a key
/// that is random for each process, so nobody can choose bytes with equal ones. A device needs at most 300 bytes, and
/// its key, id, facts, and notes about short links. A device whose first matching decision is a correction needs
/// another 100 bytes, and 40 for each of its decisions before its last one is known. Two devices with one hash would be
/// left alone.
final class RecallPlan {
    /// A chosen decision, whose members are ordered so that none needs padding.
    struct Choice {
        /// The index of the event's topic in `inputs`.
        var input: UInt16
        var place: DecisionPlace
        var correction: UInt16
        /// The state.
        var state = State.chosen
        /// The index of the decision's topic in the topics of decisions.
        var output: UInt8
        var partition: Int32
        /// The partition of the decision's record.
        var outputPartition: Int32
        var offset: Int64
        /// The timestamp of the decision's record, in milliseconds since 1970.
        var time: Int64
        /// The size of `facts` in bytes, or -1 if the decision has none.
        var factsCount: Int32
        /// The size of the notes after the facts in bytes, or 0 if none of them is about a short link.
        var notesCount: Int32 = 0
        /// The size of the device's id in bytes, or -1 if the decision has a user.
        var deviceCount: Int32
        /// The size of the record's key in bytes.
        var keyCount: Int32
        /// The start of the key, the device's id, and the facts in `bytes`.
        var start: Int32
        /// The size of their place in `bytes`, which the next decision of the device takes if it fits.
        var room: Int32
        /// The hash of the decision.
        var digest: RecallDigest
        /// The hash of the last decision that a consumer has applied for the device.
        var last: UInt64
    }

    /// The state of a chosen decision.
    enum State: UInt8, CaseIterable {
        /// Not examined, or its event's record was not found.
        case chosen
        /// The new table decides the same.
        case same
        /// It is corrected.
        case changed
        /// It is corrected by this run, or by an earlier one.
        case corrected
        /// The device has a later decision.
        case later
        /// The device has decisions in several partitions, whose order is not known.
        case scattered
        /// The event has expired by now.
        case expired
        /// The new table makes no decision for the event.
        case refused
        /// The correction is larger than a topic allows.
        case large
        /// Another version of linkd was in use, and this one does not make the same decision.
        case version
        /// No configuration with the table is known.
        case unarchived
        /// The known configurations do not make the same decision.
        case different
        /// The event's topic is not an input of the settings.
        case foreign
        /// The id of the decision has the last number of a correction.
        case exhausted

        /// The name in JSON.
        var name: String {
            switch self {
            case .chosen: "record_gone"
            case .large: "too_large"
            case .scattered: "several_partitions"
            case .unarchived: "not_archived"
            case .foreign: "foreign_topic"
            case .exhausted: "no_number_left"
            default: "\(self)"
            }
        }

        /// A Boolean value that indicates whether a wrong decision can remain the last one of its device.
        var canRemainWrong: Bool {
            switch self {
            case .same, .changed, .corrected, .later, .expired: false
            case .chosen, .scattered, .refused, .large, .version, .unarchived, .different, .foreign, .exhausted: true
            }
        }

        /// The words for people, after a number of decisions.
        var text: String {
            switch self {
            case .chosen: "not reproducible: the record of the event no longer exists"
            case .same: "decided the same by the new table"
            case .changed: "to correct"
            case .corrected: "corrected"
            case .later: "left alone: the device has a later decision"
            case .scattered: "left alone: the device has decisions in several partitions, whose order is not known"
            case .expired: "left alone: the event has expired by now"
            case .refused: "left alone: the event would become a dead letter"
            case .large: "left alone: the correction is larger than `max.message.bytes` of its topic"
            case .version: "not reproducible: another version of linkd was in use, and this one decides differently"
            case .unarchived: "not reproducible: no configuration with this table is in the archive"
            case .different: "not reproducible: no known configuration gives the same bytes"
            case .foreign: "not reproducible: the event is not in an input topic of the settings (--input)"
            case .exhausted: "left alone: the decision has the last number of a correction"
            }
        }
    }

    /// The limit of the bytes of keys, ids, and facts.
    private static let maxBytes = 1 << 30

    private let filter: RecordFilter
    /// The last characters of the table's name in decisions, such as `+d1ec0520`.
    private let suffix: [UInt8]
    /// The same of the new table.
    private let replacement: [UInt8]
    private let application: String?
    private let limit: Int
    private let known: Set<String>
    private let outputs: [String]
    private let partitionCounts: [Int32]
    private(set) var inputs: [String] = []
    private var inputIndices: [String: UInt16] = [:]
    /// The chosen decisions, ordered by their events after `finish`.
    private(set) var choices: [Choice] = []
    private(set) var bytes: [UInt8] = []
    /// The indices of the chosen decisions by the hashes of their devices.
    private var devices: [UInt64: Int32] = [:]
    /// The names of the table in the decisions.
    private(set) var identities: Set<String> = []
    /// The number of decisions that match.
    private(set) var matching: Int64 = 0
    /// The number of matching decisions that another matching one of the device follows.
    private(set) var replaced: Int64 = 0
    /// The number of matching decisions beyond the limit.
    private(set) var beyondLimit: Int64 = 0
    private var isFinished = false
    /// A Boolean value that indicates whether a record was not in the partition that its key has now.
    ///
    /// A topic has got more partitions then, so a device can have decisions in several.
    private(set) var hasMoved = false
    /// The devices whose first matching decision is a correction, which a consumer may have ignored.
    private var watched: Set<UInt64> = []
    /// The decisions that a consumer has applied last, by watched device and partition.
    private var applied: [UInt64: Applied] = [:]
    /// The decisions of watched devices that were seen while the last one was not known.
    private var seen: Set<UInt64> = []
    /// The number of decisions in `seen`, without the decisions of the new table, which earlier calls have published.
    private var seenCount = 0
    /// The first offsets of the decisions to choose from, by topic and partition, while all are read once more.
    private var starts: [[Int64]] = []
    /// The topics with decisions that correct no other.
    private var hasOriginals: [Bool]
    /// The topics in which a null record of a watched device was read before any such decision.
    private var hasEarlyErasures: [Bool]
    private var isSecondTime = false
    /// A Boolean value that indicates whether the decisions must be read once more, from the first one on.
    ///
    /// The answer must not depend on which partition is read first. So a third time is needed if a null record was
    /// read before it was known that its topic has decisions that correct no other.
    var mustBeginAgain: Bool {
        !watched.isEmpty && (!isSecondTime || zip(hasOriginals, hasEarlyErasures).contains { $0 && $1 })
    }
    /// The limit of watched devices, unless more can be chosen.
    private static let maxWatched = 1_000_000
    /// The limit of `seenCount`.
    private let maxSeen: Int

    /// The decision that a consumer has applied last for a device in a partition.
    private struct Applied {
        /// The hash of the decision, or 0 after an erasure.
        var last: UInt64 = 0
        /// A Boolean value that indicates whether no other decision can be the last one.
        ///
        /// In a topic of corrections only, and where the other decisions were removed, it is false.
        var isKnown = false
    }

    /// Creates an empty plan.
    ///
    /// - Parameters:
    ///   - filter: The filter of decisions.
    ///   - hash: The first 8 digits of the table's SHA-256.
    ///   - replacement: The first 8 digits of the new table's SHA-256.
    ///   - inputs: The inputs of the settings.
    ///   - outputs: The topics of decisions. The last decision of a device counts in each topic.
    ///   - partitionCounts: Their numbers of partitions.
    ///   - limit: The limit of devices.
    ///   - maxSeen: The limit of corrections whose devices have no earlier decision.
    init(
        _ filter: RecordFilter, hash: String, replacement: String, application: String?, inputs: [String],
        outputs: [String],
        partitionCounts: [Int32], limit: Int, maxSeen: Int = 4_000_000
    ) {
        self.filter = filter
        suffix = Array("+\(hash)".utf8)
        self.replacement = Array("+\(replacement)".utf8)
        hasOriginals = outputs.map { _ in false }
        hasEarlyErasures = hasOriginals
        self.application = application
        self.limit = limit
        known = Set(inputs)
        self.outputs = outputs
        self.partitionCounts = partitionCounts
        self.maxSeen = maxSeen
    }

    /// Looks at a decision, which is the next one of its partition.
    func see(_ record: ScannedRecord, _ decision: inout DecisionTape) throws(CommandFailure) {
        guard let key = record.key else { return }
        let output = output(record.topic)
        // Earlier decisions only tell which corrections a consumer has ignored.
        let isEarlier =
            isSecondTime && !isFinished && record.offset < starts[Int(output)][Int(record.partition)]
        if !hasMoved, !isEarlier {
            hasMoved = Murmur2.partition(of: key, among: partitionCounts[Int(output)]) != record.partition
        }
        guard let value = record.value else { return erase(key, output, record.partition, isEarlier) }
        decision.begin(value)
        if !hasOriginals[Int(output)] {
            hasOriginals[Int(output)] = decision.member("supersedes") < 0 && decision.member("decision") >= 0
        }
        let isUser = decision.member("user") >= 0
        let device = Self.hash(key, Self.kind(isUser: isUser, in: output))
        let found = devices[device]
        // A decision that is made after the choice is never chosen.
        let isMatch = !isFinished && !isEarlier && matches(record, &decision)
        guard isMatch || found != nil || watched.contains(device), let id = decision.string("decision") else { return }
        let superseded = decision.string("supersedes").map { Self.hash($0, 2) }
        let isOwn = isMade(decision.string("table"), by: replacement)
        if try isIgnored(id, superseded, device, record.partition, isMatch, isOwn) || isEarlier { return }
        if let found {
            let index = Int(found)
            if choices[index].isOpen {
                let isCorrected = superseded == Self.hash(idText(choices[index]), 2)
                choices[index].state = isCorrected ? .corrected : .later
            }
            // Decisions in different partitions have no order.
            if record.partition != choices[index].outputPartition { choices[index].state = .scattered }
            choices[index].last = Self.hash(id, 2)
        }
        guard isMatch else { return }
        matching += 1
        guard found != nil || choices.count < limit else {
            beyondLimit += 1
            return
        }
        guard let parsed = DecisionID(id.string), var choice = try choice(record, &decision, parsed) else { return }
        choice.last = Self.hash(id, 2)
        if let found {
            let earlier = choices[Int(found)]
            if earlier.state == .scattered || earlier.outputPartition != choice.outputPartition {
                choice.state = .scattered
            }
            move(&choice, into: choices[Int(found)])
            choices[Int(found)] = choice
            replaced += 1
        } else {
            devices[device] = Int32(choices.count)
            choices.append(choice)
        }
    }

    /// Leaves a device or user alone, whose decisions a null record has erased.
    private func erase(_ key: ByteView, _ output: UInt8, _ partition: Int32, _ isEarlier: Bool) {
        for isUser in [false, true] {
            let device = Self.hash(key, Self.kind(isUser: isUser, in: output))
            if isSecondTime, watched.contains(device) {
                // A device in a topic of corrections only can have decided again elsewhere.
                let isKnown = applied[Self.key(device, partition)]?.isKnown == true
                if !isKnown, !hasOriginals[Int(output)] { hasEarlyErasures[Int(output)] = true }
                applied[Self.key(device, partition)] = Applied(last: 0, isKnown: isKnown || hasOriginals[Int(output)])
            }
            guard !isEarlier, let found = devices[device] else { continue }
            let index = Int(found)
            // Decisions in different partitions have no order.
            let isElsewhere = partition != choices[index].outputPartition
            if choices[index].isOpen { choices[index].state = isElsewhere ? .scattered : .later }
            if !isElsewhere { choices[index].last = 0 }
        }
    }

    /// Returns a Boolean value that indicates whether a consumer has ignored a decision, because it is a correction of
    /// another decision than the last one of the device.
    ///
    /// Only decisions in one partition have an order. In a topic of corrections only, and where the other decisions
    /// were removed, the superseded decision can be one that was not seen. The correction was applied then, because it
    /// was the correction of the last decision when it was published.
    private func isIgnored(
        _ id: ByteView, _ superseded: UInt64?, _ device: UInt64, _ partition: Int32, _ isMatch: Bool, _ isOwn: Bool
    ) throws(CommandFailure) -> Bool {
        guard isSecondTime, watched.contains(device) else {
            if let found = devices[device] { return superseded.map { $0 != choices[Int(found)].last } ?? false }
            if isMatch, superseded != nil, !isSecondTime {
                watched.insert(device)
                let most = max(limit, Self.maxWatched)
                guard watched.count <= most else { throw Self.tooMany("\(most) devices with corrections") }
            }
            return false
        }
        let key = Self.key(device, partition)
        var state = applied[key] ?? Applied()
        let own = Self.hash(id, 2)
        if superseded == nil { state.isKnown = true }
        let isSeen = superseded.map { seen.contains(key ^ $0) } ?? false
        if !state.isKnown {
            if seen.insert(key ^ own).inserted, !isOwn { seenCount += 1 }
            guard seenCount <= maxSeen, seen.count - seenCount <= max(limit, maxSeen) else {
                throw Self.tooMany("\(maxSeen) corrections")
            }
        }
        if let superseded, superseded != state.last, state.isKnown || isSeen { return true }
        state.last = own
        applied[key] = state
        return false
    }

    /// Returns the failure of a recall of too many corrections, which a consumer may have ignored.
    private static func tooMany(_ what: String) -> CommandFailure {
        CommandFailure(
            .badData, "more than \(what) would have to be compared with the decisions before them",
            advice: "choose fewer with --since, --until, --route, or --application")
    }

    /// Returns the key of a device in a partition.
    private static func key(_ device: UInt64, _ partition: Int32) -> UInt64 {
        device ^ UInt64(UInt32(bitPattern: partition) &+ 1) &* 0x9E37_79B9_7F4A_7C15
    }

    /// Forgets the decisions, before all of them are seen once more.
    ///
    /// - Parameter spans: The decisions to choose from.
    func beginAgain(_ spans: ScanPlan) {
        isSecondTime = true
        starts = zip(outputs, partitionCounts).map { topic, count in
            (0..<count).map { spans.partitions[TopicPartition(topic: topic, partition: $0)]?.from ?? .max }
        }
        (devices, choices, bytes) = ([:], [], [])
        (matching, replaced, beyondLimit) = (0, 0, 0)
        (applied, seen, seenCount) = ([:], [], 0)
        hasEarlyErasures = outputs.map { _ in false }
    }

    /// Leaves the device or user of a record alone if its chosen decision is in another partition.
    ///
    /// Decisions in several partitions have no order, and a topic can have got more partitions several times.
    /// `see` has forgotten the decisions before the first one of a device that matches.
    func seeAgain(_ record: ScannedRecord, _ decision: inout DecisionTape) {
        guard let key = record.key else { return }
        var kinds = [false, true]
        if let value = record.value {
            decision.begin(value)
            kinds = [decision.member("user") >= 0]
        }
        for isUser in kinds {
            guard let found = devices[Self.hash(key, Self.kind(isUser: isUser, in: output(record.topic)))],
                choices[Int(found)].outputPartition != record.partition
            else { continue }
            choices[Int(found)].state = .scattered
        }
    }

    /// Moves the bytes of the decision read last to the place of an earlier decision of its device, if they fit.
    private func move(_ choice: inout Choice, into earlier: Choice) {
        guard choice.room <= earlier.room else { return }
        bytes.withUnsafeMutableBytes { all in
            let new = UnsafeRawBufferPointer(rebasing: all[Int(choice.start)..<Int(choice.start + choice.room)])
            UnsafeMutableRawBufferPointer(rebasing: all[Int(earlier.start)...]).copyMemory(from: new)
        }
        bytes.removeLast(Int(choice.room))
        (choice.start, choice.room) = (earlier.start, earlier.room)
    }

    private func matches(_ record: ScannedRecord, _ decision: inout DecisionTape) -> Bool {
        guard isMade(decision.string("table"), by: suffix) else { return false }
        if let application, decision.application?.string != application { return false }
        return filter.matches(record, &decision)
    }

    /// Returns a Boolean value that indicates whether the name of a table has the last characters of another's name.
    private func isMade(_ table: ByteView?, by suffix: [UInt8]) -> Bool {
        table.map { $0.buffer.reversed().starts(with: suffix.reversed()) } ?? false
    }

    private func choice(
        _ record: ScannedRecord, _ decision: inout DecisionTape, _ id: DecisionID
    ) throws(CommandFailure) -> Choice? {
        guard let key = record.key, let value = record.value, let input = input(id.topic) else { return nil }
        if identities.count < 16, let table = decision.string("table") { identities.insert(table.string) }
        let start = bytes.count
        bytes.append(contentsOf: key.buffer)
        let device = decision.string("device")
        if let device { bytes.append(contentsOf: device.buffer) }
        let facts = decision.member("facts")
        var factsCount: Int32 = -1
        if facts >= 0 {
            let before = bytes.count
            decision.withText(of: facts) { bytes.append(contentsOf: $0.buffer) }
            factsCount = Int32(clamping: bytes.count - before)
        }
        let notesCount = appendShortLinks(&decision)
        guard bytes.count <= Self.maxBytes else {
            throw CommandFailure(
                .badData, "the devices and facts of the chosen decisions need more than \(Self.maxBytes >> 30) GiB",
                advice: "choose fewer with --since, --until, --route, or --application")
        }
        return Choice(
            input: input, place: id.place, correction: UInt16(id.correction),
            state: known.contains(id.topic) ? .chosen : .foreign, output: output(record.topic),
            partition: id.partition, outputPartition: record.partition, offset: id.offset, time: record.timestamp,
            factsCount: factsCount, notesCount: notesCount,
            deviceCount: device.map { Int32(clamping: $0.count) } ?? -1, keyCount: Int32(clamping: key.count),
            start: Int32(start), room: Int32(bytes.count - start), digest: RecallDigest(value), last: 0)
    }

    /// Returns the index of a topic of decisions.
    private func output(_ topic: String) -> UInt8 {
        outputs.count > 1 ? UInt8(clamping: outputs.firstIndex(of: topic) ?? 0) : 0
    }

    /// Returns the kind of the hash of a device or a user in a topic.
    private static func kind(isUser: Bool, in output: UInt8) -> UInt8 {
        (output == 0 ? 0 : 4 + 2 * output) + (isUser ? 1 : 0)
    }

    /// Stores the notes of a decision if one of them is about a short link, and returns their size.
    private func appendShortLinks(_ decision: inout DecisionTape) -> Int32 {
        let notes = decision.member("notes")
        var (note, end) = decision.range(of: notes, .array)
        while note < end, decision.string(note)?.hasPrefix(ByteView(ShortLinkFile.noteCode)) != true {
            note = decision.next(after: note)
        }
        guard note < end else { return 0 }
        let before = bytes.count
        decision.withText(of: notes) { bytes.append(contentsOf: $0.buffer) }
        return Int32(clamping: bytes.count - before)
    }

    private func input(_ topic: String) -> UInt16? {
        if let known = inputIndices[topic] { return known }
        guard let index = UInt16(exactly: inputs.count) else { return nil }
        inputs.append(topic)
        inputIndices[topic] = index
        return index
    }

    /// Orders the decisions by their events, after all were seen.
    func finish() {
        isFinished = true
        let order = (0..<Int32(choices.count)).sorted { Self.isBefore(choices[Int($0)], choices[Int($1)]) }
        var places = [Int32](repeating: 0, count: order.count)
        for (new, old) in order.enumerated() { places[Int(old)] = Int32(new) }
        devices = devices.mapValues { places[Int($0)] }
        // A second array would need as much memory again.
        for index in choices.indices {
            while places[index] != Int32(index) {
                let place = Int(places[index])
                choices.swapAt(index, place)
                places.swapAt(index, place)
            }
        }
    }

    private static func isBefore(_ a: Choice, _ b: Choice) -> Bool {
        (a.input, a.partition, a.offset, a.place, a.correction)
            < (b.input, b.partition, b.offset, b.place, b.correction)
    }

    private static func hash(_ bytes: ByteView, _ kind: UInt8) -> UInt64 { RecallDigest.hash(bytes, kind) }

    private static func hash(_ text: String, _ kind: UInt8) -> UInt64 {
        var text = text
        return text.withUTF8 { hash(ByteView($0), kind) }
    }
}

extension RecallPlan.Choice {
    /// A Boolean value that indicates whether a later decision of the device still matters.
    var isOpen: Bool { state != .corrected && state != .later && state != .scattered }
}

// The chosen decisions after the choice.
extension RecallPlan {
    /// Returns the id of a decision.
    func id(_ choice: Choice) -> DecisionID? { DecisionID(idText(choice)) }

    /// Returns the text of the id of a decision.
    func idText(_ choice: Choice) -> String {
        "\(inputs[Int(choice.input)])-\(choice.partition)-\(choice.offset)\(choice.place)"
            + (choice.correction > 0 ? "~\(choice.correction)" : "")
    }

    /// Returns the key of a decision's record.
    func key(_ choice: Choice) -> [UInt8] { Array(bytes[Int(choice.start)...].prefix(Int(choice.keyCount))) }

    /// Returns the device of a decision with its facts.
    func device(_ choice: Choice) -> (id: [UInt8]?, facts: [UInt8]?) {
        let start = Int(choice.start) + Int(choice.keyCount)
        let end = start + max(0, Int(choice.deviceCount))
        return (
            choice.deviceCount < 0 ? nil : Array(bytes[start..<end]),
            choice.factsCount < 0 ? nil : Array(bytes[end..<end + Int(choice.factsCount)])
        )
    }

    /// Returns the short links of a decision, or nil if it has none.
    func shortLinks(_ choice: Choice) -> ShortLinkFile? {
        guard choice.notesCount > 0 else { return nil }
        let start =
            Int(choice.start) + Int(choice.keyCount) + max(0, Int(choice.deviceCount))
            + max(0, Int(choice.factsCount))
        let notes = try? JSONValue.parse(Array(bytes[start..<start + Int(choice.notesCount)]))
        return .decided(notes)
    }

    /// Returns the indices of the decisions of an event's record.
    func indices(of record: ScannedRecord) -> Range<Int> {
        guard let input = inputIndices[record.topic] else { return 0..<0 }
        return indices(input, record.partition, record.offset)
    }

    private func indices(_ input: UInt16, _ partition: Int32, _ offset: Int64) -> Range<Int> {
        let first = choices.partitioningIndex { ($0.input, $0.partition, $0.offset) >= (input, partition, offset) }
        var end = first
        while end < choices.count, choices[end].input == input, choices[end].partition == partition,
            choices[end].offset == offset
        {
            end += 1
        }
        return first..<end
    }

    /// The number of decisions in a state.
    func count(_ state: State) -> Int { choices.count { $0.state == state } }

    /// Sets the state of a decision.
    func set(_ state: State, at index: Int) { choices[index].state = state }

    /// Marks a decision that the ledger has.
    func markCorrected(_ id: DecisionID, decidedAt time: Int64) {
        guard let input = inputIndices[id.topic] else { return }
        for index in indices(input, id.partition, id.offset) {
            let choice = choices[index]
            guard choice.isOpen, choice.place == id.place, Int(choice.correction) == id.correction,
                choice.time == time
            else { continue }
            choices[index].state = .corrected
        }
    }

    /// Returns the ranges of the events of decisions in a state.
    func remaining(_ state: State) -> ScanPlan {
        var plan = ScanPlan()
        for choice in choices where choice.state == state {
            let partition = TopicPartition(topic: inputs[Int(choice.input)], partition: choice.partition)
            let from = plan.partitions[partition]?.from ?? choice.offset
            // Whoever writes a decision can write any offset.
            plan.partitions[partition] = ScanPlan.Span(from: from, to: min(choice.offset, .max - 1) + 1)
        }
        return plan
    }
}

/// A hash of a decision's bytes, which is comparable within one process.
struct RecallDigest: Equatable {
    private var first: UInt64
    private var second: UInt64

    /// Creates the hash of bytes.
    init(_ bytes: ByteView) {
        first = Self.hash(bytes, 3)
        second = Self.hash(bytes, 4)
    }

    /// Returns half a hash, which differs for each kind.
    static func hash(_ bytes: ByteView, _ kind: UInt8) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(kind)
        hasher.combine(bytes: UnsafeRawBufferPointer(bytes.buffer))
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}
