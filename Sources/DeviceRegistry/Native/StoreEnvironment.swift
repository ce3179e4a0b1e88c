internal import CLMDB
internal import CLibrary

/// LMDB's environment: one file with one tree of keys.
///
/// It is closed, and the directory is released, when the store and its snapshots have released it.
final class StoreEnvironment: @unchecked Sendable {
    // Unchecked because LMDB's environment can be used by all threads, and nothing here changes.

    let directory: StoreDirectory
    fileprivate let pointer: OpaquePointer
    fileprivate let tree: MDB_dbi

    /// Opens the data file, or creates it.
    ///
    /// LMDB trusts the pages of the file, so they must have been checked before.
    init(_ directory: StoreDirectory, mapBytes: Int) throws(RegistryStoreError) {
        self.directory = directory
        directory.removeLocks()
        var created: OpaquePointer?
        let code = mdb_env_create(&created)
        guard code == 0, let created else { throw Self.error(code, directory) }
        var tree: MDB_dbi = 0
        do throws(RegistryStoreError) {
            // Without MDB_WRITEMAP: pages are written with `pwrite`, which reports a full disk, and commits are whole
            // when the process is killed.
            let flags = UInt32(MDB_NOTLS | MDB_NORDAHEAD | MDB_NOSYNC)
            for code in [
                mdb_env_set_mapsize(created, mapBytes), mdb_env_set_maxreaders(created, 1024),
                mdb_env_open(created, directory.path, flags, 0o600),
            ] where code != 0 { throw Self.error(code, directory) }
            var transaction: OpaquePointer?
            var code = mdb_txn_begin(created, nil, UInt32(MDB_RDONLY), &transaction)
            if code == 0 {
                code = mdb_dbi_open(transaction, nil, 0, &tree)
                mdb_txn_abort(transaction)
            }
            if code != 0 { throw Self.error(code, directory) }
        } catch {
            mdb_env_close(created)
            throw error
        }
        pointer = created
        self.tree = tree
    }

    deinit { mdb_env_close(pointer) }

    /// The size of the part of the file that is in use, in bytes.
    var bytes: Int {
        var info = MDB_envinfo()
        var figures = MDB_stat()
        guard mdb_env_info(pointer, &info) == 0, mdb_env_stat(pointer, &figures) == 0 else { return 0 }
        return (info.me_last_pgno + 1) * Int(figures.ms_psize)
    }

    /// Returns the size of a page and the size of the file, or nil if a page is larger than one of the system.
    ///
    /// A file from another machine can have such pages, whose places in memory are not multiples of their size.
    fileprivate func sizes() -> (page: Int, file: Int)? {
        var figures = MDB_stat()
        var descriptor: mdb_filehandle_t = -1
        var file = stat()
        guard mdb_env_stat(pointer, &figures) == 0, mdb_env_get_fd(pointer, &descriptor) == 0,
            fstat(descriptor, &file) == 0, figures.ms_psize > 0, Int(figures.ms_psize) <= sysconf(Int32(_SC_PAGESIZE))
        else { return nil }
        return (Int(figures.ms_psize), Int(file.st_size))
    }

    /// Waits until everything is on the disk.
    func sync() throws(RegistryStoreError) { try check(mdb_env_sync(pointer, 1)) }

    /// Throws the error of a code that is not 0.
    fileprivate func check(_ code: Int32) throws(RegistryStoreError) {
        if code != 0 { throw Self.error(code, directory) }
    }

    private static func error(_ code: Int32, _ directory: StoreDirectory) -> RegistryStoreError {
        switch code {
        case MDB_MAP_FULL: .mapFull(directory: directory.path)
        case MDB_READERS_FULL: .tooManySnapshots
        case MDB_CORRUPTED, MDB_PAGE_NOTFOUND, MDB_INVALID, MDB_VERSION_MISMATCH: .damaged(directory: directory.path)
        // A write that stops at the end of a disk is EIO for LMDB.
        case EIO where directory.isFull: .noSpace(directory: directory.path)
        case 1...: StoreDirectory.failure(code, directory.path)
        default: .failed(directory: directory.path, reason: String(cString: mdb_strerror(code)))
        }
    }
}

/// A transaction that changes the store, and that is aborted unless it is committed.
struct StoreWriter: ~Copyable {
    private let environment: StoreEnvironment
    private var transaction: OpaquePointer?
    private let cursor: OpaquePointer

    /// Begins a transaction.
    init(_ environment: StoreEnvironment) throws(RegistryStoreError) {
        self.environment = environment
        var transaction: OpaquePointer?
        try environment.check(mdb_txn_begin(environment.pointer, nil, 0, &transaction))
        var cursor: OpaquePointer?
        let code = mdb_cursor_open(transaction, environment.tree, &cursor)
        guard code == 0, let cursor else {
            mdb_txn_abort(transaction)
            throw .failed(directory: environment.directory.path, reason: String(cString: mdb_strerror(code)))
        }
        self.transaction = transaction
        self.cursor = cursor
    }

    deinit { if let transaction { mdb_txn_abort(transaction) } }

    /// Returns the value of a key, which is valid until the next change, or nil if there is none.
    func find(_ key: UnsafeRawBufferPointer) throws(RegistryStoreError) -> UnsafeRawBufferPointer? {
        var (key, value) = (MDB_val(key), MDB_val())
        let code = mdb_cursor_get(cursor, &key, &value, MDB_SET)
        if code == MDB_NOTFOUND { return nil }
        try environment.check(code)
        return value.bytes
    }

