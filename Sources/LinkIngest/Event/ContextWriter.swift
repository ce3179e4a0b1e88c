internal import ByteStorage
internal import StrictJSON

/// Writes the members that the configuration passes through (`passthrough`) as a decision's `context`.
struct ContextWriter: ~Copyable {
    /// Names that the reader's shape knows without the configuration.
    static let knownNames: [StaticString] = EventMember.allCases.map(\.name) + PushMember.allCases.map(\.name)

    /// Names of the configuration that come behind them.
    let otherNames: [[UInt8]]

    private struct Member {
        var tag: UInt8
        /// The name in quotes and its colon.
        var head: ByteView
        var value = ByteView.empty
    }

    private var members: [Member] = []
    private var heads = OutputArena(chunkBytes: 4096)
    private var written = OutputArena(chunkBytes: 2 * IngestLimits.contextBytes)
    /// The tags of all members, as bits; and of those seen in this record.
    let wanted: UInt64
    private var seen: UInt64 = 0

    init(_ names: [String]) {
        var wanted: UInt64 = 0
        var others: [[UInt8]] = []
        for name in names.prefix(IngestLimits.contextNames) {
            let bytes = [UInt8](name.utf8)
            let tag: Int
            if let known = Self.knownNames.firstIndex(where: { $0.description.utf8.elementsEqual(bytes) }) {
                tag = known
            } else if others.contains(bytes) {
                continue
            } else {
                tag = Self.knownNames.count + others.count
                others.append(bytes)
            }
            if wanted & 1 << UInt64(tag) != 0 { continue }
            wanted |= 1 << UInt64(tag)
            heads.begin()
            Self.appendString(bytes, to: &heads)
            heads.append(byte: UInt8(ascii: ":"))
            members.append(Member(tag: UInt8(tag), head: heads.finish()))
        }
        self.wanted = wanted
        otherNames = others
    }

    private static func appendString(_ text: [UInt8], to arena: inout OutputArena) {
        text.withUnsafeBufferPointer { arena.appendString(ByteView($0)) }
    }

    /// Whether a member is one to pass through.
    @inline(__always)
    func isWanted(_ tag: UInt8) -> Bool { wanted != 0 && tag < 64 && wanted & (1 &<< UInt64(tag)) != 0 }

    /// Keeps the value of a member if it is to be passed through.
    @inline(__always)
    mutating func note(_ tag: UInt8, _ value: ByteView) {
        if tag < 64, wanted & (1 &<< UInt64(tag)) != 0 { keep(tag, value) }
    }

    @inline(never)
    private mutating func keep(_ tag: UInt8, _ value: ByteView) {
        seen |= 1 &<< UInt64(tag)
        for index in members.indices where members[index].tag == tag { members[index].value = value }
    }

    /// Writes what was noted, in the order of the configuration, and forgets it.
    ///
    /// - Returns: Bytes that live until the next call, or nil when the values are over their limit.
    mutating func finish() -> ByteView? {
        guard seen != 0 else { return .empty }
        written.reset()
        written.begin()
        var bytes = 0
        for index in members.indices where seen & (1 &<< UInt64(members[index].tag)) != 0 {
            if written.recordBytes > 0 { written.append(byte: UInt8(ascii: ",")) }
            written.append(members[index].head)
            let start = written.recordBytes
            written.appendCompact(members[index].value)
            bytes += written.recordBytes - start
            if bytes > IngestLimits.contextBytes { break }
        }
        seen = 0
        let all = written.finish()
        return bytes > IngestLimits.contextBytes ? nil : all
    }

    /// Whether anything was noted of this record.
    var hasSome: Bool { seen != 0 }

    /// Forgets what was noted of a record that failed.
    mutating func clear() { seen = 0 }
}
