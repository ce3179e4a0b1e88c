public import ByteStorage

/// A cursor over a JSON text that the caller moves from value to value.
///
/// It is strict: it accepts the grammar of RFC 8259, one value with nothing after it, unique names in each object,
/// valid UTF-8 without lone surrogates, and limited nesting. Skipped values are validated like those that are read. The
/// cursor never reads past the text and allocates only scratch memory that it reuses.
public struct JSONCursor: ~Copyable {
    @usableFromInline var base: UnsafePointer<UInt8>
    @usableFromInline var end: UnsafePointer<UInt8>
    @usableFromInline var position: UnsafePointer<UInt8>
    /// The lifetime of the text.
    @usableFromInline var lease = ViewLease.none
    @usableFromInline var depth = 0
    /// A Boolean value that indicates whether the text was validated before, so its names need no comparison.
    @usableFromInline var isValidated = false
    /// The number of entries of `names`, stored separately because a value with a `deinit` cannot be inlined.
    @usableFromInline var nameCount = 0
    var names = NameList()
    var scratch = OutputArena(chunkBytes: 16 << 10)
    @usableFromInline var frames: UnsafeMutablePointer<ObjectScope>

    /// The maximum nesting depth for which the cursor has space.
    public let maxDepth: Int
    /// The current maximum nesting depth, at most `maxDepth`.
    public var depthLimit: Int {
        didSet { if depthLimit > maxDepth { depthLimit = maxDepth } }
    }

    /// Creates a cursor over an empty text.
    public init(maxDepth: Int = 64) {
        self.maxDepth = maxDepth
        depthLimit = maxDepth
        base = ByteView.empty.start
        end = base
        position = base
        frames = .allocate(capacity: maxDepth + 1)
    }

    deinit { frames.deallocate() }

    /// Opens a text and invalidates the names and unescaped strings of the previous one.
    public mutating func open(_ text: ByteView) {
        base = text.start
        end = text.end
        position = text.start
        lease = text.lease
        depth = 0
        isValidated = false
        names.removeAll()
        nameCount = 0
        if scratch.bytesInUse != 0 { scratch.reset() }
    }

    /// Opens a text that was validated before; names are not checked for duplicates.
    package mutating func open(validated text: ByteView) {
        open(text)
        isValidated = true
    }

    /// The position of the cursor, in bytes from the start of the text.
    @inlinable
    @inline(__always)
    public var offset: Int { position - base }

    /// Moves to the value at an offset of a text that was validated before.
    package mutating func move(to offset: Int) {
        position = base + offset
        depth = 0
    }

    /// The start of the text.
    @inlinable
    @inline(__always)
    public var start: UnsafePointer<UInt8> { base }

    /// Returns a part of the text.
    @inlinable
    @inline(__always)
    func part(_ start: UnsafePointer<UInt8>, count: Int) -> ByteView {
        ByteView(start: start, count: count, lease: lease)
    }

    /// Returns an error at the cursor.
    @inlinable
    public func failure(_ code: JSONError.Code) -> JSONError {
        JSONError(position >= end && code != .tooDeep && code != .wrongType ? .unexpectedEnd : code, at: offset)
    }

    /// Moves past white space (RFC 8259, section 2).
    @inlinable
    public mutating func skipWhiteSpace() {
        while position < end, position.pointee <= 0x20, Self.isWhiteSpace(position.pointee) { position += 1 }
    }

    @inlinable
    static func isWhiteSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    /// Moves past white space and returns the first byte of the value at the cursor, or 0 at the end of the text.
    @inlinable
    @inline(__always)
    public mutating func peek() -> UInt8 {
        if position < end, position.pointee > 0x20 { return position.pointee }
        return peekAfterWhiteSpace()
    }

    @inline(never)
    @usableFromInline
    mutating func peekAfterWhiteSpace() -> UInt8 {
        skipWhiteSpace()
        return position < end ? position.pointee : 0
    }

    /// Ends the text, or throws an error if anything but white space is left.
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

    /// Moves to the next member's value; returns false and leaves the object at its end.
    ///
    /// The member's name and its tag are in `scope`. `shape` stores the bytes of an earlier object at this position. If
    /// the same bytes follow, no scan is needed. The slow path gets a copy of the scope, so that the caller's scope can
    /// stay in registers.
    @inlinable
    @inline(__always)
    public mutating func nextMember(
        _ scope: inout ObjectScope, _ shape: inout MemberShape
    ) throws(JSONError) -> Bool {
        if shape.predicts(position, end, memberIndex: scope.memberIndex) {
            let slot = shape.slot(at: scope.memberIndex)
            let bit = slot.pointee.bit
            if (slot.pointee.tag < 64 ? scope.known : scope.filter) & bit == 0 {
                if slot.pointee.tag < 64 {
                    scope.known |= bit
                } else {
                    scope.filter |= bit
                    scope.unlisted |= 1 &<< UInt32(truncatingIfNeeded: scope.memberIndex)
                }
                scope.name = part(position + Int(slot.pointee.nameStart), count: Int(slot.pointee.nameLength))
                scope.nameOffset = offset &+ Int(slot.pointee.nameStart)
                scope.tag = slot.pointee.tag
                scope.memberIndex &+= 1
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
        // The name is left out, so that the compiler can omit a name that the caller never reads.
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

    /// Moves to the next element; returns false and leaves the array at its end.
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

/// The state of an object that a cursor is in, stored by the caller.
public struct ObjectScope {
    /// The member's name without escapes, valid until the next text is opened.
    public var name: ByteView = .empty
    /// The offset of the name in the text, after its quote.
    public var nameOffset = 0
    /// The name's index in the shape's list, or `MemberShape.unknown`.
    public var tag: UInt8 = MemberShape.unknown
    /// The known names so far, as bits.
    public var known: UInt64 = 0
    /// A filter of the other names so far: a name whose bit is not set has not occurred.
    @usableFromInline var filter: UInt64 = 0
    /// Positions of predicted members whose names are not yet in the cursor's list.
    @usableFromInline var unlisted: UInt32 = 0
    @usableFromInline var firstName: Int
    @usableFromInline var memberIndex = 0
    @usableFromInline var started = false
    @usableFromInline var isArray = false

    /// Creates a scope whose names begin at this index of the list.
    @inlinable
    public init(firstName: Int) { self.firstName = firstName }
}

/// The state of an array that a cursor is in.
public struct ArrayScope {
    @usableFromInline var first = true

    /// Creates a scope before the first element.
    @inlinable
    public init() {}
}
