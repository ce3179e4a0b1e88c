internal import CLibrary
internal import CPlatform

/// The directory in which a worker keeps its state, for one process at a time.
///
/// The process holds a lock on the file `lock` until this object is freed. The system releases the lock when the
/// process ends for any reason.
package final class StateDirectory: Sendable {
    /// The path of the directory.
    package let path: String
    private let lock: Int32

    /// Takes a directory, which is created if its parent exists.
    package init(path: String) throws(StateDirectoryError) {
        self.path = path
        // If the directory cannot be created, opening the file fails, and the reason why `mkdir` failed is reported.
        let missing = mkdir(path, 0o700) == 0 ? ENOENT : errno
        lock = linkd_lock_file(path + "/lock")
        guard lock < 0 else { return }
        let code = errno == ENOENT && missing != EEXIST ? missing : errno
        if code == EWOULDBLOCK {
            throw StateDirectoryError(
                reason: "another process uses the state directory \(path)",
                advice: "set state.dir to another directory for each process")
        }
        throw StateDirectoryError(
            reason: "the state directory \(path) cannot be used: \(String(cString: strerror(code)))",
            advice: "set state.dir to a directory in which this user can create files")
    }

    deinit { linkd_unlock_file(lock) }

    /// Returns the reason why a worker could not use a directory, or nil if it could, without taking it.
    package static func problem(at path: String) -> StateDirectoryError? {
        var found = stat()
        let exists = stat(path, &found) == 0
        let parent = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        guard access(exists ? path : parent, W_OK | X_OK) == 0 else {
            let reason = String(cString: strerror(errno))
            return StateDirectoryError(
                reason: "the state directory \(path) cannot be " + (exists ? "written: " : "created: ") + reason,
                advice: "set state.dir to a directory in which this user can create files")
        }
        guard exists, found.st_mode & S_IFMT != S_IFDIR else { return nil }
        return StateDirectoryError(
            reason: "the state directory \(path) is not a directory", advice: "set state.dir to a directory")
    }

    /// The number of bytes that this user can still write there, or nil if the system does not report it.
    ///
    /// It is 0 if no file can be created.
    package var freeBytes: Int64? { Self.freeBytes(at: path) }

    /// Returns the number of bytes that this user can still write in a directory, or nil if it is unknown.
    package static func freeBytes(at path: String) -> Int64? {
        var found = statvfs()
        guard statvfs(path, &found) == 0 else { return nil }
        // Some file systems have no limit on the number of files, and report none.
        if found.f_files > 0, found.f_favail == 0 { return 0 }
        let (bytes, isTooLarge) = UInt64(found.f_bavail).multipliedReportingOverflow(by: UInt64(found.f_frsize))
        return isTooLarge ? .max : Int64(clamping: bytes)
    }

    /// Returns the path of a file in the directory.
    package func file(_ name: String) -> String { path + "/" + name }
}

/// The reason why a state directory cannot be used.
package struct StateDirectoryError: Error, Sendable, Equatable {
    /// The reason, without a final period.
    package var reason: String
    /// The next step, without a final period.
    package var advice: String
}
