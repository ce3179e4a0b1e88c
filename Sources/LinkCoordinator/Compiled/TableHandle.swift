/// An unowned reference to a compiled table, which avoids reference counting for each record.
///
/// The caller must keep the table, or the set that contains it, alive as long as it uses the handle.
package struct TableHandle: BitwiseCopyable, Equatable, @unchecked Sendable {
    // `@unchecked Sendable` is safe because the pointers refer to memory that never changes.
    let data: Ref<CompiledTableData>
    /// The pointers to read in a payload: those of the table, or of all tables that are served with it.
    let pointers: Ref<PointerTrie>
    /// The positions of the table's own pointers among them.
    let numbers: UnsafePointer<Int32>?

    /// Returns a Boolean value that indicates whether both handles refer to the same table.
    package static func == (a: TableHandle, b: TableHandle) -> Bool { a.data.pointer == b.data.pointer }
}
