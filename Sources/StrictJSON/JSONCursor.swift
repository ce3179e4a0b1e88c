public import ByteStorage

/// The one reader: a cursor over a JSON text that its user drives from value to value.
///
/// Strict means the whole grammar of RFC 8259, one value and nothing after it, each name once in an object, UTF-8,
/// no half surrogate pair, and a bound on nesting, in what is skipped as in what is read. The cursor reads within the
/// text's exact length, allocates nothing but scratch memory that it keeps, and lives as long as its lane.
public struct JSONCursor: ~Copyable {
    @usableFromInline var base: UnsafePointer<UInt8>
    @usableFromInline var end: UnsafePointer<UInt8>
    @usableFromInline var position: UnsafePointer<UInt8>
    /// Until when the text may be read.
    @usableFromInline var lease = ViewLease.none
    @usableFromInline var depth = 0
    /// Whether the text was read strictly before, so that its names need not be compared again.
    @usableFromInline var isReadAgain = false
    /// Number of entries of `names`; apart from them, since a value with a `deinit` cannot be inlined.
    @usableFromInline var nameCount = 0
    var names = NameList()
    var scratch = OutputArena(chunkBytes: 16 << 10)
    @usableFromInline var frames: UnsafeMutablePointer<ObjectScope>

    /// Most objects and arrays inside one another that the cursor has room for.
    public let maxDepth: Int
    /// Most objects and arrays inside one another that are read now, `maxDepth` at most.
    public var depthLimit: Int {
        didSet { if depthLimit > maxDepth { depthLimit = maxDepth } }
    }

    /// Makes a cursor over no text.
    public init(maxDepth: Int = 64) {
        self.maxDepth = maxDepth
        depthLimit = maxDepth
        base = ByteView.empty.start
        end = base
        position = base
        frames = .allocate(capacity: maxDepth + 1)
    }

    deinit { frames.deallocate() }

    /// Starts a text; what the last one lent (names, unescaped strings) is no longer valid.
    public mutating func open(_ text: ByteView) {
        base = text.start
        end = text.end
        position = text.start
        lease = text.lease
        depth = 0
        isReadAgain = false
        names.removeAll()
        nameCount = 0
        if scratch.bytesInUse != 0 { scratch.reset() }
    }

    /// Starts a text that was read strictly before: as `open`, but names that stand twice are no longer looked for.
    package mutating func open(again text: ByteView) {
        open(text)
        isReadAgain = true
    }

    /// Where the cursor stands, in bytes from the start of the text.
    @inlinable
    @inline(__always)
    public var offset: Int { position - base }

    /// Where the text begins.
    @inlinable
    @inline(__always)
    public var start: UnsafePointer<UInt8> { base }

    /// Bytes of the text.
    @inlinable
    @inline(__always)
    func part(_ start: UnsafePointer<UInt8>, count: Int) -> ByteView {
        ByteView(start: start, count: count, lease: lease)
    }

    /// An error at the cursor.
    @inlinable
    public func failure(_ code: JSONError.Code) -> JSONError {
        JSONError(position >= end && code != .tooDeep && code != .wrongType ? .unexpectedEnd : code, at: offset)
    }

    /// Passes white space (RFC 8259, section 2).
    @inlinable
    public mutating func skipWhiteSpace() {
        while position < end, position.pointee <= 0x20, Self.isWhiteSpace(position.pointee) { position += 1 }
    }

    @inlinable
    static func isWhiteSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    /// The first byte of the value at the cursor, white space passed; 0 at the end of the text.
    @inlinable
    @inline(__always)
    public mutating func peek() -> UInt8 {
        if position < end, position.pointee > 0x20 { return position.pointee }
        return peekBehindSpace()
    }

    @inline(never)
    @usableFromInline
    mutating func peekBehindSpace() -> UInt8 {
        skipWhiteSpace()
        return position < end ? position.pointee : 0
    }

    /// Ends the text: nothing but white space may be left.
    @inlinable
    public mutating func finish() throws(JSONError) {
        skipWhiteSpace()
        if position != end { throw JSONError(.trailingBytes, at: offset) }
    }

    // MARK: Objects

