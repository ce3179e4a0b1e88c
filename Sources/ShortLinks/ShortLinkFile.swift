package import ByteStorage
internal import CLibrary
internal import CWideBytes
internal import LinkCoordinator

/// A file of short links with their destinations, which is mapped into memory.
///
/// A look-up checks every position and size, compares the whole link, and checks the entry's own hash. Damaged bytes
/// therefore make a link unknown and never change its destination. The system ends a process that reads a mapped file
/// after it was shortened, so a file must be replaced by a rename, and never be written in place.
package final class ShortLinkFile: Sendable {
    /// A short link that the file has, in the file's memory.
    package struct Answer {
        /// The link without its scheme, in the form in which links are compared.
        package let link: ByteView
        /// The destination.
        package let destination: ByteView
    }

    /// The memory that a file is in.
    private enum Memory {
        case mapped
        case allocated
    }

    private let bytes: ByteView
    private let memory: Memory
    private let entries: ByteView
    private let directory: ByteView
    private let layout: ShortLinkFormat.Layout
    /// The table of the hashes of the hosts, as words.
    ///
    /// At least half of the words are zero.
    private let hostWords: ByteView
    /// The first 16 hexadecimal digits of the file's SHA-256, as in decisions.
    package let hash: ByteView
    /// The hosts of the links, in order.
    package let hosts: [String]

    /// The number of short links.
    package var count: Int { Int(layout.count) }
    /// The size of the file in bytes.
    package var byteCount: Int { bytes.count }
    /// A copy of all bytes.
    package var contents: [UInt8] { bytes.array }

    /// Opens a file.
    ///
    /// Only the header and the sizes are checked. `verify` reads everything.
    package convenience init(path: String) throws(ShortLinkError) {
        // Without O_NONBLOCK, the system waits until somebody writes into a named pipe.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw ShortLinkError(.system(errno), path) }
        defer { close(descriptor) }
        var found = stat()
        guard fstat(descriptor, &found) == 0 else { throw ShortLinkError(.system(errno), path) }
        guard found.st_mode & S_IFMT == S_IFREG, found.st_size >= ShortLinkFormat.headerBytes else {
            throw ShortLinkError(.format("expected a file that `linkd short-links build` has written"), path)
        }
        let count = Int(found.st_size)
        guard let start = mmap(nil, count, PROT_READ, MAP_SHARED, descriptor, 0), start != MAP_FAILED else {
            throw ShortLinkError(.system(errno), path)
        }
        let view = ByteView(UnsafeRawBufferPointer(start: start, count: count))
        guard let layout = Self.layout(of: view) else {
            munmap(start, count)
            throw ShortLinkError(
                .format("the header is damaged, is of another version, or does not fit the size of the file"), path)
        }
        self.init(view, layout, .mapped, hash: nil)
    }

    /// Creates a file with a few links in memory.
    ///
    /// - Parameters:
    ///   - rows: The keys and destinations. No two rows have one key.
    ///   - hash: The hash of the file from which they are, or nil for the own one.
    package convenience init(_ rows: [(key: [UInt8], destination: [UInt8])], hash: String? = nil) {
        let (layout, image) = Self.image(rows)
        self.init(Self.copy(image), layout, .allocated, hash: hash)
    }

    /// Creates a file with these contents in memory, or returns nil if the header is damaged or does not fit the size.
    package convenience init?(contents: [UInt8]) {
        guard let layout = contents.withUnsafeBufferPointer({ Self.layout(of: ByteView($0)) }) else { return nil }
        self.init(Self.copy(contents), layout, .allocated, hash: nil)
    }

    private init(_ bytes: ByteView, _ layout: ShortLinkFormat.Layout, _ memory: Memory, hash: String?) {
        self.bytes = bytes
        self.memory = memory
        self.layout = layout
        let end = ShortLinkFormat.headerBytes + Int(layout.entriesBytes)
        entries = bytes.slice(ShortLinkFormat.headerBytes, end)
        directory = bytes.slice(end, end + Int(layout.directoryBytes))
        let list = bytes.dropFirst(end + Int(layout.directoryBytes)).buffer.split(separator: UInt8(ascii: "\n"))
        hosts = list.map { String(decoding: $0, as: UTF8.self) }
        hostWords = Self.hostTable(list.map { ByteView(UnsafeBufferPointer(rebasing: $0)) })
        self.hash = Self.copy(Array((hash ?? Self.hexDigits(bytes.slice(48, 56))).utf8))
    }

    deinit {
        if memory == .mapped {
            munmap(UnsafeMutableRawPointer(mutating: bytes.start), bytes.count)
        } else {
            Self.free(bytes)
        }
        Self.free(hostWords)
        Self.free(hash)
    }

    private static func copy(_ bytes: [UInt8]) -> ByteView {
        let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: max(bytes.count, 1))
        memory.initialize(from: bytes, count: bytes.count)
        return ByteView(start: memory, count: bytes.count)
    }

    private static func free(_ view: ByteView) { UnsafeMutablePointer(mutating: view.start).deallocate() }

    private static func hexDigits(_ bytes: ByteView) -> String {
        bytes.buffer.map { $0.hexadecimal(digits: 2) }.joined()
    }

    /// The file's SHA-256 in hexadecimal digits, as the header has it.
    package var fullHash: String { Self.hexDigits(bytes.slice(48, 80)) }

    /// Returns the layout in the header, or nil if it does not fit the bytes.
    private static func layout(of bytes: ByteView) -> ShortLinkFormat.Layout? {
        guard bytes.count >= ShortLinkFormat.headerBytes, bytes.hasPrefix(ByteView(ShortLinkFormat.magic)) else {
            return nil
        }
        let checked = ShortLinkFormat.headerBytes - 8
        guard number(bytes, checked, as: UInt64.self) == LinkHash.hash(bytes.slice(0, checked), seed: 0) else {
            return nil
        }
        let fields = (1...5).map { number(bytes, $0 * 8, as: UInt64.self) }
        let layout = ShortLinkFormat.Layout(
            count: fields[0], bucketCount: fields[1], entriesBytes: fields[2], hostsBytes: fields[3], seed: fields[4])
        let limit = UInt64(ShortLinkFormat.maxEntriesBytes)
        guard layout.bucketCount >= 1, layout.bucketCount <= limit, layout.entriesBytes <= limit,
            layout.hostsBytes <= UInt64(ShortLinkFormat.maxHostsBytes), layout.count <= limit,
            UInt64(ShortLinkFormat.headerBytes) + layout.entriesBytes + layout.directoryBytes + layout.hostsBytes
                == UInt64(bytes.count)
        else { return nil }
        return layout
    }

    /// Returns a table of the hashes of hosts with open addressing, in memory of its own.
    private static func hostTable(_ hosts: [ByteView]) -> ByteView {
        var capacity = 2
        while capacity < 2 * hosts.count { capacity *= 2 }
        var words = [UInt64](repeating: 0, count: capacity)
        for host in hosts {
            let hash = LinkHash.hash(host: host) | 1
            var place = Int(truncatingIfNeeded: hash >> 32) & (capacity - 1)
            while words[place] != 0 && words[place] != hash { place = (place + 1) & (capacity - 1) }
            words[place] = hash
        }
        return words.withUnsafeBytes { copy(Array($0)) }
    }

    @inline(__always)
    private static func number<Number: FixedWidthInteger>(
        _ view: ByteView, _ offset: Int, as type: Number.Type
    ) -> Number {
        Number(littleEndian: UnsafeRawPointer(view.start).loadUnaligned(fromByteOffset: offset, as: type))
    }

    // MARK: Look-up

    /// Returns a Boolean value that indicates whether a link of the file may have a host.
    package func mayHave(host: ByteView) -> Bool {
        let hash = LinkHash.hash(host: host) | 1
        let mask = hostWords.count / 8 - 1
        var place = Int(truncatingIfNeeded: hash >> 32) & mask
        while true {
            let word = UnsafeRawPointer(hostWords.start).loadUnaligned(fromByteOffset: place * 8, as: UInt64.self)
            if word == hash { return true }
            if word == 0 { return false }
            place = (place + 1) & mask
        }
    }

    /// Returns the entry of a link with these parts, or nil if the file does not have it.
    ///
    /// - Parameters:
    ///   - host: The host without a port.
    ///   - tail: The path, the query, and the fragment, as far as they are parts of the key.
    package func find(host: ByteView, tail: ByteView) -> Answer? {
        // Memory of at most 1 KiB is on the stack.
        withUnsafeTemporaryAllocation(
            of: UInt8.self, capacity: min(host.count &+ tail.count &+ 1, ShortLinkKey.maxBytes)
        ) { memory in
            guard let start = memory.baseAddress, let count = ShortLinkKey.write(host: host, tail: tail, to: start)
            else { return nil }
            return find(ByteView(start: UnsafePointer(start), count: count))
        }
    }

    /// The number of bytes of a bucket that are read at once.
    ///
    /// A bucket with four entries of 120 bytes has fewer.
    private static let prefetchedBytes = 640

    /// Returns the entry of a key, or nil if the file does not have it, or if the entry is damaged.
    package func find(_ key: ByteView) -> Answer? {
        let hash = LinkHash.hash(key, seed: layout.seed)
        // The header's bound of the number of buckets keeps the offset in the directory.
        let bucket = Int(truncatingIfNeeded: hash.multipliedFullWidth(by: layout.bucketCount).high)
        let start = Int(Self.number(directory, bucket &* 4, as: UInt32.self)) &* ShortLinkFormat.unit
        let stop = Int(Self.number(directory, bucket &* 4 &+ 4, as: UInt32.self)) &* ShortLinkFormat.unit
        guard stop <= entries.count, start &+ ShortLinkFormat.unit <= stop else { return nil }
        // The entry is in memory behind the words that tell where, so both are read at once.
        wide_prefetch(entries.start + start, UInt(min(stop &- start, Self.prefetchedBytes)))
        let count = Int(Self.number(entries, start, as: UInt32.self))
        guard count <= ShortLinkFormat.maxBucketEntries, start &+ ShortLinkFormat.bucketHeadBytes(count) <= stop else {
            return nil
        }
        let mark = ShortLinkFormat.mark(hash)
        for index in 0..<count {
            let word = Self.number(entries, start &+ 4 &+ index &* 4, as: UInt32.self)
            guard word &>> ShortLinkFormat.positionBits == mark else { continue }
            let place = Int(word & (1 &<< ShortLinkFormat.positionBits &- 1)) &* ShortLinkFormat.unit
            if let answer = answer(key, at: start &+ place, before: stop) { return answer }
        }
        return nil
    }

    /// Returns the entry at a position if it has a key and is whole.
    @inline(__always)
    private func answer(_ key: ByteView, at position: Int, before stop: Int) -> Answer? {
        let texts = position &+ ShortLinkFormat.entryBytes
        guard texts <= stop else { return nil }
        let keyCount = Int(Self.number(entries, position &+ 8, as: UInt16.self))
        let end = texts &+ keyCount &+ Int(Self.number(entries, position &+ 10, as: UInt16.self))
        guard end <= stop, keyCount == key.count, ByteView.equalBytes(entries.start + texts, key.start, keyCount),
            LinkHash.hash(entries.slice(position &+ 8, end), seed: ~layout.seed)
                == Self.number(entries, position, as: UInt64.self)
        else { return nil }
        return Answer(link: entries.slice(texts, texts &+ keyCount), destination: entries.slice(texts &+ keyCount, end))
    }

    /// Returns a Boolean value that indicates whether all bytes are as they were written.
    ///
    /// - Parameter progress: A function that is called with the number of bytes that were read so far, and returns
    ///   whether to go on.
    package func verify(progress: (Int) -> Bool = { _ in true }) -> Bool {
        var computation = SHA256()
        var position = ShortLinkFormat.headerBytes
        while position < bytes.count {
            let next = min(position + 1 << 22, bytes.count)
            computation.add(bytes.slice(position, next))
            position = next
            guard progress(position) else { return false }
        }
        layout.head.withUnsafeBufferPointer { computation.add(ByteView($0)) }
        return ShortLinkFormat.header(layout, hash: computation.finish()).withUnsafeBufferPointer {
            ByteView($0) == bytes.slice(0, ShortLinkFormat.headerBytes)
        }
    }
}

