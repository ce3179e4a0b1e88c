internal import ByteStorage
internal import KafkaClient
internal import LinkDecider
internal import TestSupport

@testable internal import LinkdCommands

/// The topics and offsets that a worker leaves, which a test makes wrong in one way.
struct WorkedTopics {
    /// A wrong that a worker can do, each of which the check must find.
    enum Wrong: CaseIterable {
        case losesARecord, losesADeadLetter, skipsRecords, decidesTwice, decidesTwiceElsewhere, decidesInWrongOrder
        case buriesTwice, decidesAndBuries, omitsAnIndex, omitsTheFirstIndex, namesNoRecord, namesNoPartition
        case writesNoDecision, decidesBeyondItsOffset, fallsBehindRetention, keepsAnOldOffset
        case leavesATransactionOpen
        case losesAnItem, buriesAnItemTwice, decidesAndBuriesAnItem, namesNoItem
        case movesADecision, cutsADecision, keysAnotherDevice, writesToAnotherPartition
    }

    static let partitions = 3
    /// The records of each partition of the input.
    static let records: Int64 = 40

    let topic: String
    /// The offset that the group has committed, by partition of the input.
    var committed = [Int64](repeating: WorkedTopics.records, count: partitions)
    /// The first offset and the end, by partition of the input.
    var low = [Int64](repeating: 0, count: partitions)
    var ends = [Int64](repeating: WorkedTopics.records, count: partitions)
    /// The ids of the decisions, by partition of the output.
    var output = [[String]](repeating: [], count: partitions)
    /// A Boolean value that indicates whether the decisions of an application have a topic of their own.
    var isSplit = false
    /// The decisions that are in the wrong topic.
    var moved: Set<String> = []
    /// The decision whose value, key, or partition is wrong, and how.
    private var wrong: (id: String, wrong: Wrong)?
    /// The partition, the offset, and the item of each source of a dead letter.
    var letters: [(partition: Int, offset: Int64, item: Int?)] = []
    /// The records with several messages, and the numbers of them.
    private var lists: [(partition: Int, offset: Int64, count: Int)] = []
    /// The end of the output's last partition with the records of an open transaction, or nil.
    var openEnd: Int64?
    /// The records with two decisions or more, and those with one.
    private var families: [(partition: Int, offset: Int64, count: Int)] = []
    private var singles: [(partition: Int, offset: Int64)] = []

    /// Creates what a right worker leaves: a dead letter of every eighth record, decisions of up to 80 devices, and
    /// lists of up to 100 messages.
    init(topic: String = "link-events", _ random: inout SeededGenerator) {
        self.topic = topic
        // Each wrong needs a record of its kind, which about one generation in 800 does not have.
        repeat {
            decideAll(&random)
        } while !hasEachKind
    }

    private var hasEachKind: Bool {
        letters.contains { $0.item != nil } && letters.contains { $0.item == nil } && !families.isEmpty
            && singles.contains { home(of: id($0, 0)) == Self.partitions - 1 }
    }

    private mutating func decideAll(_ random: inout SeededGenerator) {
        (output, letters) = ([[String]](repeating: [], count: Self.partitions), [])
        (lists, families, singles) = ([], [], [])
        for offset in 0..<Self.records {
            for partition in 0..<Self.partitions {
                // The first records have decisions everywhere, so that each partition has a cursor.
                if offset > 2, random.one(in: 8) {
                    letters.append((partition, offset, nil))
                    continue
                }
                if offset > 2, random.one(in: 8) {
                    decideList(
                        partition, offset, count: random.one(in: 10) ? 100 : .random(in: 2...5, using: &random), &random
                    )
                    continue
                }
                let count = random.one(in: 3) ? (random.one(in: 20) ? 80 : Int.random(in: 2...4, using: &random)) : 1
                for index in 0..<(offset < 2 ? 3 : count) {
                    let target = offset < 2 ? index : Int.random(in: 0..<Self.partitions, using: &random)
                    output[target].append("\(topic)-\(partition)-\(offset)-\(index)")
                }
                if offset > 2, count > 1 { families.append((partition, offset, count)) }
                if offset > 2, count == 1 { singles.append((partition, offset)) }
            }
        }
    }

