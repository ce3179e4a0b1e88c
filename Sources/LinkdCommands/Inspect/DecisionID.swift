internal import ByteStorage
internal import KafkaClient
internal import LinkIngest

/// The id of a decision: the position of the event's record, the item of a record with several messages, the index of
/// the device in the event, and the number of the correction.
///
/// Its form is `TOPIC-PARTITION-OFFSET-INDEX` for a decision of a worker, `TOPIC-PARTITION-OFFSET.ITEM-INDEX` for one
/// of an item, and either with `~N` for its correction with the number N. A topic can contain hyphens and periods, so
/// the id is read from the end. No topic contains `~`.
struct DecisionID: Hashable {
    /// The topic of the event.
    let topic: String
    /// The partition of the event.
    let partition: Int32
    /// The offset of the event.
    let offset: Int64
    /// The place in the record.
    let place: DecisionPlace
    /// The number of the correction, or 0 for a decision of a worker.
    private(set) var correction = 0

    /// Reads an id, or returns nil if the text is none.
    init?(_ text: String) {
        var text = text
        let id = text.withUTF8 { bytes in
            DecisionIDView(ByteView(bytes)).map { ($0.topic.string, $0.partition, $0.offset, $0.place, $0.correction) }
        }
        guard let id, ValueType.isTopic(id.0) else { return nil }
        (topic, partition, offset, place, correction) = id
    }

    /// The text of the id.
    var text: String { "\(topic)-\(partition)-\(offset)\(place)" + (correction > 0 ? "~\(correction)" : "") }

    /// The id of the worker's decision for the same event and device.
    var original: DecisionID { with(0) }
    /// The id of the decision that a correction with this id supersedes, or nil for a decision of a worker.
    var superseded: DecisionID? { correction > 0 ? with(correction - 1) : nil }
    /// The id of the next correction, or nil if the numbers are used up.
    var next: DecisionID? { correction < DecisionIDView.greatestCorrection ? with(correction + 1) : nil }

    private func with(_ correction: Int) -> DecisionID {
        var id = self
        id.correction = correction
        return id
    }

    /// The first bytes of the decision, which begins with its id.
    var decisionStart: [UInt8] { Array("{\"decision\":\"\(text)\"".utf8) }

    /// The first bytes of what is published under this id: the id, and `supersedes` in a correction.
    var head: [UInt8] { decisionStart + Array((superseded.map { ",\"supersedes\":\"\($0.text)\"" } ?? "").utf8) }

    /// Returns the bytes that are published under this id, or nil if the decision is not for its event and device.
    ///
    /// A correction has the members of the decision, and `supersedes` after the id.
    ///
    /// - Parameter decision: The bytes of the decision as a worker publishes it.
    func published(_ decision: some Collection<UInt8>) -> [UInt8]? {
        let head = original.decisionStart
        guard decision.starts(with: head) else { return nil }
        return correction == 0 ? Array(decision) : self.head + decision.dropFirst(head.count)
    }

    /// Returns a published decision without the members of `head`.
    static func withoutHead(_ decision: ByteView) -> ByteView {
        var rest = decision
        // An id has no quotation mark and no escape.
        for start in [#"{"decision":""#, #","supersedes":""#] as [StaticString] where rest.hasPrefix(ByteView(start)) {
            rest = rest.dropFirst(start.utf8CodeUnitCount)
            rest = rest.dropFirst(rest.firstIndex(of: UInt8(ascii: "\"")).map { $0 + 1 } ?? rest.count)
        }
        return rest
    }

    /// Returns a decimal number without leading zeros, or nil.
    static func number<Number: FixedWidthInteger>(_ text: Substring) -> Number? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), text == "0" || text.first != "0" else { return nil }
        return Number(text)
    }
}

/// The place of a decision in its record: the item of a record with several messages, and the index of the device.
struct DecisionPlace: Hashable, Comparable, CustomStringConvertible {
    /// The greatest index of a device.
    static let greatestIndex: Int64 = 499

    /// The item after 1, or 0 without one, and the index, as one number in the order of the decisions of a record.
    let number: UInt16

    /// Creates a place.
    init(item: Int? = nil, index: Int) { number = UInt16(item.map { $0 + 1 } ?? 0) << 9 | UInt16(index) }

