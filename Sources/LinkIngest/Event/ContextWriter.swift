internal import ByteStorage
internal import StrictJSON

/// A writer of a decision's `context`, which consists of the members that the setting `passthrough` lists.
struct ContextWriter: ~Copyable {
    /// The names that the reader's shape has in every configuration.
    static let knownNames: [StaticString] =
        EventMember.names + PushMember.names + [EventMember.sessionName]

    /// The other configured names, with tags that follow the tags of `knownNames`.
    let otherNames: [[UInt8]]

    private struct Member {
        var tag: UInt8
        /// The quoted name and the colon.
        var head: ByteView
        var value = ByteView.empty
    }

    private var members: [Member] = []
    private var heads = OutputArena(chunkBytes: 4096)
    private var written = OutputArena(chunkBytes: 2 * Limits.contextBytes)
    /// The tags of all members, as bits.
    let passthroughTags: UInt64
    private var seen: UInt64 = 0
    /// A Boolean value that indicates whether members that are no short strings are left out.
    private let isLenient: Bool
    /// A Boolean value that indicates whether `finish` left out a member.
    private(set) var hasSkipped = false

    init(_ passthrough: Passthrough) {
        isLenient = passthrough.isLenient
        var tags: UInt64 = 0
        var others: [[UInt8]] = []
        for name in passthrough.names.prefix(Limits.contextNames) where !Passthrough.reserved.contains(name) {
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
            if tags & 1 << UInt64(tag) != 0 { continue }
            tags |= 1 << UInt64(tag)
            heads.begin()
            Self.appendString(bytes, to: &heads)
            heads.append(byte: UInt8(ascii: ":"))
            members.append(Member(tag: UInt8(tag), head: heads.finish()))
        }
        self.passthroughTags = tags
        otherNames = others
    }

    /// Returns the tags of names as bits, and the new names, with tags that follow the tags of `otherNames`.
    func tags(of names: [[UInt8]]) -> (tags: UInt64, newNames: [[UInt8]]) {
        let known = Self.knownNames.map { Array($0.description.utf8) } + otherNames
        var tags: UInt64 = 0
        var newNames: [[UInt8]] = []
        for name in names {
            if let tag = known.firstIndex(of: name) {
                tags |= 1 << UInt64(tag)
            } else if known.count + newNames.count < 64 {
                tags |= 1 << UInt64(known.count + newNames.count)
                newNames.append(name)
            }
        }
        return (tags, newNames)
    }

    private static func appendString(_ text: [UInt8], to arena: inout OutputArena) {
        text.withUnsafeBufferPointer { arena.appendString(ByteView($0)) }
    }

    /// Returns a Boolean value that indicates whether a member is passed through.
    @inline(__always)
    func isPassedThrough(_ tag: UInt8) -> Bool {
        passthroughTags != 0 && tag < 64 && passthroughTags & (1 &<< UInt64(tag)) != 0
    }

    /// Stores the value of a member if it is passed through.
    @inline(__always)
    mutating func store(_ tag: UInt8, _ value: ByteView) {
        if tag < 64, passthroughTags & (1 &<< UInt64(tag)) != 0 { storePassedThrough(tag, value) }
    }

    @inline(never)
    private mutating func storePassedThrough(_ tag: UInt8, _ value: ByteView) {
        seen |= 1 &<< UInt64(tag)
        for index in members.indices where members[index].tag == tag { members[index].value = value }
    }

    /// Writes the stored members in the order of the configuration, and clears them.
    ///
    /// - Returns: Bytes that are valid until the next call, or nil if the values exceed their limit.
    mutating func finish() -> ByteView? {
        hasSkipped = false
        guard seen != 0 else { return .empty }
        if isLenient { skipOthers() }
        written.reset()
        written.begin()
        var bytes = 0
        for index in members.indices where seen & (1 &<< UInt64(members[index].tag)) != 0 {
            if written.recordBytes > 0 { written.append(byte: UInt8(ascii: ",")) }
            written.append(members[index].head)
            let start = written.recordBytes
            written.appendCompact(members[index].value)
            bytes += written.recordBytes - start
            if bytes > Limits.contextBytes { break }
        }
        seen = 0
        let all = written.finish()
        return bytes > Limits.contextBytes ? nil : all
    }

    /// Leaves out the stored members that are no short strings.
    private mutating func skipOthers() {
        for index in members.indices where seen & (1 &<< UInt64(members[index].tag)) != 0 {
            let value = members[index].value
            let isText = value.count >= 2 && value[0] == UInt8(ascii: "\"")
            if isText && value.count - 2 <= Limits.contextTextBytes { continue }
            seen &= ~(1 &<< UInt64(members[index].tag))
            hasSkipped = true
        }
    }

    /// A Boolean value that indicates whether a member of this record is stored.
    var hasStoredMembers: Bool { seen != 0 }

    /// Clears the members of a record that failed.
    mutating func clear() {
        seen = 0
        hasSkipped = false
    }
}

/// The members of an event that are copied into a decision's `context`.
package struct Passthrough: Sendable, Equatable, ExpressibleByArrayLiteral {
    /// The members of `context` that are no members of an event, so that they cannot be passed through.
    package static let reserved = ["push", "expires", "query"]

    /// The names of the members, in the order of `context`.
    package let names: [String]
    /// A Boolean value that indicates whether a member that is no short string is left out with a note.
    ///
    /// Otherwise a member of any type is copied, and an event whose members are too long together is refused.
    let isLenient: Bool

    /// Creates a list of members of any type.
    package init(_ names: [String]) {
        self.names = names
        isLenient = false
    }

    /// Creates a list of members of any type.
    package init(arrayLiteral names: String...) { self.init(names) }

    private init(lenient names: [String]) {
        self.names = names
        isLenient = true
    }

    /// The default: the campaign of an event, if it is a string of at most 256 bytes.
    package static let campaign = Passthrough(lenient: ["campaign"])
}
