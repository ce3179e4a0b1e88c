internal import ByteStorage

/// The memory of a compiled table: plain values and bytes that never move, and never change after compilation.
///
/// The resolver reads them through unowned pointers, without reference counting or bounds checks for each record.
package final class TableStorage {
    private var blocks: [UnsafeMutableRawPointer] = []

    /// Creates empty storage.
    package init() {}

    deinit { for block in blocks { block.deallocate() } }

    /// Copies values into the storage.
    package func store<Value: BitwiseCopyable>(_ values: [Value]) -> UnsafeBufferPointer<Value> {
        if values.isEmpty { return UnsafeBufferPointer(start: nil, count: 0) }
        let raw = UnsafeMutableRawPointer.allocate(
            byteCount: MemoryLayout<Value>.stride * values.count, alignment: MemoryLayout<Value>.alignment)
        blocks.append(raw)
        let typed = raw.bindMemory(to: Value.self, capacity: values.count)
        typed.initialize(from: values, count: values.count)
        return UnsafeBufferPointer(start: typed, count: values.count)
    }

    /// Copies bytes into the storage, followed by padding that allows copying in whole words.
    func view(_ bytes: [UInt8]) -> ByteView {
        let padding = [UInt8](repeating: 0, count: OutputArena.padding)
        return ByteView(start: ByteView(store(bytes + padding)).start, count: bytes.count)
    }

    /// Copies a text into the storage as UTF-8.
    func view(_ text: String) -> ByteView { view([UInt8](text.utf8)) }
}