    /// Adds a key with a value, or returns the key's value and changes nothing, so that `replace` or `remove` can
    /// follow.
    func insert(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
    ) throws(RegistryStoreError) -> UnsafeRawBufferPointer? {
        var (key, value) = (MDB_val(key), MDB_val(value))
        let code = mdb_cursor_put(cursor, &key, &value, UInt32(MDB_NOOVERWRITE))
        if code == MDB_KEYEXIST { return value.bytes }
        try environment.check(code)
        return nil
    }

    /// Replaces the value of the key that was found last.
    func replace(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(RegistryStoreError) {
        var (key, value) = (MDB_val(key), MDB_val(value))
        try environment.check(mdb_cursor_put(cursor, &key, &value, UInt32(MDB_CURRENT)))
    }

    /// Removes the key that was found last.
    func remove() throws(RegistryStoreError) { try environment.check(mdb_cursor_del(cursor, 0)) }

    /// Adds a key with a value, or replaces its value.
    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(RegistryStoreError) {
        var (key, value) = (MDB_val(key), MDB_val(value))
        try environment.check(mdb_cursor_put(cursor, &key, &value, 0))
    }

    /// Ends the transaction, whose changes later snapshots see all at once.
    ///
    /// After an error nothing has changed.
    consuming func commit() throws(RegistryStoreError) {
        let open = transaction
        transaction = nil
        try environment.check(mdb_txn_commit(open))
    }
}

/// A transaction that reads the store, and that is renewed again and again.
final class StoreReader {
    private let environment: StoreEnvironment
    private var transaction: OpaquePointer?
    private var cursor: OpaquePointer?
    private var file: UnsafeRawPointer?

    init(_ environment: StoreEnvironment) { self.environment = environment }

    deinit {
        if let cursor { mdb_cursor_close(cursor) }
        if let transaction { mdb_txn_abort(transaction) }
    }

    /// Begins to read the newest state.
    func begin() throws(RegistryStoreError) {
        if let transaction {
            try environment.check(mdb_txn_renew(transaction))
        } else {
            try environment.check(mdb_txn_begin(environment.pointer, nil, UInt32(MDB_RDONLY), &transaction))
        }
        if let cursor {
            try environment.check(mdb_cursor_renew(transaction, cursor))
        } else {
            try environment.check(mdb_cursor_open(transaction, environment.tree, &cursor))
        }
    }

    /// Releases the state, so that its pages can be used again.
    func end() { if let transaction { mdb_txn_reset(transaction) } }

    /// Returns the pages of the state that is read, or nil if they are not as expected, or if there are newer states.
    ///
    /// Transactions write the two meta pages in turns. While the next transaction has not written its page, the one
    /// after it cannot overwrite the page of this state.
    func pages() -> PageSearch.Pages? {
        guard let sizes = environment.sizes(), sizes.file >= 2 * sizes.page else { return nil }
        // LMDB does not move the file in memory.
        file = file ?? findFile(pageBytes: sizes.page)
        guard let file else { return nil }
        let isOdd = mdb_txn_id(transaction) & 1 == 1
        let own = file + PageFormat.head + (isOdd ? sizes.page : 0)
        let other = file + PageFormat.head + (isOdd ? 0 : sizes.page)
        let tree = own + PageFormat.mainTree
        let pages = PageSearch.Pages(
            file: file, count: UInt64(sizes.file / sizes.page), pageBytes: sizes.page,
            root: tree.loadUnaligned(fromByteOffset: PageFormat.root, as: UInt64.self),
            depth: Int(tree.loadUnaligned(fromByteOffset: PageFormat.depth, as: UInt16.self)))
        // The call keeps the compiler from reading the transactions before the tree. LMDB itself does no more.
        let number = UInt64(truncatingIfNeeded: mdb_txn_id(transaction))
        guard own.loadUnaligned(fromByteOffset: PageFormat.transaction, as: UInt64.self) == number,
            other.loadUnaligned(fromByteOffset: PageFormat.transaction, as: UInt64.self) < number
        else { return nil }
        return pages
    }

    /// Returns the address of the file in memory, or nil if the state cannot be read.
    ///
    /// LMDB does not tell the address. Pages know their numbers, so the address of one value is enough to compute it.
    private func findFile(pageBytes: Int) -> UnsafeRawPointer? {
        guard let value = withUnsafeBytes(of: StoreKey.state, find)?.baseAddress else { return nil }
        let page = value - Int(bitPattern: value) % pageBytes
        return page - page.load(as: Int.self) * pageBytes
    }

    /// Returns the value of a key, nil if there is none, or an empty value if LMDB cannot read it.
    @inline(__always)
    func find(_ key: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        var (key, value) = (MDB_val(key), MDB_val())
        let code = mdb_get(transaction, environment.tree, &key, &value)
        if code == MDB_NOTFOUND { return nil }
        return code == 0 ? value.bytes : UnsafeRawBufferPointer(start: nil, count: 0)
    }

    /// Returns the first key that does not precede a key, or nil if there is none.
    func seek(_ key: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        var (key, value) = (MDB_val(key), MDB_val())
        return mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE) == 0 ? key.bytes : nil
    }

    /// Returns the value of the key that `seek` or `next` has found, or nil if LMDB cannot read it.
    func value() -> UnsafeRawBufferPointer? {
        var (key, value) = (MDB_val(), MDB_val())
        return mdb_cursor_get(cursor, &key, &value, MDB_GET_CURRENT) == 0 ? value.bytes : nil
    }

    /// Returns the key after the last one, or nil if there is none.
    func next() -> UnsafeRawBufferPointer? {
        var (key, value) = (MDB_val(), MDB_val())
        return mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0 ? key.bytes : nil
    }
}

extension MDB_val {
    @inline(__always)
    fileprivate init(_ bytes: UnsafeRawBufferPointer) {
        // LMDB does not change the bytes, although its type says so.
        self.init(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }

    @inline(__always)
    fileprivate var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: mv_data, count: mv_size) }
}