    /// The index of the item, or nil for a record with one message.
    var item: Int? { number >> 9 == 0 ? nil : Int(number >> 9) - 1 }
    /// The index of the device.
    var index: Int { Int(number & 511) }

    /// The end of an id.
    var description: String { (item.map { ".\($0)" } ?? "") + "-\(index)" }

    static func < (a: DecisionPlace, b: DecisionPlace) -> Bool { a.number < b.number }
}

/// The id of a decision as borrowed bytes, which is read without allocating memory.
///
/// The topic can be any bytes, because it is compared with the topics of the settings.
struct DecisionIDView {
    /// The greatest number of a correction.
    static let greatestCorrection = 999
    private static let start = ByteView(#"{"decision":""#)
    /// The limit of an id, in bytes: a topic has at most 249, and the numbers have at most 10, 19, 2, 3, and 3.
    private static let byteLimit = 320

    /// The topic of the event.
    let topic: ByteView
    /// The partition of the event.
    let partition: Int32
    /// The offset of the event.
    let offset: Int64
    /// The place in the record.
    let place: DecisionPlace
    /// The number of the correction, or 0 for a decision of a worker.
    let correction: Int

    /// Reads the id at the start of a decision, or returns nil if the value does not begin with one.
    init?(decision value: ByteView) {
        guard value.hasPrefix(Self.start) else { return nil }
        let rest = value.slice(Self.start.count, min(value.count, Self.start.count + Self.byteLimit))
        guard let end = rest.firstIndex(of: UInt8(ascii: "\"")) else { return nil }
        self.init(rest.slice(0, end))
    }

    /// Reads an id, or returns nil if the text is none.
    init?(_ text: ByteView) {
        var end = text.count
        guard end <= Self.byteLimit, var last = Self.number(text, &end) else { return nil }
        var correction: Int64 = 0
        if text[end] == UInt8(ascii: "~") {
            guard (1...Int64(Self.greatestCorrection)).contains(last), let index = Self.number(text, &end) else {
                return nil
            }
            (correction, last) = (last, index)
        }
        let hyphen = UInt8(ascii: "-")
        guard text[end] == hyphen, last <= DecisionPlace.greatestIndex, var offset = Self.number(text, &end) else {
            return nil
        }
        var item: Int?
        if text[end] == UInt8(ascii: ".") {
            guard offset < RecordBatch.limit, let record = Self.number(text, &end) else { return nil }
            (item, offset) = (Int(offset), record)
        }
        guard text[end] == hyphen, let number = Self.number(text, &end), text[end] == hyphen,
            let partition = Int32(exactly: number), end > 0
        else { return nil }
        topic = text.slice(0, end)
        (self.partition, self.offset) = (partition, offset)
        place = DecisionPlace(item: item, index: Int(last))
        self.correction = Int(correction)
    }

    /// Returns the decimal number before `end` without leading zeros, and moves `end` to the byte before it.
    private static func number(_ text: ByteView, _ end: inout Int) -> Int64? {
        var start = end
        while start > 0, (0x30...0x39).contains(text[start - 1]) { start -= 1 }
        guard start > 0, start < end, text[start] != 0x30 || end - start == 1 else { return nil }
        let number = DeadLetterHead.decimal(text.slice(start, end))
        end = start - 1
        return number
    }
}

/// The value of `linkd inspect --why`: the id of a decision, or the position of its record.
enum DecisionReference: Equatable {
    case id(DecisionID)
    /// The position in a topic of decisions.
    case position(TopicPartition, offset: Int64)

    /// Reads an id, or `OUTPUT-PARTITION-OFFSET`, or returns nil if the text is neither.
    ///
    /// The text of `inspect` prints positions.
    init?(_ text: String, outputs: [String]) {
        for output in outputs where text.hasPrefix(output + "-") {
            let parts = text.dropFirst(output.count + 1).split(separator: "-", omittingEmptySubsequences: false)
            if parts.count == 2, let partition: Int32 = DecisionID.number(parts[0]),
                let offset: Int64 = DecisionID.number(parts[1])
            {
                self = .position(TopicPartition(topic: output, partition: partition), offset: offset)
                return
            }
        }
        guard let id = DecisionID(text) else { return nil }
        self = .id(id)
    }
}
