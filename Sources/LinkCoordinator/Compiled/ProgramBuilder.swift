internal import ByteStorage
internal import StrictJSON

/// Builds the program of an entry or a stack.
///
/// Adjacent constant parts are merged.
struct ProgramBuilder {
    private enum Step {
        case bytes([UInt8])
        case value(Int)
        case text(Int)
        case identityStart([UInt8])
        case identityEnd([UInt8])
    }

    private var steps: [Step] = []

    /// Adds constant bytes.
    mutating func add(_ text: String) {
        let bytes = [UInt8](text.utf8)
        if case .bytes(let before)? = steps.last {
            steps[steps.count - 1] = .bytes(before + bytes)
        } else {
            steps.append(.bytes(bytes))
        }
    }

    /// Adds a JSON string with its quotes.
    mutating func add(string: String) { add(Self.quoted(string)) }

    /// Adds the JSON of a field's value.
    mutating func add(value field: Int) { steps.append(.value(field)) }

    /// Adds another program.
    mutating func add(_ other: ProgramBuilder) {
        for step in other.steps {
            if case .bytes(let bytes) = step {
                add(String(decoding: bytes, as: UTF8.self))
            } else {
                steps.append(step)
            }
        }
    }

    /// Adds the member `identity` of a template over fields.
    ///
    /// The member is omitted if its text is empty.
    mutating func add(identity parts: [IdentityPart]) {
        let start = ",\"identity\":\""
        let neverEmpty = parts.contains { part in
            switch part {
            case .text(let text): !text.isEmpty
            case .field(_, let neverEmpty): neverEmpty
            }
        }
        if neverEmpty { add(start) } else { steps.append(.identityStart([UInt8](start.utf8))) }
        for part in parts {
            switch part {
            case .text(let text): add(String(Self.quoted(text).dropFirst().dropLast()))
            case .field(let field, _): steps.append(.text(field))
            }
        }
        if neverEmpty { add("\"") } else { steps.append(.identityEnd([UInt8(ascii: "\"")])) }
    }

    /// A part of an identity template.
    enum IdentityPart {
        case text(String)
        case field(Int, neverEmpty: Bool)
    }

    /// Compiles the program.
    func store(in storage: TableStorage) -> Program {
        var constant = 0
        let ops = steps.map { step in
            switch step {
            case .bytes(let bytes):
                constant += bytes.count
                return Op(kind: .bytes, field: 0, bytes: storage.view(bytes))
            case .value(let field): return Op(kind: .value, field: Int32(field), bytes: .empty)
            case .text(let field): return Op(kind: .text, field: Int32(field), bytes: .empty)
            case .identityStart(let bytes):
                constant += bytes.count
                return Op(kind: .identityStart, field: 0, bytes: storage.view(bytes))
            case .identityEnd(let bytes):
                constant += bytes.count
                return Op(kind: .identityEnd, field: 0, bytes: storage.view(bytes))
            }
        }
        return Program(ops: storage.store(ops), constantBytes: constant)
    }

    /// Returns a text as a JSON string.
    static func quoted(_ text: String) -> String {
        // Checked names need no escapes. The names of a refused table, which can still be explained, may be any text.
        let isPlain = text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C }
        if isPlain { return "\"" + text + "\"" }
        var arena = OutputArena(chunkBytes: 4096)
        arena.begin()
        [UInt8](text.utf8).withUnsafeBufferPointer { arena.appendString(ByteView($0)) }
        return arena.finish().string
    }
}
