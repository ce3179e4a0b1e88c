package import ByteStorage
internal import LinkDecider

/// A check that each record of the inputs was decided or became a dead letter exactly once, in order.
///
/// It is a value that is fed the records of topics and does no I/O. `linkd verify` feeds it a user's topics, and the
/// exactly-once tests feed it their own. It needs three bits for each record of the inputs, 38 MB for 100,000,000,
/// 24 bytes for each pair of an input partition and an output partition, and at most `IndexWindow`s of
/// `windowLimit` events and the `ItemOutcomes` of as many records with several messages.
///
/// A worker writes the outcomes of an input partition in the order of its records, to the partition of each device.
/// The items of a record with several messages are in order too, and each of them has exactly one outcome.
/// So within one output partition the ids of one input partition ascend. That is stronger than the order of each
/// device, and needs no memory of devices, because each decision is also in the partition of its key, which is its
/// device. With several topics for decisions, each decision is in the topic of its application, and all decisions of
/// one table about events without an application are in one topic.
package struct OutcomeVerifier {
    /// The greatest offset, so that an offset and an item fit into 63 bits.
    private static let greatestOffset: Int64 = (1 << 54) - 1

    /// A partition of an input.
    package struct Source: Sendable {
        /// The topic.
        package var topic: String
        /// The partition.
        package var partition: Int32
        /// The offsets to check, which end at most at the offset that was committed before the ends of the other
        /// topics were determined.
        package var range: Range<Int64>
        /// The offset that was committed after those ends were determined, or nil for none.
        ///
        /// Outcomes exist below it only.
        package var committed: Int64?
        /// A Boolean value that indicates whether the topic is compacted, so that any record can be removed.
        package var isCompacted: Bool
        /// The offsets of the records whose outcomes must be in order, once, and committed.
        ///
        /// The outcomes of records that retention has removed, and of those that wait, are checked with the whole
        /// input. They are not if a part of it was chosen.
        package var chosen: Range<Int64>

        /// Creates a partition.
        package init(
            _ topic: String, _ partition: Int32, _ range: Range<Int64>, committed: Int64?, isCompacted: Bool = false,
            chosen: Range<Int64> = .min..<(.max)
        ) {
            (self.topic, self.partition, self.range) = (topic, partition, range)
            (self.committed, self.isCompacted, self.chosen) = (committed, isCompacted, chosen)
        }
    }

    /// The first and the last decision of an input partition in an output partition: their offsets, and the place of
    /// the last one in its record.
    private struct Cursor {
        var first = Int64.max
        var last = Int64.min
        var place = DecisionPlace(index: 0)
    }

    /// The state of an input partition: its records and outcomes that were read.
    private struct State {
        var exists: OffsetSet
        var decided: OffsetSet
        var dead: OffsetSet
        /// The records with a dead letter of another group, or nil for none.
        var deadElsewhere: OffsetSet?
        /// The items of the records with several messages.
        var items: [Int64: ItemOutcomes] = [:]
        /// The items with a dead letter of another group.
        var itemsElsewhere: [Int64: ItemOutcomes] = [:]
        /// The messages with decisions for several devices: offset times 128, plus the item after 1 or 0 without one.
        var window = IndexWindow()
        /// The offset below which the input has lost its records.
        var floor = Int64.min
        var firstDead = Int64.max
    }

    private struct Topic {
        let name: String
        let bytes: [UInt8]
        /// The number of all partitions, including partitions that are not checked.
        let partitions: Int32
        var sources: [Int32: Int] = [:]
    }

    private enum Origin {
        case source(Int)
        /// A partition that is not checked.
        case unchecked
        /// A partition that the input does not have.
        case nowhere
        /// A topic that is not checked.
        case other
    }

    private let sources: [Source]
    private var outcomes: OutcomeTopics
    private let windowLimit: Int
    private var topics: [Topic] = []
    private var states: [State]
    private var cursors: [Cursor]
    /// The number of records with several messages whose outcomes are kept.
    private var itemRecords = 0
    /// The partitions of the outputs whose last decisions are hidden by a transaction that did not end.
    private var hidden: Set<Int> = []
    private let outputCheck: OutputCheck
    private var hidesDeadLetters = false
    private var hasOffset = false
    /// The partitions without a committed offset, with their first offsets and their numbers of offsets.
    private var unread: [(place: TopicPlace, count: Int64)] = []
    /// The result so far.
    package private(set) var findings = Findings()

    /// Creates a check.
    ///
    /// - Parameters:
    ///   - sources: The partitions of the inputs to check.
    ///   - partitions: The number of partitions of each input.
    ///   - outcomes: The topics of the outcomes.
    ///   - windowLimit: The limit of events with several devices whose indexes are kept, up to 300 bytes each.
    package init(
        _ sources: [Source], partitions: [String: Int32], outcomes: OutcomeTopics, windowLimit: Int = 1_000_000
    ) {
        self.sources = sources
        self.outcomes = outcomes
        outputCheck = OutputCheck(outcomes.outputs)
        self.windowLimit = windowLimit
        states = sources.map {
            State(exists: OffsetSet($0.range), decided: OffsetSet($0.range), dead: OffsetSet($0.range))
        }
        cursors = Array(repeating: Cursor(), count: sources.count * outcomes.isWhole.count)
        for (name, count) in partitions.sorted(by: { $0.key < $1.key }) {
            var topic = Topic(name: name, bytes: Array(name.utf8), partitions: count)
            for (index, source) in sources.enumerated() where source.topic == name {
                topic.sources[source.partition] = index
            }
            topics.append(topic)
        }
    }

    // MARK: - Records

    /// Takes a record of an input.
    ///
    /// Records after the range are counted as waiting. Outcomes are taken before inputs.
    ///
    /// - Parameters:
    ///   - topic: The topic.
    ///   - partition: The partition.
    ///   - offset: The offset.
    ///   - items: The number of items if the record has several messages, or 0.
    package mutating func input(
        _ topic: String, _ partition: Int32, _ offset: Int64, items: @autoclosure () -> Int = 0
    ) {
        guard let index = topics.first(where: { $0.name == topic })?.sources[partition] else { return }
        if offset >= sources[index].range.upperBound {
            findings.waiting += 1
        } else if sources[index].range.contains(offset), states[index].exists.insert(offset) {
            findings.records += 1
            let hasItems = states[index].items[offset] != nil
            guard hasItems || states[index].itemsElsewhere[offset] != nil || states[index].decided.contains(offset)
            else { return }
            let count = items()
            // A decision without an item is no outcome of a record with several messages.
            if count > 0, !hasItems, states[index].decided.contains(offset), itemRecords < windowLimit {
                itemRecords += 1
                states[index].items[offset] = ItemOutcomes()
            }
            states[index].items[offset]?.count = count
            states[index].itemsElsewhere[offset]?.count = count
        }
    }

    /// Takes a record of an output, whose topic is an index in the outputs.
    package mutating func output(
        _ partition: Int32, _ offset: Int64, key: ByteView?, _ value: ByteView?, topic: Int = 0
    ) {
        let place = TopicPlace(outcomes.outputs.names[topic], partition, offset)
        // A null record erases the decisions of its key in a compacted topic.
        if value == nil, key != nil { return findings.erasures += 1 }
        guard let value, let id = DecisionIDView(decision: value), id.offset <= Self.greatestOffset else {
            return findings.add(.notADecision, place, "\(place) is not a decision of linkd")
        }
        let origin = origin(id.topic, id.partition)
        if case .other = origin { return findings.others += 1 }
        if id.correction > 0 { return findings.corrections += 1 }
        findings.decisions += 1
        guard let index = source(origin, id.topic, id.partition, id.offset, place) else { return }
        if sources[index].chosen.contains(id.offset) {
            outputCheck.check(value, key: key, in: topic, of: outcomes.partitionCount(of: topic), place, &findings)
        }
        let record = TopicPlace(sources[index].topic, id.partition, id.offset)
        let isNew = sources[index].range.contains(id.offset) ? take(id.place, of: record, index, place) : true
        // Such an offset can be any number, after which all others would seem to be out of order.
        if let committed = sources[index].committed, id.offset >= committed { return }
        guard let number = outcomes.number(of: topic, partition) else { return }
        order(id.place, record, index, number, place, isNew)
    }

    /// Takes a dead letter, with the position of its source from its headers.
    ///
    /// A record without a position is of another program. A group that writes its decisions elsewhere can have the same
    /// topic of dead letters. The dead letter of another group can also be of the same workers under an earlier name,
    /// so it is an outcome of a record that has no other. The dead letter of an item is an outcome of that item only. A
    /// dead letter outside of the home partition of its source is from before the topic grew, and does not tell where
    /// the home begins.
    package mutating func deadLetter(
        at place: TopicPlace, of topic: ByteView?, _ partition: Int32?, _ offset: Int64?, item: Int? = nil,
        isOfGroup: Bool = true, isHome: Bool = true
    ) {
        guard let topic, let partition, let offset else { return findings.others += 1 }
        let origin = origin(topic, partition)
        if case .other = origin { return findings.others += 1 }
        guard isOfGroup else { return deadLetterElsewhere(origin, offset, item) }
        findings.deadLetters += 1
        guard let index = source(origin, topic, partition, offset, place) else { return }
        if isHome { states[index].firstDead = min(states[index].firstDead, offset) }
        guard sources[index].range.contains(offset) else { return }
        let record = TopicPlace(sources[index].topic, partition, offset)
        if let item { return deadLetter(at: place, ofItem: item, record, index) }
        if !states[index].dead.insert(offset) {
            repeated(.doubled, place, "\(place) is another dead letter of \(record)")
        } else if states[index].decided.contains(offset) {
            contradict(place, "\(place) is a dead letter of \(record), which has a decision")
        }
    }

    private mutating func deadLetter(at place: TopicPlace, ofItem item: Int, _ record: TopicPlace, _ index: Int) {
        guard hasRoom(for: record, index, place) else { return }
        guard let isNew = states[index].items[record.offset, default: ItemOutcomes()].insert(dead: item) else {
            return findings.add(.noRecord, place, "\(place) is a dead letter of an item that \(record) cannot have")
        }
        if !isNew { repeated(.doubled, place, "\(place) is another dead letter of \(record).\(item)") }
        if states[index].items[record.offset]?.hasDecision(item) == true {
            contradict(place, "\(place) is a dead letter of \(record).\(item), which has a decision")
        }
        if states[index].dead.contains(record.offset) {
            contradict(place, "\(place) is a dead letter of an item of \(record), which is a dead letter")
        }
    }

    /// Returns a Boolean value that indicates whether the items of a record are kept.
    private mutating func hasRoom(for record: TopicPlace, _ index: Int, _ place: TopicPlace) -> Bool {
        if states[index].items[record.offset] != nil { return true }
        let isFirst = states[index].decided.insert(record.offset)
        guard itemRecords < windowLimit else {
            findings.add(.uneven, record)
            return false
        }
        if !isFirst {
            findings.add(
                .contradicted, place, "\(place) is of an item of \(record), which has a decision without an item")
        }
        itemRecords += 1
        states[index].items[record.offset] = ItemOutcomes()
        return true
    }

    private mutating func deadLetterElsewhere(_ origin: Origin, _ offset: Int64, _ item: Int?) {
        findings.others += 1
        guard case .source(let index) = origin, sources[index].range.contains(offset) else { return }
        if let item {
            let isNew = states[index].itemsElsewhere[offset] == nil
            guard !isNew || itemRecords < windowLimit else {
                return findings.add(.uneven, TopicPlace(sources[index].topic, sources[index].partition, offset))
            }
            itemRecords += isNew ? 1 : 0
            _ = states[index].itemsElsewhere[offset, default: ItemOutcomes()].insert(dead: item)
            return
        }
        if states[index].deadElsewhere == nil { states[index].deadElsewhere = OffsetSet(sources[index].range) }
        states[index].deadElsewhere?.insert(offset)
    }

    /// Notes how far committed records of a topic can be read after the wait for open transactions.
    package mutating func transactions(of topic: String, _ partition: Int32, stableEnd: Int64, end: Int64) {
        guard stableEnd < end else { return }
        if let output = outcomes.outputs.names.firstIndex(of: topic) {
            if let number = outcomes.number(of: output, partition) { hidden.insert(number) }
        } else if !topics.contains(where: { $0.name == topic }) {
            hidesDeadLetters = true
        }
        let place = TopicPlace(topic, partition, stableEnd)
        findings.add(
            .openTransaction, place,
            "\(place) is in a transaction that did not end in time, and hides it and up to "
                + "\(end - stableEnd - 1) later records from consumers with `read_committed`")
    }

    /// Notes what an input has, and compares it with the group's offsets.
    ///
    /// - Parameters:
    ///   - topic: The topic of the input.
    ///   - partition: The partition of the input.
    ///   - low: The first offset that exists.
    ///   - end: The offset after the last record.
    ///   - before: The offset that was committed before `low` and `end` were determined, or nil for none.
    ///   - after: The offset that was committed after that, or nil for none.
    package mutating func bounds(
        of topic: String, _ partition: Int32, low: Int64, end: Int64, before: Int64?, after: Int64?
    ) {
        remove(of: topic, partition, below: low)
        if after != nil {
            hasOffset = true
        } else if low < end {
            unread.append((TopicPlace(topic, partition, low), end - low))
        }
        if let after, after == low - 1 {
            // A worker that ended at once, or one of an older version, has not committed the last control record.
            findings.add(.controlRecord, TopicPlace(topic, partition, after))
        } else if let after, after < low {
            let place = TopicPlace(topic, partition, after)
            findings.add(
                .expired, place, count: low - after,
                "\(place) and the records after it up to \(low - 1) were removed before the group read them")
        }
        if let before, before > end {
            let place = TopicPlace(topic, partition, before)
            findings.add(.offsetBeyondEnd, place, "\(place) is the committed offset, and the partition ends at \(end)")
        }
    }

    /// Notes that an input does not have its records below an offset any more.
    package mutating func remove(of topic: String, _ partition: Int32, below low: Int64) {
        guard let index = topics.first(where: { $0.name == topic })?.sources[partition] else { return }
        states[index].floor = max(states[index].floor, low)
    }

    /// Notes that outcomes were removed while they were read.
    package mutating func loseOutcomes() { outcomes.isCompacted = true }

    // MARK: - Order and uniqueness

    private func origin(_ topic: ByteView, _ partition: Int32) -> Origin {
        for known in topics where known.bytes.withUnsafeBufferPointer({ ByteView($0) == topic }) {
            if let index = known.sources[partition] { return .source(index) }
            return (0..<known.partitions).contains(partition) ? .unchecked : .nowhere
        }
        return .other
    }

    /// Returns the partition of an outcome's record, or nil if it is not checked or the record cannot exist.
    private mutating func source(
        _ origin: Origin, _ topic: ByteView, _ partition: Int32, _ offset: Int64, _ place: TopicPlace
    ) -> Int? {
        guard case .source(let index) = origin else {
            if case .nowhere = origin {
                findings.add(
                    .noRecord, place,
                    "\(place) is the outcome of \(topic.string)-\(partition)-\(offset), and the input has no such "
                        + "partition")
            }
            return nil
        }
        let name = sources[index].topic
        guard let committed = sources[index].committed else {
            findings.add(.noOffset, TopicPlace(name, partition, offset))
            return index
        }
        if offset >= committed, sources[index].chosen.contains(offset) {
            repeated(
                .beyondCommit, place,
                "\(place) is the outcome of \(name)-\(partition)-\(offset), and the committed offset is \(committed)")
        }
        return index
    }

    /// Notes a place of a record in the range, and returns false if the record had it.
    private mutating func take(_ number: DecisionPlace, of record: TopicPlace, _ index: Int, _ place: TopicPlace)
        -> Bool
    {
        if states[index].dead.contains(record.offset) {
            contradict(place, "\(place) is a decision of \(record), which is a dead letter")
        }
        if let item = number.item {
            guard hasRoom(for: record, index, place) else { return true }
            if states[index].items[record.offset]?.isDead(item) == true {
                contradict(place, "\(place) is a decision of \(record).\(item), which is a dead letter")
            }
            let isNew = states[index].items[record.offset, default: ItemOutcomes()].insert(decided: item, number.index)
            if number.index == 0 { return isNew }
        } else if number.index == 0 {
            guard states[index].items[record.offset] != nil else { return states[index].decided.insert(record.offset) }
            findings.add(.contradicted, place, "\(place) is of \(record), which has outcomes of its items")
            return true
        }
        let unit = record.offset << 7 | Int64(number.item.map { $0 + 1 } ?? 0)
        guard unit >= states[index].window.closedEarlyBelow else {
            findings.add(.uneven, record)
            return true
        }
        return states[index].window.insert(unit, number.index)
    }

    private mutating func order(
        _ number: DecisionPlace, _ record: TopicPlace, _ index: Int, _ partition: Int, _ place: TopicPlace,
        _ isNew: Bool
    ) {
        let slot = index * outcomes.isWhole.count + partition
        let last = cursors[slot]
        let isLater = (record.offset, number) > (last.last, last.place)
        if !sources[index].chosen.contains(record.offset) {
            // The order of this record is not checked, but the order of later records is.
        } else if !isNew || record.offset == last.last && number == last.place {
            repeated(.doubled, place, "\(place) is another decision with the id \(record)\(number)")
        } else if !isLater {
            repeated(
                .disordered, place,
                "\(place) is the decision \(record)\(number), after the later decision "
                    + "\(record.topic)-\(record.partition)-\(last.last)\(last.place)")
        }
        cursors[slot].first = min(cursors[slot].first, record.offset)
        if isLater { (cursors[slot].last, cursors[slot].place) = (record.offset, number) }
    }

    /// Notes a harm that is none if the worker can repeat outcomes.
    private mutating func repeated(_ harm: Harm, _ place: TopicPlace, _ text: @autoclosure () -> String) {
        if outcomes.canRepeat { findings.repeats += 1 } else { findings.add(harm, place, text()) }
    }

    private mutating func contradict(_ place: TopicPlace, _ text: @autoclosure () -> String) {
        repeated(.contradicted, place, text())
    }

    // MARK: - Ends

    /// Forgets events whose decisions were all read.
    ///
    /// Call it from time to time, best when all partitions of the output were read up to nearly the same time.
    package mutating func advance() {
        let count = outcomes.isWhole.count
        for index in states.indices where states[index].window.count > 0 {
            let ends = cursors[index * count..<(index + 1) * count].map(\.last)
            // A partition can still have another index of the event at its cursor.
            let (decided, items) = (states[index].decided, states[index].items)
            states[index].window.close(below: max(ends.min() ?? 0, 0) << 7) { Self.hasFirst($0, decided, items) }
        }
        guard states.reduce(0, { $0 + $1.window.count }) > windowLimit else { return }
        for index in states.indices {
            for event in states[index].window.take(half: true) { close(event.unit, event.indexes, index) }
        }
    }

    /// Ends the check, after all records were passed, and returns the result.
    package mutating func finish() -> Findings {
        for index in states.indices {
            let certain = certain(index)
            for event in states[index].window.take(half: false) {
                close(event.unit, event.indexes, index, certain)
            }
            addItemsElsewhere(index)
            for (offset, items) in states[index].items.sorted(by: { $0.key < $1.key }) {
                check(items, TopicPlace(sources[index].topic, sources[index].partition, offset), certain)
            }
            compare(index, certain)
        }
        if !hasOffset, findings.doubts[.noOffset] == nil {
            for (place, count) in unread { findings.add(.noOffset, place, count: count) }
        }
        outputCheck.finish(&findings)
        return findings
    }

    /// Adds the dead letters of other groups to the items of this group's records.
    ///
    /// A record without any outcome of this group has lost its other items.
    private mutating func addItemsElsewhere(_ index: Int) {
        for (offset, elsewhere) in states[index].itemsElsewhere {
            if states[index].items[offset] != nil {
                states[index].items[offset]?.add(elsewhere: elsewhere)
            } else if elsewhere.count ?? 0 > 0, !states[index].decided.contains(offset),
                !states[index].dead.contains(offset), states[index].deadElsewhere?.contains(offset) != true
            {
                states[index].decided.insert(offset)
                states[index].items[offset] = elsewhere
            }
        }
    }

    /// Returns a Boolean value that indicates whether a message has a decision with the index 0.
    private static func hasFirst(_ unit: Int64, _ decided: OffsetSet, _ items: [Int64: ItemOutcomes]) -> Bool {
        let (offset, item) = (unit >> 7, Int(unit & 127) - 1)
        guard item < 0 else { return items[offset]?.isDecided(item) ?? false }
        // A record with items has no decision without one.
        return decided.contains(offset) && items[offset] == nil
    }

    /// Checks the indexes of a message.
    ///
    /// - Parameter certain: The offsets whose decisions were certainly read, or nil if the event was closed early.
    private mutating func close(
        _ unit: Int64, _ indexes: IndexWindow.Indexes, _ index: Int, _ certain: Range<Int64>? = nil
    ) {
        let hasFirst = Self.hasFirst(unit, states[index].decided, states[index].items)
        guard let missing = IndexWindow.firstMissing(indexes, hasFirst: hasFirst) else { return }
        let place = TopicPlace(sources[index].topic, sources[index].partition, unit >> 7)
        guard let certain else { return findings.add(.uneven, place) }
        // The record has an outcome, although its first decision is missing.
        states[index].decided.insert(place.offset)
        let item = unit & 127 == 0 ? "" : ".\((unit & 127) - 1)"
        if let doubt = Self.doubt(place.offset, certain) { return findings.add(doubt, place) }
        findings.add(
            .missingIndex, place,
            "\(place)\(item) has decisions of several devices, and none with the index \(missing)")
    }

    /// Checks that each item of a record has an outcome, and no other item has one.
    ///
    /// The number of items is unknown if the record does not exist any more. They then end with the last outcome.
    private mutating func check(_ items: ItemOutcomes, _ place: TopicPlace, _ certain: Range<Int64>) {
        if let item = items.firstBeyond {
            findings.add(.noRecord, place, "\(place).\(item) has a decision or a dead letter, and no such item exists")
        }
        guard let missing = items.firstMissing else { return }
        if let doubt = Self.doubt(place.offset, certain) { return findings.add(doubt, place) }
        findings.add(
            .lost, place, "\(place).\(missing) has no decision and no dead letter, and the committed offset is after it"
        )
    }

    /// Returns the doubt about a record without an outcome, or nil for none.
    private static func doubt(_ offset: Int64, _ certain: Range<Int64>) -> Doubt? {
        offset < certain.lowerBound ? .removed : offset >= certain.upperBound ? .hidden : nil
    }

    /// Returns the offsets of an input partition whose outcomes were read if they were ever written.
    private func certain(_ index: Int) -> Range<Int64> {
        let from = certainFrom(index)
        guard !hidesDeadLetters else { return from..<from }
        // Hidden decisions come after the last one that was read.
        let count = outcomes.isWhole.count
        let ends = hidden.map { cursors[index * count + $0].last }
        return from..<max(from, ends.min() ?? .max)
    }

    /// Returns the first offset of an input partition whose outcomes exist if they were ever written.
    ///
    /// The outcomes of a partition are in order. So if the first one that is left belongs to an earlier record,
    /// retention has not removed an outcome of a later record.
    private func certainFrom(_ index: Int) -> Int64 {
        guard !outcomes.isCompacted else { return .max }
        var from = Int64.min
        for (partition, isWhole) in outcomes.isWhole.enumerated() where !isWhole {
            let first = cursors[index * outcomes.isWhole.count + partition].first
            from = max(from, first == .max ? .max : first + 1)
        }
        if outcomes.hasAllDeadLetters { return from }
        return max(from, states[index].firstDead == .max ? .max : states[index].firstDead + 1)
    }

    /// Compares the records of a partition with the outcomes.
    private mutating func compare(_ index: Int, _ certain: Range<Int64>) {
        let (state, source) = (states[index], sources[index])
        var found = findings
        for word in state.exists.words.indices {
            let exists = state.exists.words[word]
            let outcome = state.decided.words[word] | state.dead.words[word]
            guard exists != outcome else { continue }
            let elsewhere = state.deadElsewhere?.words[word] ?? 0
            state.exists.forEach(in: exists & ~outcome & ~elsewhere, at: word) { offset in
                let place = TopicPlace(source.topic, source.partition, offset)
                if let doubt = Self.doubt(offset, certain) { return found.add(doubt, place) }
                found.add(
                    .lost, place, "\(place) has no decision and no dead letter, and the committed offset is after it")
            }
            state.exists.forEach(in: outcome & ~exists, at: word) { offset in
                guard offset >= state.floor else { return }
                let place = TopicPlace(source.topic, source.partition, offset)
                if source.isCompacted { return found.add(.compacted, place) }
                found.add(.noRecord, place, "\(place) has a decision or a dead letter, and no such record exists")
            }
        }
        findings = found
    }
}
