internal import RouteTools
internal import KafkaClient
internal import StrictJSON

/// A format like that of kcat: `%t %p %o %k %K %s %S %T %h %%`, `\n \t`, and `%{member}` of a decision or a header.
struct FormatTokens: Equatable {
    /// A part of a format.
    enum Part: Equatable {
        case text([UInt8])
        case topic, partition, offset, key, keyLength, value, valueLength, timestamp, headers
        case member(String)
    }

    /// The parts, in order.
    let parts: [Part]

    /// Parses a format.
    ///
    /// An unknown token ends with exit code 64.
    init(_ format: String) throws(CommandFailure) {
        var parts: [Part] = []
        var text: [UInt8] = []
        var rest = Substring(format)
        while let character = rest.popFirst() {
            switch character {
            case "%":
                guard let part = try Self.token(&rest) else {
                    text.append(UInt8(ascii: "%"))
                    continue
                }
                if !text.isEmpty { parts.append(.text(text)) }
                text = []
                parts.append(part)
            case "\\": text += try Self.escape(&rest)
            default: text += Array(String(character).utf8)
            }
        }
        if !text.isEmpty { parts.append(.text(text)) }
        self.parts = parts
    }

    /// Parses the text after a percent sign.
    ///
    /// Returns nil for a second percent sign.
    private static func token(_ rest: inout Substring) throws(CommandFailure) -> Part? {
        switch rest.popFirst() {
        case "%": return nil
        case "t": return .topic
        case "p": return .partition
        case "o": return .offset
        case "k": return .key
        case "K": return .keyLength
        case "s": return .value
        case "S": return .valueLength
        case "T": return .timestamp
        case "h": return .headers
        case "{":
            guard let end = rest.firstIndex(of: "}"), end != rest.startIndex else { throw unknown("%{") }
            defer { rest = rest[rest.index(after: end)...] }
            return .member(String(rest[..<end]))
        case let other: throw unknown("%" + (other.map(String.init) ?? ""))
        }
    }

    private static func escape(_ rest: inout Substring) throws(CommandFailure) -> [UInt8] {
        switch rest.popFirst() {
        case "n": return [0x0A]
        case "t": return [0x09]
        case "r": return [0x0D]
        case "0": return [0x00]
        case "\\": return [UInt8(ascii: "\\")]
        case "x":
            guard let byte = UInt8(rest.prefix(2), radix: 16), rest.count >= 2 else { throw unknown("\\x") }
            rest = rest.dropFirst(2)
            return [byte]
        case let other: throw unknown("\\" + (other.map(String.init) ?? ""))
        }
    }

    private static func unknown(_ token: String) -> CommandFailure {
        CommandFailure(
            .usage, "`\(Escaping.visible(token))` is not a valid format token",
            advice: "use %t %p %o %k %K %s %S %T %h %% %{member} \\n \\t")
    }

    /// Returns a record in the format.
    ///
    /// - Parameter escaped: A Boolean value that indicates whether control characters become visible escapes.
    func bytes(_ record: InspectedRecord, _ json: JSONValue?, escaped: Bool) -> [UInt8] {
        var result: [UInt8] = []
        for part in parts {
            if case .text(let text) = part {
                result += text
                continue
            }
            let bytes = Self.bytes(part, record, json)
            result += escaped ? Array(Escaping.visible(bytes).utf8) : bytes
        }
        return result
    }

    private static func bytes(_ part: Part, _ record: InspectedRecord, _ json: JSONValue?) -> [UInt8] {
        switch part {
        case .text(let text): text
        case .topic: Array(record.topic.utf8)
        case .partition: Array(String(record.partition).utf8)
        case .offset: Array(String(record.offset).utf8)
        case .key: record.key ?? []
        case .keyLength: Array(String(record.key?.count ?? -1).utf8)
        case .value: record.value ?? []
        case .valueLength: Array(String(record.value?.count ?? -1).utf8)
        case .timestamp: Array(String(record.timestamp).utf8)
        case .headers: headers(record)
        case .member(let name): member(name, record, json)
        }
    }

    private static func headers(_ record: InspectedRecord) -> [UInt8] {
        var result: [UInt8] = []
        for header in record.headers {
            if !result.isEmpty { result.append(UInt8(ascii: ",")) }
            result += header.name + [UInt8(ascii: "=")] + (header.value ?? Array("NULL".utf8))
        }
        return result
    }

    private static func member(_ name: String, _ record: InspectedRecord, _ json: JSONValue?) -> [UInt8] {
        guard let value = json?[name] else { return Array((record.header(name) ?? "").utf8) }
        if let string = value.string { return Array(string.utf8) }
        return Array(value.text.utf8)
    }
}
