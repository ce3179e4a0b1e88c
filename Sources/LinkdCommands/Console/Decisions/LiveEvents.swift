internal import DecisionIndex
internal import StrictJSON

/// The texts of server-sent events of rows.
enum LiveEvents {
    /// The limit of the text of an event's id, in bytes, which a browser sends back in a header.
    static let idLimit = 4096

    /// Returns the text of a vector of offsets, such as `0.3:1200,1.0:7`, or nothing if it is too long.
    static func id(_ next: [RowSource: Int64]) -> String {
        var text = ""
        for (source, offset) in next {
            if !text.isEmpty { text += "," }
            text += "\(source.topic).\(source.partition):\(offset)"
            if text.utf8.count > idLimit { return "" }
        }
        return text
    }

    /// Reads a vector of offsets, or returns nil if the text is none.
    static func offsets(_ text: String) -> [RowSource: Int64]? {
        guard text.utf8.count <= idLimit + 64 else { return nil }
        var result: [RowSource: Int64] = [:]
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let pair = part.split(separator: ":", omittingEmptySubsequences: false)
            let place = pair[0].split(separator: ".", omittingEmptySubsequences: false)
            guard pair.count == 2, place.count == 2, let topic = Int(place[0]), let partition = Int32(place[1]),
                let source = RowSource(topic: topic, partition: partition), let offset = Int64(pair[1]), offset >= 0,
                result.updateValue(offset, forKey: source) == nil
            else { return nil }
        }
        return result
    }

    /// Returns the bytes of a server-sent event.
    static func event(_ name: String, id: String = "", _ data: String) -> [UInt8] {
        // JSON texts have no line feeds, which would end the data.
        Array("event: \(name)\n\(id.isEmpty ? "" : "id: \(id)\n")data: \(data)\n\n".utf8)
    }

    /// Returns the JSON text of rows.
    static func rows(_ rows: some Sequence<[UInt8]>, dropped: Int) -> String {
        var json = JSONText()
        json.beginObject()
        json.beginArray("rows")
        for row in rows { json.raw(nil, row) }
        json.endArray()
        json.number("dropped", Int64(dropped))
        json.endObject()
        return json.finish()
    }
}
