internal import CPlatform
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

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
        // A directory that cannot be created is reported when its file cannot be, with the reason of the former.
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

    deinit { close(lock) }

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
