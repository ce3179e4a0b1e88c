package import ByteStorage

/// The bytes of a file of short links.
///
/// All numbers are little-endian. The file has a header, buckets of entries in the order of the hashes of their keys,
/// a directory with the position of each bucket, and the hosts. A bucket begins with its number of entries, and a word
/// for each with 12 bits of the hash and the position of the entry in the bucket. An entry has the check of all its
/// other bytes, the sizes of its key and of its destination, the key, and the destination. Buckets and entries begin at
/// multiples of eight bytes.
enum ShortLinkFormat {
    static let magic: StaticString = "linkdSL1"
    static let headerBytes = 128
    /// The size of an entry without its texts.
    static let entryBytes = 12
    /// The unit of positions in the directory, in bytes, which limits the entries to 32 GiB.
    static let unit = 8
    static let maxEntriesBytes = Int(UInt32.max) * unit
    /// The limit of entries in a bucket.
    ///
    /// With four entries for each bucket on average, more than 40 do not occur by chance.
    static let maxBucketEntries = 64

    /// Returns the number of buckets for a number of rows.
    ///
    /// With several entries in a bucket, the directory is small enough for the caches of the processor.
    static func bucketCount(rows: Int) -> UInt64 { UInt64(max(rows / 4, 1)) }

    /// The limit of hosts, and the size limit of all hosts with their line feeds, in bytes.
    static let maxHosts = 65_536
    static let maxHostsBytes = maxHosts * 256

    /// The sizes of the parts of a file, and the seed of its hashes.
    struct Layout: Equatable {
        var count: UInt64
        var bucketCount: UInt64
        var entriesBytes: UInt64
        var hostsBytes: UInt64
        var seed: UInt64

        var directoryBytes: UInt64 { (bucketCount + 1) * 4 }

        /// The bytes of the header before the file's hash.
        var head: [UInt8] {
            var bytes = ByteView(ShortLinkFormat.magic).array
            for number in [count, bucketCount, entriesBytes, hostsBytes, seed] {
                ShortLinkFormat.append(number, to: &bytes)
            }
            return bytes
        }
    }

    /// Returns the header of a file.
    ///
    /// - Parameter hash: The SHA-256 of everything after the header and of the header's first bytes.
    static func header(_ layout: Layout, hash: SIMD8<UInt32>) -> [UInt8] {
        var bytes = layout.head
        for index in 0..<8 {
            for shift in stride(from: 24, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: hash[index] >> UInt32(shift)))
            }
        }
        bytes += [UInt8](repeating: 0, count: headerBytes - 8 - bytes.count)
        append(bytes.withUnsafeBufferPointer { LinkHash.hash(ByteView($0), seed: 0) }, to: &bytes)
        return bytes
    }

    /// The number of bits of a position in a bucket, beside which a word has 12 bits of the hash.
    static let positionBits: UInt32 = 20

    /// Returns the bits of a hash that a bucket's word has.
    @inline(__always)
    static func mark(_ hash: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: hash) & 0xFFF }

    /// Returns the size of the beginning of a bucket with a number of entries.
    @inline(__always)
    static func bucketHeadBytes(_ count: Int) -> Int { (4 &+ count &* 4 &+ unit &- 1) & ~(unit &- 1) }

    /// The entries of a bucket that is being written.
    struct Bucket {
        /// The bits of the hashes, and the positions after the beginning.
        private var entries: [(mark: UInt32, position: Int)] = []
        private var bytes: [UInt8] = []

        /// The number of entries.
        var count: Int { entries.count }

        mutating func add(_ hash: UInt64, _ key: ByteView, _ destination: ByteView, seed: UInt64) {
            entries.append((ShortLinkFormat.mark(hash), bytes.count))
            ShortLinkFormat.append(key: key, destination: destination, seed: seed, to: &bytes)
        }

        /// Returns the bytes of the bucket, which is then empty.
        mutating func take() -> [UInt8] {
            defer {
                entries.removeAll(keepingCapacity: true)
                bytes.removeAll(keepingCapacity: true)
            }
            if entries.isEmpty { return [] }
            let head = ShortLinkFormat.bucketHeadBytes(count)
            var result: [UInt8] = []
            result.reserveCapacity(head + bytes.count)
            ShortLinkFormat.append(UInt32(count), to: &result)
            for (mark, position) in entries {
                let place = UInt32((head + position) / ShortLinkFormat.unit)
                ShortLinkFormat.append(mark << ShortLinkFormat.positionBits | place, to: &result)
            }
            result += [UInt8](repeating: 0, count: head - result.count)
            return result + bytes
        }
    }

    /// Appends an entry, and zeros up to the next position of an entry.
    private static func append(key: ByteView, destination: ByteView, seed: UInt64, to bytes: inout [UInt8]) {
        let start = bytes.count
        bytes += [UInt8](repeating: 0, count: 8)
        for count in [key.count, destination.count] {
            bytes.append(UInt8(truncatingIfNeeded: count))
            bytes.append(UInt8(truncatingIfNeeded: count >> 8))
        }
        bytes += key.buffer
        bytes += destination.buffer
        let check = bytes.withUnsafeBufferPointer {
            LinkHash.hash(ByteView(UnsafeBufferPointer(rebasing: $0[(start + 8)...])), seed: ~seed)
        }
        for index in 0..<8 { bytes[start + index] = UInt8(truncatingIfNeeded: check >> UInt64(8 * index)) }
        while (bytes.count - start) % unit != 0 { bytes.append(0) }
    }

    static func append(_ number: some FixedWidthInteger, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }
}