    /// Decides the items of a list for up to 3 devices each, or buries them, except the first one.
    private mutating func decideList(
        _ partition: Int, _ offset: Int64, count: Int, _ random: inout SeededGenerator
    ) {
        lists.append((partition, offset, count))
        for item in 0..<count {
            if item > 0, random.one(in: 4) {
                letters.append((partition, offset, item))
                continue
            }
            for index in 0..<(item == 0 ? 1 : Int.random(in: 1...3, using: &random)) {
                let target = Int.random(in: 0..<Self.partitions, using: &random)
                output[target].append("\(topic)-\(partition)-\(offset).\(item)-\(index)")
            }
        }
    }

    func place(_ record: (partition: Int, offset: Int64)) -> TopicPlace {
        TopicPlace(topic, Int32(record.partition), record.offset)
    }

    private func id(_ record: (partition: Int, offset: Int64), _ index: Int) -> String {
        "\(place(record))-\(index)"
    }

    /// The topics of the decisions.
    var outputs: OutputTopics {
        OutputTopics("link-decisions", applications: isSplit ? [("shop", "shop-decisions")] : [])
    }

    /// Returns a Boolean value that indicates whether a decision is one of the application, as that of every second
    /// record is.
    static func isOfApplication(_ id: String) -> Bool {
        // `TOPIC-PARTITION-OFFSET[.ITEM]-INDEX`, of which the last digit of the offset tells.
        let place = id.utf8.prefix(upTo: id.utf8.lastIndex(of: UInt8(ascii: "-")) ?? id.startIndex)
        let end = place.lastIndex(of: UInt8(ascii: ".")) ?? place.endIndex
        return place[..<end].last.map { $0 % 2 == 1 } ?? false
    }

    /// Returns the index of the topic of each decision, and its offset there.
    private func places(_ ids: [String]) -> [(topic: Int, offset: Int64)] {
        var next: [Int64] = [0, 0]
        return ids.map { id in
            let topic = isSplit && Self.isOfApplication(id) != moved.contains(id) ? 1 : 0
            defer { next[topic] += 1 }
            return (topic, next[topic])
        }
    }

    private mutating func remove(_ id: String) {
        for index in output.indices { output[index].removeAll { $0 == id } }
    }

    /// Appends a decision to a partition, and returns its position.
    private mutating func append(_ id: String, to partition: Int) -> TopicPlace {
        output[partition].append(id)
        return TopicPlace("link-decisions", Int32(partition), Int64(output[partition].count - 1))
    }

    /// Returns the position of a decision.
    private func output(of id: String) -> TopicPlace {
        let home = home(of: id)
        return TopicPlace("link-decisions", Int32(home), Int64(output[home].firstIndex(of: id) ?? 0))
    }

    private func home(of id: String) -> Int { output.firstIndex { $0.contains(id) } ?? 0 }

