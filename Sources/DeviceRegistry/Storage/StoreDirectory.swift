internal import CLMDB
internal import CLibrary
internal import CPlatform

/// The directory of a store, for one process at a time.
///
/// It has LMDB's files, a lock, and a mark that exists while the store is open. The mark is a file of its own, because
/// after a crash of the machine LMDB's pages can be a mixture of old and new ones.
final class StoreDirectory: Sendable {
    /// The end of the last process that had the store open.
    enum Mark: Equatable {
        /// It closed the store.
        case none
        /// It did not close the store, and it ran in this boot of the machine.
        case open(bootID: String)
        /// It found that the store is damaged.
        case damaged
    }

    /// The path of the directory.
    let path: String
    private let lock: Int32
    /// The size of the mark, which does not change, so that it can be written when the disk is full.
    private static let markBytes = 128

    /// Takes a directory, which is created if its parent exists.
    init(path: String) throws(RegistryStoreError) {
        self.path = path
        let missing = mkdir(path, 0o700) == 0 ? ENOENT : errno
        lock = linkd_lock_file(path + "/lock")
        guard lock < 0 else { return }
        let code = errno == ENOENT && missing != EEXIST ? missing : errno
        if code == EWOULDBLOCK { throw .inUse(directory: path) }
        throw Self.failure(code, path)
    }

    deinit { linkd_unlock_file(lock) }

    /// Returns the error for a code of the system.
    static func failure(_ code: Int32, _ path: String) -> RegistryStoreError {
        switch code {
        case ENOSPC, EDQUOT, EFBIG: .noSpace(directory: path)
        default: .unusable(directory: path, reason: String(cString: strerror(code)))
        }
    }

    /// The path of LMDB's data file.
    var dataFile: String { path + "/data.mdb" }

    /// Reads the mark.
    ///
    /// A mark that cannot be read counts as damage.
    func readMark() -> Mark {
        let file = open(path + "/mark", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return errno == ENOENT ? .none : .damaged }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: Self.markBytes)
        let count = max(read(file, &bytes, bytes.count), 0)
        let words = String(decoding: bytes.prefix(count), as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard words.first == "open", count == Self.markBytes else { return .damaged }
        return .open(bootID: words.count > 1 ? String(words[1]) : "")
    }

    /// Writes the mark of an open or of a damaged store, so that it outlives a crash of the machine.
    func write(_ mark: Mark) throws(RegistryStoreError) {
        var text = "damaged"
        if case .open(let bootID) = mark { text = "open \(bootID)" }
        var bytes = Array(text.utf8.prefix(Self.markBytes - 1))
        bytes += Array(repeating: 0x20, count: Self.markBytes - 1 - bytes.count) + [0x0A]
        let file = open(path + "/mark", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Self.failure(errno, path) }
        defer { close(file) }
        guard pwrite(file, bytes, bytes.count, 0) == bytes.count, fsync(file) == 0 else {
            throw Self.failure(errno, path)
        }
        syncNames()
    }

    /// Removes the mark, after which the store counts as closed.
    func removeMark() {
        unlink(path + "/mark")
        syncNames()
    }

    /// Deletes the store.
    func removeStore() {
        unlink(dataFile)
        removeLocks()
        removeMark()
    }

    /// Deletes LMDB's own lock file, in which processes that were killed can have left readers and locks.
    func removeLocks() { unlink(path + "/lock.mdb") }

    /// Calls a function with the bytes of the data file, or returns nil if there is no such file.
    func withData<Result>(_ body: (UnsafeRawBufferPointer) -> Result) throws(RegistryStoreError) -> Result? {
        let file = open(dataFile, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw Self.failure(errno, path)
        }
        defer { close(file) }
        var found = stat()
        guard fstat(file, &found) == 0 else { throw Self.failure(errno, path) }
        let count = Int(found.st_size)
        guard count > 0 else { return body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        guard let start = mmap(nil, count, PROT_READ, MAP_SHARED, file, 0), start != MAP_FAILED else {
            throw Self.failure(errno, path)
        }
        defer { munmap(start, count) }
        // Pages are read in the order of keys, so the system is told to read the file in large pieces.
        madvise(start, count, MADV_WILLNEED)
        return body(UnsafeRawBufferPointer(start: start, count: count))
    }

    /// A Boolean value that indicates whether nearly nothing more can be written.
    ///
    /// LMDB reports the same error for a bad disk and for a disk that becomes full during a write.
    var isFull: Bool {
        let margin: UInt64 = 1 << 20
        var data = stat()
        if stat(dataFile, &data) == 0, linkd_file_size_limit() < UInt64(clamping: data.st_size) + margin {
            return true
        }
        var found = statvfs()
        // The directory of a temporary store has no name any more.
        return fstatvfs(lock, &found) == 0 && UInt64(found.f_bavail) * UInt64(found.f_frsize) < margin
    }

    private func syncNames() {
        let directory = open(path, O_RDONLY | O_CLOEXEC)
        guard directory >= 0 else { return }
        fsync(directory)
        close(directory)
    }
}

extension RegistryStore {
    /// Deletes the store of a directory and the directory, if nothing else is in it.
    ///
    /// The store must be closed.
    package static func remove(directory: String) {
        for name in ["data.mdb", "lock.mdb", "lock", "mark"] { unlink(directory + "/" + name) }
        rmdir(directory)
    }
}
