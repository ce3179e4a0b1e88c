internal import ByteStorage
internal import CLibrary
internal import CPlatform
internal import DispatchWorker
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The operating system's services that the commands use.
enum Platform {
    /// The environment variables of this process.
    static var environment: [String: String] { ProcessInfo.processInfo.environment }

    /// The working directory.
    static var currentDirectory: String { FileManager.default.currentDirectoryPath }

    /// The path of this executable with symbolic links resolved, or nil if it is unknown.
    static var executablePath: String? {
        #if os(Linux)
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let length = buffer.withUnsafeMutableBytes { bytes in
            readlink("/proc/self/exe", bytes.baseAddress!.assumingMemoryBound(to: CChar.self), bytes.count)
        }
        return length > 0 ? String(decoding: buffer[..<length], as: UTF8.self) : nil
        #else
        return Bundle.main.executablePath
        #endif
    }

    /// Ends the process.
    ///
    /// The exit handlers of the C libraries do not run, because a thread that waits for a broker may still use their
    /// memory.
    static func end(_ code: Int32) -> Never {
        fflush(nil)
        StopSignals.exitNow(code)
    }

    /// The wall-clock time in milliseconds since 1970.
    static var nowMilliseconds: Int64 { SystemClock.wallMilliseconds() }

    /// Returns the difference of local time from UTC in minutes, or nil if the system does not know it.
    ///
    /// - Parameter seconds: The time in seconds since 1970.
    static func utcOffsetMinutes(at seconds: Int64) -> Int64? {
        var time = time_t(seconds)
        var local = tm()
        guard localtime_r(&time, &local) != nil else { return nil }
        return Int64(local.tm_gmtoff / 60)
    }

    /// The time of a monotonic clock, in seconds.
    static var monotonicSeconds: Double { Double(SystemClock.monotonicNanoseconds()) / 1e9 }

    /// Suspends the thread.
    ///
    /// A signal can end the wait early.
    static func sleep(milliseconds: Int) {
        var time = timespec(tv_sec: milliseconds / 1000, tv_nsec: milliseconds % 1000 * 1_000_000)
        nanosleep(&time, nil)
    }

    /// The number of processors that this process can use.
    static var processors: Int { max(1, ProcessInfo.processInfo.activeProcessorCount) }

    /// Returns a Boolean value that indicates whether the descriptor is a terminal.
    static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

    /// Returns the number of columns of the terminal at the descriptor, or nil.
    static func terminalColumns(_ descriptor: Int32) -> Int? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Writes all bytes, with repeated system calls if necessary.
    ///
    /// Returns false on an error.
    @discardableResult
    static func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Bool {
        var done = 0
        while done < bytes.count {
            let count = systemWrite(descriptor, bytes.baseAddress! + done, bytes.count - done)
            if count < 0 {
                if errno == EINTR || errno == EAGAIN { continue }
                return false
            }
            done += count
        }
        return true
    }

    /// A Boolean value that indicates whether the last system call failed because the reader of a pipe is gone.
    static var isClosedPipe: Bool { errno == EPIPE }

