internal import ByteStorage

/// The id of a decision: the position of the event's record, the index of the device in the event, and the number of
/// the correction.
///
/// Its form is `TOPIC-PARTITION-OFFSET-INDEX` for a decision of a worker, and `TOPIC-PARTITION-OFFSET-INDEX~N` for its
/// correction with the number N. A topic can contain hyphens, so the id is read from the end. No topic contains `~`.
struct DecisionID: Hashable {
    /// The greatest index of a device.
    private static let greatestIndex = 499
    /// The greatest number of a correction.
    static let greatestCorrection = 999

    /// The topic of the event.
    let topic: String
    /// The partition of the event.
    let partition: Int32
    /// The offset of the event.
    let offset: Int64
    /// The index of the device.
    let index: Int
    /// The number of the correction, or 0 for a decision of a worker.
    private(set) var correction = 0

    /// Reads an id, or returns nil if the text is none.
    init?(_ text: String) {
        let halves = text.split(separator: "~", maxSplits: 1, omittingEmptySubsequences: false)
        if halves.count == 2 {
            guard let number: Int = Self.number(halves[1]), (1...Self.greatestCorrection).contains(number) else {
                return nil
            }
            correction = number
        }
        var parts = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 4, let index: Int = Self.number(parts.removeLast()), index <= Self.greatestIndex,
            let offset: Int64 = Self.number(parts.removeLast()),
            let partition: Int32 = Self.number(parts.removeLast())
        else { return nil }
        let topic = parts.joined(separator: "-")
        guard ValueType.isTopic(topic) else { return nil }
        (self.topic, self.partition, self.offset, self.index) = (topic, partition, offset, index)
    }

    /// The text of the id.
    var text: String { "\(topic)-\(partition)-\(offset)-\(index)" + (correction > 0 ? "~\(correction)" : "") }

    /// The id of the worker's decision for the same event and device.
    var original: DecisionID { with(0) }
    /// The id of the decision that a correction with this id supersedes, or nil for a decision of a worker.
    var superseded: DecisionID? { correction > 0 ? with(correction - 1) : nil }
    /// The id of the next correction, or nil if the numbers are used up.
    var next: DecisionID? { correction < Self.greatestCorrection ? with(correction + 1) : nil }

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

    /// Returns a decimal number without leading zeros, or nil.
    static func number<Number: FixedWidthInteger>(_ text: Substring) -> Number? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), text == "0" || text.first != "0" else { return nil }
        return Number(text)
    }
}

/// The value of `linkd inspect --why`: the id of a decision, or the position of its record.
enum DecisionReference: Equatable {
    case id(DecisionID)
    /// The position in the topic of decisions.
    case position(partition: Int32, offset: Int64)

    /// Reads an id, or `OUTPUT-PARTITION-OFFSET`, or returns nil if the text is neither.
    ///
    /// The text of `inspect` prints positions.
    init?(_ text: String, output: String) {
        if text.hasPrefix(output + "-") {
            let parts = text.dropFirst(output.count + 1).split(separator: "-", omittingEmptySubsequences: false)
            if parts.count == 2, let partition: Int32 = DecisionID.number(parts[0]),
                let offset: Int64 = DecisionID.number(parts[1])
            {
                self = .position(partition: partition, offset: offset)
                return
            }
        }
        guard let id = DecisionID(text) else { return nil }
        self = .id(id)
    }
}
