internal import ByteStorage
internal import StrictJSON

/// A table in the form that the resolver reads: immutable plain values in the table's own memory.
package final class CompiledTable: @unchecked Sendable {
    // `@unchecked Sendable` is safe because the storage is written only while the table is compiled.

    private let storage: TableStorage
    /// The table's compiled values.
    package let data: Ref<CompiledTableData>
    private let pointers: Ref<PointerTrie>
    private let numbers: UnsafePointer<Int32>?

    private static let serials = Lock<UInt64>(0)

    /// Compiles a checked table.
    ///
    /// `hash` is the first 8 hexadecimal digits of the SHA-256 of its file.
    package init(_ source: TableSource, hash: String) {
        let storage = TableStorage()
        let serial = Self.serials.withLock { last in
            last &+= 1
            return last
        }
        var compiler = TableCompiler(source, storage: storage)
        let compiled = compiler.compile(serial: serial, hash: hash)
        self.storage = storage
        data = storage.store([compiled]).at(0)
        pointers = compiler.pointers.store(in: storage)
        numbers = storage.store(Array(0..<Int32(pointers.count))).baseAddress
    }

    /// A handle to the table for the resolver.
    ///
    /// It is valid as long as this object.
    package var handle: TableHandle { TableHandle(data: data, pointers: pointers, numbers: numbers) }
}