    /// Reads up to `buffer.count` bytes.
    ///
    /// Returns 0 at the end of the input and -1 on an error.
    static func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        while true {
            let count = systemRead(descriptor, buffer)
            if count >= 0 || errno != EINTR { return count }
        }
    }

    /// Waits at most the given time, and returns a Boolean value that indicates whether a read would not block.
    ///
    /// The end of the input counts as readable.
    static func canRead(_ descriptor: Int32, milliseconds: Int32) -> Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&request, 1, milliseconds) > 0
    }

    /// Returns the index of the first occurrence of a byte, or nil if there is none.
    static func firstIndex(of byte: UInt8, in bytes: ByteView) -> Int? {
        guard bytes.count > 0, let found = memchr(bytes.start, Int32(byte), bytes.count) else { return nil }
        return UnsafeRawPointer(found) - UnsafeRawPointer(bytes.start)
    }

    /// Opens a file of events for reading, which may be a named pipe.
    ///
    /// A named pipe is opened before it has a writer, so that `canRead` waits for the writer. Darwin waits here.
    static func open(_ path: String) -> Result<Int32, SystemError> {
        #if canImport(Darwin)
        let descriptor = systemOpen(path, O_RDONLY | O_CLOEXEC)
        #else
        let descriptor = systemOpen(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        if descriptor >= 0 { _ = fcntl(descriptor, F_SETFL, O_RDONLY) }
        #endif
        return descriptor >= 0 ? .success(descriptor) : .failure(SystemError.last)
    }

    /// Closes a descriptor that `open` returned.
    static func close(_ descriptor: Int32) { systemClose(descriptor) }

    /// Opens a regular file for reading without waiting, and fails for other kinds of files.
    private static func openRegular(_ path: String, followsLinks: Bool) -> Result<Int32, SystemError> {
        let descriptor = linkd_open_regular_file(path, followsLinks ? 1 : 0)
        if descriptor >= 0 { return .success(descriptor) }
        guard errno == EINVAL else { return .failure(.last) }
        return .failure(FileStamp(of: path)?.isDirectory == true ? SystemError(text: "it is a directory") : .notRegular)
    }

    /// Returns the contents of a regular file of at most `limit` bytes.
    ///
    /// The file may be replaced with something else at any time, and a named pipe could wait forever. So the kind is
    /// checked after the file was opened, and opening it does not wait. Without `followsLinks`, a symbolic link is an
    /// error.
    static func contents(of path: String, limit: Int, followsLinks: Bool = true) -> Result<[UInt8], SystemError> {
        switch openRegular(path, followsLinks: followsLinks) {
        case .failure(let error): return .failure(error)
        case .success(let descriptor):
            defer { close(descriptor) }
            return contents(ofDescriptor: descriptor, limit: limit)
        }
    }

    private static func contents(ofDescriptor descriptor: Int32, limit: Int) -> Result<[UInt8], SystemError> {
        var all: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = chunk.withUnsafeMutableBytes { read(descriptor, into: $0) }
            if count < 0 { return .failure(SystemError.last) }
            if count == 0 { return .success(all) }
            guard all.count + count <= limit else {
                return .failure(SystemError(text: "the file has more than \(limit) bytes"))
            }
            all += chunk[..<count]
        }
    }

    /// Returns the contents of a regular file that a command needs.
    ///
    /// Without them, the command ends with exit code 78. The reason begins with the subject. With `readsInput`, the
    /// path `-` stands for standard input.
    static func required(
        _ path: String, limit: Int, as subject: String, advice: String = "specify a file that this user can read",
        readsInput: Bool = false
    ) throws(CommandFailure) -> [UInt8] {
        do throws(SystemError) {
            let isInput = readsInput && path == standardStream
            return try (isInput ? contents(ofDescriptor: 0, limit: limit) : contents(of: path, limit: limit)).get()
        } catch {
            throw CommandFailure(.configuration, "\(subject) cannot be read: \(error.text)", advice: advice)
        }
    }

    /// The path that stands for standard input or output.
    static let standardStream = "-"

    /// Returns the path of the file that is replaced for a path, which can be a symbolic link to it.
    ///
    /// Anything but a regular file is an error: a device must stay, and writing to a named pipe can wait forever.
    static func replaceable(_ path: String) -> Result<String, SystemError> {
        if path == standardStream { return .failure(notAFile) }
        guard let stamp = FileStamp(of: path) else {
            var info = stat()
            guard lstat(path, &info) == 0 else { return .success(path) }
            return .failure(SystemError(text: "it is a symbolic link to a missing file"))
        }
        guard stamp.isRegular else { return .failure(SystemError(text: "it is not a regular file")) }
        let real = realpath(path, nil)
        defer { free(real) }
        return real.map { .success(String(cString: $0)) } ?? .failure(.last)
    }

    /// Replaces a file by one with other contents, so that after a crash there is either the old or the new one.
    ///
    /// A file that exists keeps its owner and mode, as far as this user can set them. The contents are first in a new
    /// file beside it. Returns the error if they cannot be written.
    static func replaceFile(_ path: String, with bytes: [UInt8], mode: mode_t = 0o600) -> SystemError? {
        let temporary = path + "." + String(UInt64.random(in: 0 ... .max), radix: 36)
        let descriptor = create(temporary, mode)
        guard descriptor >= 0 else { return .last }
        if let old = FileStamp(of: path), fchown(descriptor, old.owner, old.group) == 0 {
            fchmod(descriptor, old.mode)
        }
        let isWritten = bytes.withUnsafeBytes { write(descriptor, $0) } && fsync(descriptor) == 0
        let error: SystemError? = isWritten && rename(temporary, path) == 0 ? nil : .last
        close(descriptor)
        if error != nil { remove(temporary) }
        return error
    }

    /// Replaces the contents of a file that a user names, which can be a symbolic link.
    static func writeFile(_ path: String, _ bytes: [UInt8], mode: mode_t = 0o600) -> SystemError? {
        switch replaceable(path) {
        case .success(let file): replaceFile(file, with: bytes, mode: mode)
        case .failure(let error): error
        }
    }

    /// The error of a command that writes to a file only.
    private static let notAFile = SystemError(text: "- is standard output, and ./- is a file with this name")

    /// Creates a file that other users can read too, and returns its descriptor.
    ///
    /// A file that exists is an error.
    static func createFile(_ path: String) -> Result<Int32, SystemError> {
        if path == standardStream { return .failure(notAFile) }
        let descriptor = create(path, 0o666)
        return descriptor >= 0 ? .success(descriptor) : .failure(SystemError.last)
    }

    /// Creates a file, without following a symbolic link.
    private static func create(_ path: String, _ mode: mode_t) -> Int32 {
        systemOpen(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    }

    /// Returns bytes in Base64 (RFC 4648, section 4).
    static func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

    /// Returns the bytes of a text in Base64 for URLs (RFC 4648, section 5) without padding, or nil if it is none.
    static func bytes(ofBase64URL text: Substring) -> [UInt8]? {
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        let text = String(text.replacing("-", with: "+").replacing("_", with: "/")) + padding
        return Data(base64Encoded: text).map { Array($0) }
    }

    /// Removes a file.
    static func remove(_ path: String) { unlink(path) }

    /// Creates a directory for this user, unless it exists.
    static func makeDirectory(_ path: String) { mkdir(path, 0o700) }

    /// Returns a Boolean value that indicates whether a file or directory exists at the path.
    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Returns the sorted names in a directory, or an empty array if it cannot be read.
    static func names(in directory: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).sorted()
    }
}

