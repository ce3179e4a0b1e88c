internal import CLibrary

/// A file that is written from its start, with a buffer, and can be read at any position.
final class StagedFile {
    private static let bufferBytes = 1 << 20

    let path: String
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    /// The number of bytes that were appended.
    private(set) var count = 0

    /// Creates a file beside another one, with a name that no other process uses.
    ///
    /// - Parameter isHidden: A Boolean value that indicates whether the name is removed, so that the system removes the
    ///   file with the process.
    init(beside other: String, _ suffix: String, isHidden: Bool) throws(ShortLinkError) {
        path = other + suffix + "." + String(getpid())
        unlink(path)
        descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw ShortLinkError(.system(errno), path) }
        if isHidden { unlink(path) }
        buffer.reserveCapacity(2 * Self.bufferBytes)
    }

    deinit { close(descriptor) }

    /// Appends bytes.
    func append(_ bytes: some Collection<UInt8>) throws(ShortLinkError) {
        buffer.append(contentsOf: bytes)
        count += bytes.count
        if buffer.count >= Self.bufferBytes { try flush() }
    }

    /// Writes the buffer.
    func flush() throws(ShortLinkError) {
        try write(buffer, at: count - buffer.count)
        buffer.removeAll(keepingCapacity: true)
    }

    /// Writes bytes at a position.
    func write(_ bytes: [UInt8], at position: Int) throws(ShortLinkError) {
        var done = 0
        while done < bytes.count {
            let written = bytes.withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress.map { $0 + done }, bytes.count - done, off_t(position + done))
            }
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else { throw ShortLinkError(.system(written < 0 ? errno : ENOSPC), path) }
            done += written
        }
    }

    /// Reads bytes that were flushed, and appends them to a buffer.
    func read(_ count: Int, at position: Int, into bytes: inout [UInt8]) throws(ShortLinkError) {
        let start = bytes.count
        bytes.append(contentsOf: repeatElement(0, count: count))
        var done = 0
        while done < count {
            let found = bytes.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress.map { $0 + start + done }, count - done, off_t(position + done))
            }
            if found < 0 && errno == EINTR { continue }
            guard found > 0 else { throw ShortLinkError(.system(found < 0 ? errno : EIO), path) }
            done += found
        }
    }

    /// Waits until the file is on the disk, and gives it another name, whose file it replaces.
    ///
    /// It gets the owner and mode of that file, as far as this user can set them.
    func publish(as name: String) throws(ShortLinkError) {
        var info = stat()
        if stat(name, &info) == 0, fchown(descriptor, info.st_uid, info.st_gid) == 0 {
            fchmod(descriptor, info.st_mode & 0o7777)
        }
        guard fsync(descriptor) == 0 else { throw ShortLinkError(.system(errno), path) }
        guard rename(path, name) == 0 else { throw ShortLinkError(.system(errno), name) }
        let directory = name.lastIndex(of: "/").map { name[..<name.index(after: $0)] } ?? "."
        let parent = open(String(directory), O_RDONLY | O_CLOEXEC)
        guard parent >= 0 else { return }
        fsync(parent)
        close(parent)
    }

    /// Removes the name of the file.
    func remove() { unlink(path) }
}
