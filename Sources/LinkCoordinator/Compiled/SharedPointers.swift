/// The pointers of several tables as one trie, so that a payload is read once for all of them.
final class SharedPointers: @unchecked Sendable {
    // `@unchecked Sendable` is safe because the storage is written only during initialization.

    private let storage: TableStorage
    private let trie: Ref<PointerTrie>
    private let numbers: [UnsafePointer<Int32>?]

    /// Joins the pointers of the tables.
    init(_ sources: [TableSource]) {
        let storage = TableStorage()
        var builder = PointerTrieBuilder()
        var numbers: [[Int32]] = []
        for source in sources { numbers.append(source.payloadPointers.map { builder.number(of: $0) }) }
        trie = builder.store(in: storage)
        self.numbers = numbers.map { storage.store($0).baseAddress }
        self.storage = storage
    }

    /// Returns a handle of the table at `index` with the pointers of all tables.
    func handle(_ table: CompiledTable, at index: Int) -> TableHandle {
        TableHandle(data: table.data, pointers: trie, numbers: numbers[index])
    }
}
