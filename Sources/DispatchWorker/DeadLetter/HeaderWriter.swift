internal import KafkaClient
internal import ByteStorage

/// A writer that appends headers and stores their bytes in an arena.
struct HeaderWriter {
    var headers: [HeaderView]

    mutating func view(_ name: StaticString, _ value: ByteView, _ arena: inout OutputArena) {
        arena.begin()
        arena.append(value)
        headers.append(HeaderView(name: ByteView(name), value: arena.finish()))
    }

    mutating func bytes(_ name: StaticString, _ value: [UInt8], _ arena: inout OutputArena) {
        value.withUnsafeBufferPointer { view(name, ByteView($0), &arena) }
    }

    mutating func text(_ name: StaticString, _ value: String, _ arena: inout OutputArena) {
        bytes(name, Array(value.utf8), &arena)
    }

    mutating func number(_ name: StaticString, _ value: Int64, _ arena: inout OutputArena) {
        arena.begin()
        arena.append(decimal: value)
        headers.append(HeaderView(name: ByteView(name), value: arena.finish()))
    }

    /// Appends a number as the bytes of its type, the most significant one first, as Java's `ByteBuffer` writes it.
    mutating func bigEndian(_ name: StaticString, _ value: some FixedWidthInteger, _ arena: inout OutputArena) {
        withUnsafeBytes(of: value.bigEndian) { bytes(name, Array($0), &arena) }
    }
}
