internal import RouteTools
internal import KafkaClient
internal import StrictJSON

/// A printer of records: for people, as JSON lines, or in a format.
struct RecordPrinter {
    /// The output format.
    enum Mode {
        case readable
        case json
        case format(FormatTokens)
    }

    private let mode: Mode
    private let out: Channel

    /// Creates a printer for a channel.
    init(_ mode: Mode, on out: Channel) {
        self.mode = mode
        self.out = out
    }

    /// Prints a record.
    ///
    /// - Parameter json: The parsed value of the record, or nil if it is not JSON.
    func print(_ record: InspectedRecord, _ json: JSONValue?) {
        switch mode {
        case .readable: for line in readable(record, json) { out.line(line) }
        case .json:
            let line = Self.envelope(record, json)
            out.line(out.isTerminal ? Escaping.json(line) : line)
        case .format(let tokens): out.write(tokens.bytes(record, json, escaped: out.isTerminal))
        }
    }

    private func readable(_ record: InspectedRecord, _ json: JSONValue?) -> [String] {
        let style = out.style
        let time = record.timestamp < 0 ? "no time" : Timestamps.text(record.timestamp)
        let key = record.key.map { Escaping.visible($0) } ?? "no key"
        let identifier = "\(record.topic)-\(record.partition)-\(record.offset)"
        let head = style.paint("\(time)  \(Escaping.visible(identifier))", .dim) + "  \(style.name(key))"
        if record.isDeadLetter { return [head + "  " + deadLetter(record)] + detail(record) }
        guard let json, json["outcome"] != nil else {
            let value = record.value.map { Escaping.visible($0) } ?? style.paint("null", .dim)
            return [head, "    " + value]
        }
        let view = DecisionView(style: style)
        let route = json["route"]?.string.map { "  " + Escaping.visible($0) } ?? ""
        let first = head + "  " + view.outcome(json) + route
        let summary = view.summary(json)
        return [first] + (summary.isEmpty ? [] : ["    " + summary])
            + view.data(json).map { "      " + style.paint($0, .dim) }
    }

    private func deadLetter(_ record: InspectedRecord) -> String {
        let stage = record.header("dlq.stage").map { " (\(Escaping.visible($0)))" } ?? ""
        return out.style.paint(Escaping.visible(record.header("dlq.reason") ?? ""), .bad) + stage
    }

    private func detail(_ record: InspectedRecord) -> [String] {
        var parts: [String] = []
        if let detail = record.header("dlq.detail") { parts.append(detail) }
        if let pointer = record.header("dlq.pointer") { parts.append("at \(pointer)") }
        if let topic = record.header("dlq.source.topic"), let partition = record.header("dlq.source.partition"),
            let offset = record.header("dlq.source.offset")
        {
            parts.append("from \(topic)-\(partition)-\(offset)")
        }
        return parts.isEmpty ? [] : ["    " + Escaping.visible(parts.joined(separator: ", "))]
    }

    /// Returns a record in the form `{"topic","partition","offset","timestamp","key","headers","value"}`.
    ///
    /// The name of a member whose bytes are not UTF-8 has the suffix `_base64`.
    static func envelope(_ record: InspectedRecord, _ value: JSONValue?) -> String {
        var json = JSONText()
        json.beginObject()
        json.text("topic", record.topic)
        json.number("partition", Int64(record.partition))
        json.number("offset", record.offset)
        json.number("timestamp", record.timestamp < 0 ? nil : record.timestamp)
        bytes("key", record.key, into: &json)
        if !record.headers.isEmpty {
            json.beginObject("headers")
            for header in record.headers {
                bytes(String(decoding: header.name, as: UTF8.self), header.value, into: &json)
            }
            json.endObject()
        }
        if value != nil, let raw = record.value, !raw.contains(where: { $0 == 0x0A || $0 == 0x0D }) {
            json.raw("value", raw)
        } else if let value {
            json.value("value", value)
        } else {
            bytes("value", record.value, into: &json)
        }
        json.endObject()
        return json.finish()
    }

    private static func bytes(_ name: String, _ bytes: [UInt8]?, into json: inout JSONText) {
        guard let bytes else { return json.text(name, nil) }
        if let text = String(validating: bytes, as: UTF8.self) {
            json.text(name, text)
        } else {
            json.text(name + "_base64", Base64.text(bytes))
        }
    }
}