// Calls of the system whose names the platform's members have too.

private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    read(descriptor, buffer.baseAddress, buffer.count)
}

private func systemOpen(_ path: String, _ flags: Int32, _ mode: mode_t = 0) -> Int32 { open(path, flags, mode) }

private func systemClose(_ descriptor: Int32) { _ = close(descriptor) }

/// The identity, the size, and the times of a file.
///
/// At least one of them changes with the contents. Symbolic links are followed.
struct FileStamp: Equatable {
    /// The size in bytes.
    let size: Int64
    /// The time of the last change of the contents: the seconds since 1970, and the nanoseconds.
    let modified: [Int64]
    /// A Boolean value that indicates whether it is a regular file, which can be read without waiting.
    let isRegular: Bool
    /// A Boolean value that indicates whether it is a directory.
    let isDirectory: Bool
    /// The rights of the owner and of others.
    let mode: mode_t
    fileprivate let owner: uid_t
    fileprivate let group: gid_t
    private let changed: [Int64]
    private let device: UInt64
    private let inode: UInt64

    /// Reads the stamp of a file, or returns nil if there is no such file.
    init?(of path: String) {
        var info = stat()
        guard stat(path, &info) == 0 else { return nil }
        device = UInt64(truncatingIfNeeded: info.st_dev)
        inode = UInt64(truncatingIfNeeded: info.st_ino)
        size = Int64(info.st_size)
        isRegular = info.st_mode & S_IFMT == S_IFREG
        isDirectory = info.st_mode & S_IFMT == S_IFDIR
        mode = info.st_mode & 0o7777
        owner = info.st_uid
        group = info.st_gid
        #if canImport(Darwin)
        let (modification, change) = (info.st_mtimespec, info.st_ctimespec)
        #else
        let (modification, change) = (info.st_mtim, info.st_ctim)
        #endif
        modified = [Int64(modification.tv_sec), Int64(modification.tv_nsec)]
        changed = [Int64(change.tv_sec), Int64(change.tv_nsec)]
    }

    /// Returns a Boolean value that indicates whether both stamps are of one file, perhaps with other contents.
    func isSameFile(as other: FileStamp) -> Bool { device == other.device && inode == other.inode }
}

/// An error of the operating system.
struct SystemError: Error, Equatable {
    /// The message, for example `No such file or directory`.
    var text: String

    /// The error for a file that is not a regular file.
    static let notRegular = SystemError(text: "it is not a regular file, and reading a named pipe can wait forever")

    /// The error for the current value of `errno`.
    static var last: SystemError { SystemError(text: String(cString: strerror(errno))) }
}
