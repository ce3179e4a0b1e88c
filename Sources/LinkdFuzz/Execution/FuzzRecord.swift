package import ByteStorage
internal import CLibrary

/// A record of a test.
package struct FuzzRecord: Sendable, Equatable {
    /// The key, or nil for none.
    package var key: [UInt8]?
    /// The headers.
    package var headers: [RecordHeader] = []
    /// The value.
    package var value: [UInt8]
    /// The offset, which is part of the ids of decisions.
    package var offset: Int64 = 0

    /// The timestamp of every record.
    ///
    /// Some events have expired at this time.
    static let timestamp: Int64 = 1_795_000_000_000

    /// The key, a tab, and the value of the record, for output.
    package var text: String {
        let value = String(decoding: value.prefix(4_000), as: UTF8.self)
        return key.map { String(decoding: $0, as: UTF8.self) + "\t" + value } ?? value
    }
}

/// The memory of a batch's records, which is overwritten after the batch, as the memory of a Kafka consumer is.
///
/// Each record has its own memory, so a sanitizer detects reads beyond its end. Alternatively, other bytes surround the
/// records and change the result of such reads.
final class RecordMemory {
    private var pieces: [UnsafeMutableBufferPointer<UInt8>] = []
    private let isPacked: Bool
    /// Bytes that are part of a valid event.
    private static let decoy = Array(#"","id":"bait","link":"shop:///p/new","x":"#.utf8)

    init(isPacked: Bool) { self.isPacked = isPacked }

    deinit { free() }

    /// Returns a copy of a record's bytes that is valid until `free`.
    func copy(_ bytes: [UInt8]) -> ByteView {
        let around = isPacked ? Self.decoy.count : 0
        let piece = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(bytes.count + 2 * around, 1))
        var at = 0
        for run in isPacked ? [Self.decoy, bytes, Self.decoy] : [bytes] {
            run.withUnsafeBufferPointer { run in
                guard let source = run.baseAddress, let base = piece.baseAddress else { return }
                (base + at).update(from: source, count: run.count)
            }
            at += run.count
        }
        pieces.append(piece)
        return ByteView(UnsafeBufferPointer(piece)).slice(around, around + bytes.count)
    }

    /// Overwrites and frees the memory of all records.
    func free() {
        for piece in pieces {
            piece.update(repeating: 0xA5)
            piece.deallocate()
        }
        pieces.removeAll(keepingCapacity: true)
    }
}

/// The CPU time of a thread, which other processes do not affect.
enum ThreadClock {
    /// Returns the CPU time of this thread in nanoseconds.
    static func nanoseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
}

/// The speed of the processor, measured by a fixed work that does not use the product's code.
struct SpeedReference {
    /// The nanoseconds of the work on the machine of the cost bound, while it is quiet.
    private static let quiet = 16_000.0
    private static let bytes = (0..<(16 << 10)).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ $0 >> 5) }
    private static let table = (0..<256).map { UInt32(truncatingIfNeeded: $0 &* 0x9E37_79B9) }

    private var least = UInt64.max
    private var result: UInt32 = 0

    /// The factor by which this machine is slower than the one of the cost bound, at least 1.
    var slowness: Double { max(1, Double(least) / Self.quiet) }

    /// Does the work once.
    mutating func measure() {
        let start = ThreadClock.nanoseconds()
        // Four independent sums keep all units of the processor busy, as the reading of a record does.
        var sums = SIMD4<UInt32>(repeating: result)
        for index in stride(from: 0, to: Self.bytes.count, by: 4) {
            sums[0] = (sums[0] ^ Self.table[Int(Self.bytes[index])]) &+ 1
            sums[1] = (sums[1] &+ Self.table[Int(Self.bytes[index + 1])]) ^ 3
            sums[2] = (sums[2] ^ Self.table[Int(Self.bytes[index + 2])]) &+ 5
            sums[3] = (sums[3] &+ Self.table[Int(Self.bytes[index + 3])]) ^ 7
        }
        result = sums.wrappedSum()
        least = min(least, ThreadClock.nanoseconds() &- start)
    }
}
