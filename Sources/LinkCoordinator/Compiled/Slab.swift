internal import ByteStorage

/// The memory of one compiled table: plain values and bytes that never move and never change once the table is made.
///
/// The hot path reads them through bare pointers, so that no record pays for reference counts or bounds checks.
package final class Slab {
    private var blocks: [UnsafeMutableRawPointer] = []

    /// Makes an empty slab.
    package init() {}

    deinit { for block in blocks { block.deallocate() } }

    /// Copies values into the slab.
    package func store<Value: BitwiseCopyable>(_ values: [Value]) -> UnsafeBufferPointer<Value> {
        if values.isEmpty { return UnsafeBufferPointer(start: nil, count: 0) }
        let raw = UnsafeMutableRawPointer.allocate(
            byteCount: MemoryLayout<Value>.stride * values.count, alignment: MemoryLayout<Value>.alignment)
        blocks.append(raw)
        let typed = raw.bindMemory(to: Value.self, capacity: values.count)
        typed.initialize(from: values, count: values.count)
        return UnsafeBufferPointer(start: typed, count: values.count)
    }

    /// Copies bytes into the slab, with padding behind them: they may be copied on in whole words.
    func view(_ bytes: [UInt8]) -> ByteView {
        let padding = [UInt8](repeating: 0, count: OutputArena.padding)
        return ByteView(start: ByteView(store(bytes + padding)).start, count: bytes.count)
    }

    /// Copies a text into the slab, as UTF-8.
    func view(_ text: String) -> ByteView { view([UInt8](text.utf8)) }
}