    /// Makes the topics wrong, and returns the harm to find and the place that shows it, or the record if two places
    /// contradict each other.
    mutating func apply(_ wrong: Wrong, _ random: inout SeededGenerator) -> (harm: Harm, place: TopicPlace) {
        let (single, family, list) = (random.pick(singles), random.pick(families), random.pick(lists))
        let letter = random.pick(letters.filter { $0.item == nil })
        switch wrong {
        case .losesARecord: remove(id(single, 0))
        case .losesADeadLetter:
            letters.removeAll { $0 == letter }
            return (.lost, place((letter.partition, letter.offset)))
        case .skipsRecords:
            // The group's offset is beyond a record that was never decided.
            ends[0] += 1
            committed[0] += 1
            return (.lost, place((0, Self.records)))
        case .decidesTwice: return (.doubled, append(id(single, 0), to: home(of: id(single, 0))))
        case .decidesTwiceElsewhere:
            _ = append(id(single, 0), to: (home(of: id(single, 0)) + 1) % Self.partitions)
            return (.doubled, place(single))
        case .decidesInWrongOrder: return swap(single)
        case .buriesTwice:
            letters.append(letter)
            return (.doubled, lastLetter)
        case .decidesAndBuries:
            letters.append((single.partition, single.offset, nil))
            return (.contradicted, place(single))
        case .omitsAnIndex, .omitsTheFirstIndex:
            remove(id((family.partition, family.offset), wrong == .omitsAnIndex ? family.count - 2 : 0))
            return (.missingIndex, place((family.partition, family.offset)))
        case .namesNoRecord:
            // Control records of transactions have offsets without records.
            ends[1] += 1
            committed[1] += 1
            _ = append(id((1, Self.records), 0), to: 1)
            return (.noRecord, place((1, Self.records)))
        case .namesNoPartition: return (.noRecord, append("\(topic)-\(Self.partitions)-1-0", to: 1))
        case .writesNoDecision: return (.notADecision, append("", to: 2))
        case .decidesBeyondItsOffset:
            ends[2] += 1
            return (.beyondCommit, append(id((2, Self.records), 0), to: 0))
        case .fallsBehindRetention:
            (low[0], ends[0], committed[0]) = (60, 70, 50)
            return (.expired, place((0, 50)))
        case .keepsAnOldOffset:
            committed[1] += 9
            return (.offsetBeyondEnd, place((1, Self.records + 9)))
        case .leavesATransactionOpen:
            openEnd = Int64(output[2].count) + 5
            return (.openTransaction, TopicPlace("link-decisions", 2, Int64(output[2].count)))
        case .losesAnItem:
            let item = Int.random(in: 0..<list.count, using: &random)
            let start = "\(place((list.partition, list.offset))).\(item)-"
            for index in output.indices { output[index].removeAll { $0.hasPrefix(start) } }
            letters.removeAll { $0 == (list.partition, list.offset, item) }
            return (.lost, place((list.partition, list.offset)))
        case .buriesAnItemTwice:
            letters.append(random.pick(letters.filter { $0.item != nil }))
            return (.doubled, lastLetter)
        case .decidesAndBuriesAnItem:
            letters.append((list.partition, list.offset, 0))
            return (.contradicted, place((list.partition, list.offset)))
        case .namesNoItem:
            letters.append((list.partition, list.offset, list.count))
            return (.noRecord, list.count < 100 ? place((list.partition, list.offset)) : lastLetter)
        case .movesADecision: return move(random.pick(output.joined().filter(Self.isOfApplication)))
        case .cutsADecision, .keysAnotherDevice, .writesToAnotherPartition:
            // With fewer partitions, a decision is never in the last one.
            let last = singles.filter { home(of: id($0, 0)) == Self.partitions - 1 }
            return spoil(id(wrong == .writesToAnotherPartition ? random.pick(last) : single, 0), wrong)
        }
        return (.lost, place(single))
    }

    /// Makes the value, the key, or the partition of a decision wrong.
    private mutating func spoil(_ id: String, _ wrong: Wrong) -> (harm: Harm, place: TopicPlace) {
        self.wrong = (id, wrong)
        let harms = [Wrong.cutsADecision: Harm.notADecision, .keysAnotherDevice: .wrongKey]
        return (harms[wrong] ?? .wrongPartition, output(of: id))
    }

    /// Moves a decision to the wrong one of two topics.
    private mutating func move(_ id: String) -> (harm: Harm, place: TopicPlace) {
        isSplit = true
        moved = [id]
        let home = home(of: id)
        let place = places(output[home])[output[home].firstIndex(of: id) ?? 0]
        return (.wrongTopic, TopicPlace(outputs.names[place.topic], Int32(home), place.offset))
    }

    private var lastLetter: TopicPlace { TopicPlace("link-events.dlq", 0, Int64(letters.count - 1)) }

    /// Swaps a decision with the next one of the same partition of the input.
    private mutating func swap(_ single: (partition: Int, offset: Int64)) -> (harm: Harm, place: TopicPlace) {
        let own = id(single, 0)
        let home = home(of: own)
        let prefix = "\(topic)-\(single.partition)-"
        let first = output[home].firstIndex(of: own) ?? 0
        let second =
            output[home].indices.first { $0 > first && output[home][$0].hasPrefix(prefix) } ?? first
        if first == second {
            // It is the last one, so the one before it comes later.
            let earlier = output[home].indices.last { $0 < first && output[home][$0].hasPrefix(prefix) } ?? first
            output[home].swapAt(earlier, first)
            return (.disordered, TopicPlace("link-decisions", Int32(home), Int64(first)))
        }
        output[home].swapAt(first, second)
        return (.disordered, TopicPlace("link-decisions", Int32(home), Int64(second)))
    }
}