/// A failure to read or write a file of short links.
package struct ShortLinkError: Error, Equatable {
    /// The kinds of failures.
    package enum Kind: Equatable, Sendable {
        /// An error number of the system.
        case system(Int32)
        /// A description of what was expected of a file.
        case format(String)
    }

    /// The kind.
    package let kind: Kind
    /// The path of the file.
    package let path: String

    init(_ kind: Kind, _ path: String) {
        self.kind = kind
        self.path = path
    }

    /// A description without the path.
    package var reason: String {
        switch kind {
        case .system(let code): String(cString: strerror(code))
        case .format(let text): text
        }
    }
}

extension ShortLinkFile {
    /// Returns the layout and the bytes of a file with a few links.
    ///
    /// `ShortLinkBuilder` writes the same bytes for the same links.
    private static func image(
        _ rows: [(key: [UInt8], destination: [UInt8])]
    ) -> (layout: ShortLinkFormat.Layout, bytes: [UInt8]) {
        let seed: UInt64 = 0
        let bucketCount = ShortLinkFormat.bucketCount(rows: rows.count)
        func view<Result>(_ bytes: [UInt8], _ body: (ByteView) -> Result) -> Result {
            bytes.withUnsafeBufferPointer { body(ByteView($0)) }
        }
        let ordered = rows.map { row in (hash: view(row.key) { LinkHash.hash($0, seed: seed) }, row: row) }
            .sorted { $0.hash < $1.hash }
        var entries: [UInt8] = []
        var directory: [UInt8] = []
        var next = 0
        for number in 0..<bucketCount {
            ShortLinkFormat.append(UInt32(entries.count / ShortLinkFormat.unit), to: &directory)
            var bucket = ShortLinkFormat.Bucket()
            while next < ordered.count, ordered[next].hash.multipliedFullWidth(by: bucketCount).high == number {
                let (hash, row) = ordered[next]
                view(row.key) { key in view(row.destination) { bucket.add(hash, key, $0, seed: seed) } }
                next += 1
            }
            entries += bucket.take()
        }
        ShortLinkFormat.append(UInt32(entries.count / ShortLinkFormat.unit), to: &directory)
        let hosts = Set(rows.map { $0.key.prefix { $0 != UInt8(ascii: "/") } })
            .sorted { $0.lexicographicallyPrecedes($1) }
        let hostBytes = hosts.flatMap { $0 + [UInt8(ascii: "\n")] }
        let layout = ShortLinkFormat.Layout(
            count: UInt64(rows.count), bucketCount: bucketCount, entriesBytes: UInt64(entries.count),
            hostsBytes: UInt64(hostBytes.count), seed: seed)
        var computation = SHA256()
        for part in [entries, directory, hostBytes, layout.head] { view(part) { computation.add($0) } }
        let header = ShortLinkFormat.header(layout, hash: computation.finish())
        return (layout, header + entries + directory + hostBytes)
    }
}
