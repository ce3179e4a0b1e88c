internal import ByteStorage

/// A record as a test gives it.
package struct FuzzRecord: Sendable, Hashable {
    /// The key, or nil for none.
    package var key: [UInt8]?
    /// The value.
    package var value: [UInt8]
    /// The offset, which decisions name.
    package var offset: Int64

    /// Makes a record.
    package init(key: [UInt8]? = nil, value: [UInt8], offset: Int64 = 0) {
        self.key = key
        self.value = value
        self.offset = offset
    }

    /// Every record's time: some events are over then.
    package static let timestamp: Int64 = 1_795_000_000_000

    /// The record for people: key, tab, value.
    package var text: String {
        let value = String(decoding: value.prefix(4_000), as: UTF8.self)
        return key.map { String(decoding: $0, as: UTF8.self) + "\t" + value } ?? value
    }
}

/// The bytes of a batch's records, which are gone when the batch is over, as a consumer's are.
///
/// Each stands in memory of its own, so that a sanitizer sees each byte that is read too far; or all stand in one piece
/// between bytes that would change what is read, so that a reader that goes too far answers otherwise.
final class RecordMemory {
    private var pieces: [UnsafeMutableBufferPointer<UInt8>] = []
    private let isPacked: Bool
    /// Bytes that mean something wherever they are read.
    private static let bait = Array(#"","id":"bait","link":"shop:///p/new","x":"#.utf8)

    init(isPacked: Bool) { self.isPacked = isPacked }

    deinit { free() }

    /// Copies a record's bytes; they live until `free`.
    func copy(_ bytes: [UInt8]) -> ByteView {
        let around = isPacked ? Self.bait.count : 0
        let piece = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(bytes.count + 2 * around, 1))
        var at = 0
        for run in isPacked ? [Self.bait, bytes, Self.bait] : [bytes] {
            run.withUnsafeBufferPointer { run in
                guard let source = run.baseAddress, let base = piece.baseAddress else { return }
                (base + at).update(from: source, count: run.count)
            }
            at += run.count
        }
        pieces.append(piece)
        return ByteView(UnsafeBufferPointer(piece)).slice(around, around + bytes.count)
    }

    /// Overwrites all records and gives their memory back.
    func free() {
        for piece in pieces {
            piece.update(repeating: 0xA5)
            piece.deallocate()
        }
        pieces.removeAll(keepingCapacity: true)
    }
}