    /// Enters the object at the cursor.
    @inlinable
    @inline(__always)
    public mutating func enterObject() throws(JSONError) -> ObjectScope {
        if peek() != UInt8(ascii: "{") { throw failure(position < end ? .wrongType : .expectedValue) }
        if depth >= depthLimit { throw JSONError(.tooDeep, at: offset) }
        depth &+= 1
        position += 1
        return ObjectScope(firstName: nameCount)
    }

    /// Goes to the next member's value; false at the end of the object, which is then left.
    ///
    /// The member's name and its tag stand in `scope`. `shape` remembers what came last time at this place: when the
    /// same bytes come again, nothing is scanned. All other ways get a copy of the scope, so that the caller's own
    /// can stay in registers.
    @inlinable
    @inline(__always)
    public mutating func nextMember(
        _ scope: inout ObjectScope, _ shape: inout MemberShape
    ) throws(JSONError) -> Bool {
        if shape.predicts(position, end, place: scope.place) {
            let slot = shape.slot(scope.place)
            let bit = slot.pointee.bit
            if (slot.pointee.tag < 64 ? scope.known : scope.filter) & bit == 0 {
                if slot.pointee.tag < 64 {
                    scope.known |= bit
                } else {
                    scope.filter |= bit
                    scope.unlisted |= 1 &<< UInt32(truncatingIfNeeded: scope.place)
                }
                scope.name = part(position + Int(slot.pointee.nameStart), count: Int(slot.pointee.nameLength))
                scope.nameOffset = offset &+ Int(slot.pointee.nameStart)
                scope.tag = slot.pointee.tag
                scope.place &+= 1
                scope.started = true
                position += Int(slot.pointee.length)
                return true
            }
        } else if position < end, position.pointee == UInt8(ascii: "}"), scope.started, nameCount == scope.firstName {
            position += 1
            depth &-= 1
            return false
        }
        var copy = scope
        // Nothing of the last name is handed on, so that names nobody asks for are never made.
        copy.name = .empty
        copy.nameOffset = 0
        let found = try nextMemberSlow(&copy, &shape)
        scope = copy
        return found
    }

    // MARK: Arrays

    /// Enters the array at the cursor.
    @inlinable
    public mutating func enterArray() throws(JSONError) -> ArrayScope {
        if peek() != UInt8(ascii: "[") { throw failure(position < end ? .wrongType : .expectedValue) }
        if depth >= depthLimit { throw JSONError(.tooDeep, at: offset) }
        depth &+= 1
        position += 1
        return ArrayScope()
    }

    /// Goes to the next element; false at the end of the array, which is then left.
    @inlinable
    public mutating func nextElement(_ scope: inout ArrayScope) throws(JSONError) -> Bool {
        let byte = peek()
        if byte == UInt8(ascii: "]") {
            position += 1
            depth &-= 1
            return false
        }
        if scope.first {
            scope.first = false
            return true
        }
        if byte != UInt8(ascii: ",") { throw failure(.expectedCommaOrEnd) }
        position += 1
        if peek() == UInt8(ascii: "]") { throw failure(.expectedValue) }
        return true
    }
}

/// An object that a cursor is in: the caller keeps it while it drives.
public struct ObjectScope {
    /// The member's name, escapes resolved; it lives until the next text is opened.
    public var name: ByteView = .empty
    /// Where the name begins in the text (after its quote).
    public var nameOffset = 0
    /// The name's number in the shape's list, or `MemberShape.unknown`.
    public var tag: UInt8 = MemberShape.unknown
    /// The known names met so far, as bits.
    public var known: UInt64 = 0
    /// The other names met so far, as a filter: a name whose bit is not set was not met.
    @usableFromInline var filter: UInt64 = 0
    /// Places of the shape whose names were met as predicted and are not yet in the cursor's list.
    @usableFromInline var unlisted: UInt32 = 0
    @usableFromInline var firstName: Int
    @usableFromInline var place = 0
    @usableFromInline var started = false
    @usableFromInline var isArray = false

    /// A scope whose names begin at this place of the list.
    @inlinable
    public init(firstName: Int) { self.firstName = firstName }
}

/// An array that a cursor is in.
public struct ArrayScope {
    @usableFromInline var first = true

    /// A scope before its first element.
    @inlinable
    public init() {}
}
