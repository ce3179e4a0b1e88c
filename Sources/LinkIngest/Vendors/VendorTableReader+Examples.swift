internal import LinkCoordinator
internal import StrictJSON

// Checks the examples of a vendor. `VendorTable.check` runs them.
extension VendorTableReader {
    /// Checks the members of an example.
    mutating func checkExample(_ value: JSONValue) {
        let texts = ["platform", "payloadType", "action", "link", "reason", "pointer", "message", "campaign"]
        guard members(value, "an example", required: ["payload"], optional: texts + ["notes"]) else { return }
        if let payload = value["payload"], payload.object == nil {
            add(.wrongType, payload.offset, "expected `payload` to be an object")
        }
        for name in texts {
            if let text = value[name], text.string == nil { add(.wrongType, text.offset, "expected a string") }
        }
        checkWord(value["payloadType"], ["apns", "fcm"])
        checkWord(value["reason"], ["no_link", "open_app"])
        if (value["link"] == nil) == (value["reason"] == nil) {
            add(.badValue, value.offset, "expected either `link` or `reason`")
        }
        for note in items(value["notes"], "notes") where note.string == nil {
            add(.wrongType, note.offset, "expected a string")
        }
    }

    private mutating func checkWord(_ value: JSONValue?, _ words: [String]) {
        guard let value, let text = value.string, !words.contains(text) else { return }
        let names = words.map { "`\($0)`" }.joined(separator: " or ")
        add(.badValue, value.offset, "expected \(names)", nearest: NearestName.of(text, among: words))
    }
}
