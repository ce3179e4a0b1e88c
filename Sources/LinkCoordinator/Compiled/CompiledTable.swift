internal import ByteStorage
internal import StrictJSON

/// A table in the form that the resolver reads: immutable plain values in the table's own memory.
package final class CompiledTable: @unchecked Sendable {
    // `@unchecked Sendable` is safe because the storage is written only while the table is compiled.

    private let slab: TableStorage
    /// The table's compiled values.
    package let image: Ref<CompiledTableData>
    private let pointers: Ref<PointerTrie>
    private let numbers: UnsafePointer<Int32>?

    private static let serials = Lock<UInt64>(0)

    /// Compiles a checked table.
    ///
    /// `hash` is the first 8 hexadecimal digits of the SHA-256 of its file.
    package init(_ source: TableSource, hash: String) {
        let slab = TableStorage()
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

    /// A handle to the table for the resolver.
    ///
    /// It is valid as long as this object.
    package var handle: TableHandle { TableHandle(image: image, pointers: pointers, numbers: numbers) }
}

/// An unowned reference to a compiled table, which avoids reference counting for each record.
///
/// The caller must keep the table, or the set that contains it, alive as long as it uses the handle.
package struct TableHandle: BitwiseCopyable, Equatable, @unchecked Sendable {
    // `@unchecked Sendable` is safe because the pointers refer to memory that never changes.
    let image: Ref<CompiledTableData>
    /// The pointers to read in a payload: those of the table, or of all tables that are served with it.
    let pointers: Ref<PointerTrie>
    /// The positions of the table's own pointers among them.
    let numbers: UnsafePointer<Int32>?

    /// Returns a Boolean value that indicates whether both handles refer to the same table.
    package static func == (a: TableHandle, b: TableHandle) -> Bool { a.image.pointer == b.image.pointer }
}