/// The hash of a short link, which is fast for short texts and is no protection against a forged file.
package enum LinkHash {
    private static let factors: (UInt64, UInt64) = (0x9E37_79B9_7F4A_7C15, 0xD6E8_FEB8_6659_FD93)

    /// Returns the hash of a text.
    package static func hash(_ text: ByteView, seed: UInt64) -> UInt64 {
        let bytes = UnsafeRawPointer(text.start)
        let count = text.count
        var hash = mix(seed ^ factors.0, UInt64(truncatingIfNeeded: count) ^ factors.1)
        var index = 0
        while index &+ 16 <= count {
            hash = mix(word(bytes, index) ^ factors.0, word(bytes, index &+ 8) ^ hash)
            index &+= 16
        }
        var rest: (UInt64, UInt64) = (0, 0)
        if index &+ 8 <= count {
            rest.0 = word(bytes, index)
            index &+= 8
        }
        while index < count {
            rest.1 = rest.1 &<< 8 | UInt64(text.start[index])
            index &+= 1
        }
        hash = mix(rest.0 ^ factors.0, rest.1 ^ hash)
        return mix(hash ^ factors.1, factors.0)
    }

    /// Returns the hash of a host, which is the same for both cases of a letter.
    static func hash(host: ByteView) -> UInt64 {
        var hash = factors.0
        var word: UInt64 = 0
        for (index, byte) in host.buffer.enumerated() {
            word = word &<< 8 | UInt64(ShortLinkKey.lowercase(byte))
            if index & 7 == 7 {
                hash = mix(hash ^ word, factors.1)
                word = 0
            }
        }
        return mix(hash ^ word, factors.1 ^ UInt64(truncatingIfNeeded: host.count))
    }

    @inline(__always)
    private static func mix(_ a: UInt64, _ b: UInt64) -> UInt64 {
        let product = a.multipliedFullWidth(by: b)
        return product.high ^ product.low
    }

    @inline(__always)
    private static func word(_ bytes: UnsafeRawPointer, _ offset: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
}

/// The form in which short links are compared.
///
/// The key of a link is its host in lowercase and everything after the host as it is written, without the scheme. An
/// empty path is `/`.
package enum ShortLinkKey {
    /// The size limit of a key in bytes.
    package static let maxBytes = 2048
    /// The size limit of a destination in bytes, which is the largest limit of a route table.
    package static let maxDestinationBytes = 65_535

    @inline(__always)
    static func lowercase(_ byte: UInt8) -> UInt8 {
        byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
    }

    /// Writes a key, and returns its size, or nil if it is too long.
    ///
    /// - Parameters:
    ///   - host: The host without a port.
    ///   - tail: The path, the query, and the fragment, as far as they are parts of the key.
    ///   - memory: The memory for the host, the tail, and one byte more, or for `maxBytes` bytes.
    @inline(__always)
    package static func write(host: ByteView, tail: ByteView, to memory: UnsafeMutablePointer<UInt8>) -> Int? {
        let isBare = tail.isEmpty || tail.start[0] != UInt8(ascii: "/")
        let count = host.count &+ tail.count &+ (isBare ? 1 : 0)
        guard !host.isEmpty, count <= maxBytes else { return nil }
        for index in 0..<host.count { memory[index] = lowercase(host.start[index]) }
        var end = host.count
        if isBare {
            memory[end] = UInt8(ascii: "/")
            end &+= 1
        }
        (memory + end).update(from: tail.start, count: tail.count)
        return count
    }
}
