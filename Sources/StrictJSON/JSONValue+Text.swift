package import ByteStorage

extension JSONValue {
    /// The value as JSON text without white space.
    package var text: String {
        var arena = OutputArena(chunkBytes: 4096)
        arena.begin()
        write(into: &arena)
        return arena.finish().string
    }

    /// Appends the value as JSON without white space.
    package func write(into arena: inout OutputArena) {
        switch kind {
        case .null: arena.append("null")
        case .bool(let value): value ? arena.append("true") : arena.append("false")
        case .number(let text): arena.append([UInt8](text.utf8))
        case .string(let text): Self.write(text, into: &arena)
        case .array(let elements):
            arena.append("[")
            for (index, element) in elements.enumerated() {
                if index > 0 { arena.append(",") }
                element.write(into: &arena)
            }
            arena.append("]")
        case .object(let members):
            arena.append("{")
            for (index, member) in members.enumerated() {
                if index > 0 { arena.append(",") }
                Self.write(member.name, into: &arena)
                arena.append(":")
                member.value.write(into: &arena)
            }
            arena.append("}")
        }
    }

    private static func write(_ text: String, into arena: inout OutputArena) {
        [UInt8](text.utf8).withUnsafeBufferPointer { arena.appendString(ByteView($0)) }
    }
}
