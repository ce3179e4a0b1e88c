internal import ByteStorage
internal import KafkaClient
internal import RouteTools

/// A format like that of kcat: `%t %p %o %k %K %s %S %T %h %%`, `\n \t`, and `%{member}` of a decision or a header.
struct FormatTokens: Equatable {
    /// A part of a format.
    enum Part: Equatable {
        case text([UInt8])
        case topic, partition, offset, key, keyLength, value, valueLength, timestamp, headers
        case member(MemberPath)
    }

    /// The name of a member or a header, or the path of a member, with a period before each further step.
    struct MemberPath: Equatable {
        /// The whole name.
        let name: [UInt8]
        /// The steps of the path.
        let steps: [[UInt8]]

        init(_ text: Substring) {
            name = Array(text.utf8)
            steps = text.split(separator: ".", omittingEmptySubsequences: false).map { Array($0.utf8) }
        }
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
            return .member(MemberPath(rest[..<end]))
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

    /// Appends a record in the format.
    ///
    /// - Parameters:
    ///   - decision: The members of the record's value.
    ///   - escaped: A Boolean value that indicates whether control characters become visible escapes.
    func append(
        _ record: ScannedRecord, _ decision: inout DecisionTape, escaped: Bool, to out: inout OutputArena
    ) {
        for part in parts {
            switch part {
            case .text(let text): out.append(text)
            case .topic: out.append(text: record.topic)
            case .partition: out.append(decimal: Int64(record.partition))
            case .offset: out.append(decimal: record.offset)
            case .key: Self.append(record.key ?? .empty, escaped, to: &out)
            case .keyLength: out.append(decimal: Int64(record.key?.count ?? -1))
            case .value: Self.append(record.value ?? .empty, escaped, to: &out)
            case .valueLength: out.append(decimal: Int64(record.value?.count ?? -1))
            case .timestamp: out.append(decimal: record.timestamp)
            case .headers: Self.appendHeaders(record, escaped, to: &out)
            case .member(let path): Self.append(path, record, &decision, escaped, to: &out)
            }
        }
    }

    private static func append(_ bytes: ByteView, _ escaped: Bool, to out: inout OutputArena) {
        if escaped { out.append(visible: bytes) } else { out.append(bytes) }
    }

    private static func appendHeaders(_ record: ScannedRecord, _ escaped: Bool, to out: inout OutputArena) {
        for (index, header) in record.headers.enumerated() {
            if index > 0 { out.append(",") }
            append(header.name, escaped, to: &out)
            out.append("=")
            append(header.value ?? ByteView("NULL" as StaticString), escaped, to: &out)
        }
    }

    /// Appends the header of a dead letter, else the member with the name, else the member at the path, else the
    /// header.
    private static func append(
        _ path: MemberPath, _ record: ScannedRecord, _ decision: inout DecisionTape, _ escaped: Bool,
        to out: inout OutputArena
    ) {
        let header = record.headers.isEmpty ? nil : path.name.withUnsafeBufferPointer { record.header(ByteView($0)) }
        if let header, record.isDeadLetter { return append(header, escaped, to: &out) }
        var node = decision.node([path.name])
        if node < 0, path.steps.count > 1 { node = decision.node(path.steps) }
        if node >= 0 {
            decision.withText(of: node) { append($0, escaped, to: &out) }
        } else if let header {
            append(header, escaped, to: &out)
        }
    }
}
