/// The id of a decision: the position of the event's record, and the index of the device in the event.
///
/// Its form is `TOPIC-PARTITION-OFFSET-INDEX`. A topic can contain hyphens, so it is read from the end.
struct DecisionID: Equatable {
    /// The greatest index of a device.
    private static let greatestIndex = 499

    /// The topic of the event.
    let topic: String
    /// The partition of the event.
    let partition: Int32
    /// The offset of the event.
    let offset: Int64
    /// The index of the device.
    let index: Int

    /// Reads an id, or returns nil if the text is none.
    init?(_ text: String) {
        var parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 4, let index: Int = Self.number(parts.removeLast()), index <= Self.greatestIndex,
            let offset: Int64 = Self.number(parts.removeLast()),
            let partition: Int32 = Self.number(parts.removeLast())
        else { return nil }
        let topic = parts.joined(separator: "-")
        guard ValueType.isTopic(topic) else { return nil }
        (self.topic, self.partition, self.offset, self.index) = (topic, partition, offset, index)
    }

    /// The text of the id.
    var text: String { "\(topic)-\(partition)-\(offset)-\(index)" }

    /// Returns a decimal number without leading zeros, or nil.
    fileprivate static func number<Number: FixedWidthInteger>(_ text: Substring) -> Number? {
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
