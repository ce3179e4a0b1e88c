internal import StrictJSON

/// The text that a person wants to try: a link, an event, or the body of a push message.
struct TriedInput {
    /// The kind of an input.
    enum Kind: String {
        /// A link, as it would be in a message.
        case link
        /// An event in the product's own format.
        case event
        /// The body of a push message of any vendor.
        case push
    }

    /// The kind.
    let kind: Kind
    /// The text without white space at its ends.
    private let text: String
    /// The members of the object, or nil for a link and for a text that is not valid JSON.
    private let members: [JSONMember]?

    /// The members of an event that say what it requests.
    private static let requests: Set = ["link", "path", "route", "payload"]

    /// Creates an input from a text.
    init(_ text: String) {
        let bytes = Array(text.utf8)
        let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
        let start = bytes.firstIndex { !isSpace($0) } ?? bytes.endIndex
        let end = bytes.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? start
        self.text = String(decoding: bytes[start..<end], as: UTF8.self)
        guard start < end, bytes[start] == UInt8(ascii: "{") else {
            (kind, members) = (.link, nil)
            return
        }
        members = (try? JSONValue.parse(Array(bytes[start..<end]), maxDepth: 512))?.object
        let names = Set(members?.map(\.name) ?? [])
        kind = names.isDisjoint(with: Self.requests) || names.contains("aps") ? .push : .event
    }

    /// A Boolean value that indicates whether there is nothing to try.
    var isEmpty: Bool { text.isEmpty }

    /// Returns the value of the record with which a producer would send the input to a device with these facts.
    ///
    /// The facts override those of an event's device. An input that is not valid is returned unchanged, so that the
    /// answer is that of a worker.
    func record(facts: [JSONMember]) -> [UInt8] {
        switch kind {
        case .link:
            // A text that is no link must stay one, for the same dead letter as in a worker.
            guard !facts.isEmpty, text.contains(":"), !text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else {
                return Array(text.utf8)
            }
            return event(facts) { json in json.text("link", text) }
        case .push:
            guard !facts.isEmpty, members != nil else { return Array(text.utf8) }
            return event(facts) { json in json.raw("payload", Array(text.utf8)) }
        case .event:
            guard !facts.isEmpty, let members else { return Array(text.utf8) }
            return event(merged(facts, members)) { json in
                for member in members where member.name != "device" && member.name != "devices" {
                    json.value(member.name, member.value)
                }
            }
        }
    }

    /// Returns the facts of an event's first device, overridden by others.
    private func merged(_ facts: [JSONMember], _ members: [JSONMember]) -> [JSONMember] {
        let device = members.first { $0.name == "device" }?.value
        let devices = members.first { $0.name == "devices" }?.value.array
        let names = Set(facts.map(\.name))
        return ((device ?? devices?.first)?.object ?? []).filter { !names.contains($0.name) } + facts
    }

    private func event(_ facts: [JSONMember], _ write: (inout JSONText) -> Void) -> [UInt8] {
        var json = JSONText()
        json.beginObject()
        write(&json)
        json.beginObject("device")
        json.text("id", facts.first { $0.name == "id" }?.value.string ?? Self.device)
        for fact in facts where fact.name != "id" { json.value(fact.name, fact.value) }
        json.endObject()
        json.endObject()
        return Array(json.finish().utf8)
    }

    /// The id of the device for an input without one.
    static let device = "device"
}