extension WorkedTopics {
    /// Passes the topics to a check, the partitions of the output in turns of random lengths.
    ///
    /// - Parameters:
    ///   - removed: The number of records that retention has removed, by partition of the output.
    ///   - windowLimit: The limit of events with several devices.
    func findings(
        _ random: inout SeededGenerator, removed: [Int] = [0, 0, 0], windowLimit: Int = 1_000_000,
        canRepeat: Bool = false
    ) -> Findings {
        let sources = committed.indices.map { index in
            let end = max(low[index], min(committed[index], ends[index]))
            return OutcomeVerifier.Source(topic, Int32(index), low[index]..<end, committed: committed[index])
        }
        var check = OutcomeVerifier(
            sources, partitions: [topic: Int32(Self.partitions)],
            outcomes: OutcomeTopics(
                outputs, isWhole: outputs.names.map { _ in removed.map { $0 == 0 } }, hasAllDeadLetters: true,
                canRepeat: canRepeat),
            windowLimit: windowLimit)
        for index in committed.indices {
            check.bounds(
                of: topic, Int32(index), low: low[index], end: ends[index], before: committed[index],
                after: committed[index])
        }
        if let openEnd {
            check.transactions(of: "link-decisions", 2, stableEnd: Int64(output[2].count), end: openEnd)
        }
        let lettersFirst = Bool.random(using: &random)
        if lettersFirst { pass(letters: &check) }
        let places = output.map(places)
        var next = removed
        while let partition = next.indices.filter({ next[$0] < output[$0].count }).randomElement(using: &random) {
            let length = Int.random(in: 1...20, using: &random)
            for number in (next[partition]..<output[partition].count).prefix(length) {
                let (topic, offset) = places[partition][number]
                let id = output[partition][number]
                let wrong = wrong?.id == id ? wrong?.wrong : nil
                let home = wrong == .writesToAnotherPartition ? (partition + 1) % Self.partitions : partition
                let value = Self.decision(id, device: Self.devices[home])
                check.take(
                    wrong == .cutsADecision ? String(value.dropLast()) : value, Int32(partition), offset,
                    key: wrong == .keysAnotherDevice ? Self.others[home] : Self.devices[home],
                    topic: topic)
            }
            next[partition] += length
            check.advance()
        }
        if !lettersFirst { pass(letters: &check) }
        for partition in 0..<Self.partitions {
            // A record that a test adds at the end exists, except where it must not.
            let end = partition == 1 ? Self.records : ends[partition]
            for offset in low[partition]..<max(low[partition], end) {
                check.input(topic, Int32(partition), offset, items: items(partition, offset))
            }
        }
        return check.finish()
    }

    /// Returns the number of messages of a record that is a list, or 0.
    func items(_ partition: Int, _ offset: Int64) -> Int {
        lists.first { $0.partition == partition && $0.offset == offset }?.count ?? 0
    }

    private func pass(letters check: inout OutcomeVerifier) {
        Array(topic.utf8).withUnsafeBufferPointer { name in
            for (number, letter) in letters.enumerated() {
                check.deadLetter(
                    at: TopicPlace("link-events.dlq", 0, Int64(number)), of: ByteView(name), Int32(letter.partition),
                    letter.offset, item: letter.item)
            }
        }
    }

    /// A device of each partition.
    private static let devices = (0..<Int32(partitions)).map { device(in: $0, of: Int32(partitions)) }

    /// Another device of each partition.
    private static let others = (0..<Int32(partitions)).map { device(in: $0, of: Int32(partitions), from: 100) }

    /// Returns the first device that belongs in a partition, from a number on.
    static func device(in partition: Int32, of count: Int32, from first: Int = 0) -> String {
        var number = first
        while home(of: "d-\(number)", among: count) != partition { number += 1 }
        return "d-\(number)"
    }

    /// Returns the partition of a device.
    static func home(of device: String, among count: Int32) -> Int32 {
        Array(device.utf8).withUnsafeBufferPointer { Murmur2.partition(of: ByteView($0), among: count) }
    }

    /// Returns the value of a decision with an id, or of no decision for an empty id.
    static func decision(_ id: String, device: String = "d-0") -> String {
        if id.isEmpty { return #"{"outcome":"none"}"# }
        let end = isOfApplication(id) ? #""application":"shop""# : #""table":"t@1+d1ec0520""#
        return #"{"decision":"\#(id)","device":"\#(device)",\#(end),"outcome":"none"}"#
    }
}

extension OutcomeVerifier {
    /// Takes a decision as text.
    mutating func take(
        _ value: String, _ partition: Int32, _ offset: Int64, key: String = "d-0", topic: Int = 0
    ) {
        Array(key.utf8).withUnsafeBufferPointer { key in
            Array(value.utf8).withUnsafeBufferPointer {
                output(partition, offset, key: ByteView(key), ByteView($0), topic: topic)
            }
        }
    }
}
