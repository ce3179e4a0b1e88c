internal import ByteStorage
internal import StrictJSON

/// A table in the form that the resolver reads: plain values in memory of its own, made once and never changed.
package final class CompiledTable: @unchecked Sendable {
    // Unchecked: the slab is written while the table is made and only read after.

    private let slab: Slab
    /// The table's compiled values.
    package let image: Ref<TableImage>
    private let pointers: Ref<PointerTrie>
    private let numbers: UnsafePointer<Int32>?

    private static let serials = Lock<UInt64>(0)

    /// Compiles a table that passed its checks; `hash` is the first 8 hex digits of its file's SHA-256.
    package init(_ source: TableSource, hash: String) {
        let slab = Slab()
        let serial = Self.serials.withLock { last in
            last &+= 1
            return last
        }
        var compiler = TableCompiler(source, slab: slab)
        let made = compiler.compile(serial: serial, hash: hash)
        self.slab = slab
        image = slab.store([made]).at(0)
        pointers = compiler.pointers.store(in: slab)
        numbers = slab.store(Array(0..<Int32(pointers.count))).baseAddress
    }

    /// The table as the resolver takes it; valid while this object lives.
    package var handle: TableHandle { TableHandle(image: image, pointers: pointers, numbers: numbers) }
}

/// A compiled table lent to the resolver: no record pays for a reference count.
///
/// Whoever takes one keeps the table, or the set that it is in, for as long.
package struct TableHandle: BitwiseCopyable, Equatable, @unchecked Sendable {
    // Unchecked: a pointer to what never changes once the table is made.
    let image: Ref<TableImage>
    /// The pointers that a payload is read for: the table's own, or those of all tables that it is served with.
    let pointers: Ref<PointerTrie>
    /// The numbers among them of the table's own pointers.
    let numbers: UnsafePointer<Int32>?

    /// Whether both are of the same table.
    package static func == (a: TableHandle, b: TableHandle) -> Bool { a.image.pointer == b.image.pointer }
}
