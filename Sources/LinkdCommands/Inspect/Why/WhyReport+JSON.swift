internal import ByteStorage
internal import KafkaClient
internal import LinkCoordinator
internal import RouteAnalysis
internal import RouteTools
internal import StrictJSON

extension DecisionSentence {
    /// Creates the sentence of a report's decision, with the value at fault if the same tables explain it.
    init(_ report: WhyReport, _ mask: RecordMask) {
        let decision = report.decision.json ?? JSONValue(.null)
        guard !mask.isOn else {
            self.init(mask.decision(decision), explanation: nil, table: nil)
            return
        }
        let trace = report.isSame == true ? report.explanation?.decision?.json : nil
        let explanation = trace.flatMap { try? JSONValue.parse($0, maxDepth: DecisionTape.depth) }
        self.init(decision, explanation: explanation, table: report.isSame == true ? report.table?.table : nil)
    }
}

/// The JSON text of the report.
extension WhyReport {
    /// Prints the report as one JSON object.
    func printJSON(on out: Channel) {
        var json = JSONText()
        json.beginObject()
        write(to: &json)
        json.endObject()
        out.line(json.finish())
    }

    /// Writes the members of the report.
    ///
    /// - Parameters:
    ///   - json: The text.
    ///   - mask: The replacement of what identifies people, or nil for none.
    func write(to json: inout JSONText, mask: RecordMask? = nil) {
        let mask = mask.flatMap { $0.isOn ? $0 : nil }
        if let mask {
            json.value("decision", mask.decision(decision.json ?? JSONValue(.null)))
        } else {
            json.raw("decision", decision.value ?? Array("null".utf8))
        }
        json.beginObject("record")
        Self.writePosition(decision, &json)
        json.endObject()
        writeInput(mask, &json)
        json.text("identity", identity)
        if let table {
            json.beginObject("table")
            json.text("identity", table.table.identity)
            json.text("source", table.source)
            json.text("path", table.path)
            json.endObject()
        } else {
            json.raw("table", Array("null".utf8))
        }
        if let isSame { json.boolean("same", isSame) } else { json.raw("same", Array("null".utf8)) }
        json.objects("differences", of: differences) { json, difference in
            json.text("member", difference.member)
            json.text(
                "decided", mask == nil ? difference.decided : difference.decided.map { _ in RecordMask.replacement })
            json.text("now", mask == nil ? difference.now : difference.now.map { _ in RecordMask.replacement })
        }
        json.texts("warnings", warnings(hasValues: mask == nil))
        json.boolean("expired", isExpired)
        // The phases of an explanation contain the parts of the link.
        let explain = mask == nil ? explanation?.decision?.json : nil
        json.raw("explain", explain ?? Array("null".utf8))
    }

    private func writeInput(_ mask: RecordMask?, _ json: inout JSONText) {
        guard let input else { return json.raw("input", Array("null".utf8)) }
        if let mask {
            json.beginObject("input")
            Self.writePosition(input, &json)
            json.text("key", input.key.map { mask.id(String(decoding: $0, as: UTF8.self)) })
            json.beginObject("headers")
            for header in input.headers {
                let name = String(decoding: header.name, as: UTF8.self)
                json.text(name, header.value.map { mask.header(name, String(decoding: $0, as: UTF8.self)) })
            }
            json.endObject()
            json.value("value", mask.event(input.json ?? JSONValue(.null)))
            json.endObject()
            return
        }
        let envelope = input.withViews { record in
            var tape = DecisionTape()
            tape.begin(record.value)
            return OutputArena.text { RecordPrinter.appendEnvelope(record, &tape, to: &$0) }
        }
        json.raw("input", Array(envelope.utf8))
    }

    private static func writePosition(_ record: InspectedRecord, _ json: inout JSONText) {
        json.text("topic", record.topic)
        json.number("partition", Int64(record.partition))
        json.number("offset", record.offset)
        json.number("timestamp", record.timestamp < 0 ? nil : record.timestamp)
    }
}
