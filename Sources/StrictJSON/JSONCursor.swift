public import ByteStorage

/// A cursor over a JSON text that the caller moves from value to value.
///
/// It is strict: it accepts the grammar of RFC 8259, one value with nothing after it, unique names in each object,
/// valid UTF-8 without lone surrogates, and limited nesting. Skipped values are validated like all others. The cursor
/// never reads past the text and allocates only scratch memory that it reuses.
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
    /// The open scopes of a container that is skipped, by depth.
    var frames: UnsafeMutablePointer<ObjectScope>
    /// The number of scopes for which there is memory, which grows with the depth of the texts.
    private var frameCount: Int

    /// The maximum nesting depth of a text.
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
        frameCount = min(maxDepth + 1, 8)
        frames = .allocate(capacity: frameCount)
    }

    deinit { frames.deallocate() }

    /// Allocates memory for the scope at the current depth.
    ///
    /// A skipped container can begin at any depth, so one step may need more than twice the memory.
    @inline(never)
    private mutating func growFrames() {
        let count = min(maxDepth + 1, max(frameCount * 2, depth + 1))
        let larger = UnsafeMutablePointer<ObjectScope>.allocate(capacity: count)
        larger.update(from: frames, count: frameCount)
        frames.deallocate()
        frames = larger
        frameCount = count
    }

    /// Sets the scope at the current depth.
    mutating func setFrame(_ scope: ObjectScope) {
        if depth >= frameCount { growFrames() }
        assert(depth < frameCount)
        frames[depth] = scope
    }

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

    /// Opens a text that was validated before, without checking names for duplicates.
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

    /// Moves to the next member's value, or returns false and leaves the object at its end.
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

    /// Moves to the next element, or returns false and leaves the array at its end.
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

extension JSONCursor {
    /// Adds a name without a tag, or throws if the object has it already.
    @inline(never)
    @usableFromInline
    mutating func addUntaggedName(_ scope: inout ObjectScope, hash: UInt32) throws(JSONError) {
        let bit: UInt64 = 1 &<< UInt64(hash & 63)
        if scope.filter & bit != 0 {
            try listUniqueName(scope.name, hash: hash, at: scope.nameOffset, from: scope.firstName)
        } else {
            listName(scope.name, hash: hash, at: scope.nameOffset)
        }
        scope.filter |= bit
    }

    /// Leaves an object and removes its names.
    @usableFromInline
    mutating func leaveObject(_ scope: ObjectScope) throws(JSONError) {
        position += 1
        depth &-= 1
        try removeNames(from: scope.firstName)
    }

    /// Removes the names of an object at its end.
    ///
    /// If there are too many names for a comparison at each name, this function searches for duplicates.
    mutating func removeNames(from first: Int) throws(JSONError) {
        if names.count &- first > NameList.maxLinearSearchCount, let twice = names.duplicate(from: first) {
            throw JSONError(.duplicateName, at: twice)
        }
        names.removeAll(from: first)
        nameCount = first
    }

    /// Adds a name to the list.
    mutating func listName(_ name: ByteView, hash: UInt32, at offset: Int) {
        names.append(NameList.Entry(name: name, hash: hash, offset: offset))
        nameCount = names.count
    }

    /// Adds a name to the list, or throws if it is one of the first names of the object.
    ///
    /// At 128 names, it searches for duplicates, so that an object that repeats a few names is not read to its end.
    ///
    /// - Parameter first: The index of the object's first name.
    mutating func listUniqueName(_ name: ByteView, hash: UInt32, at offset: Int, from first: Int) throws(JSONError) {
        if names.count &- first <= NameList.maxLinearSearchCount, names.contains(name, hash: hash, from: first) {
            throw JSONError(.duplicateName, at: offset)
        }
        listName(name, hash: hash, at: offset)
        if names.count &- first == NameList.earlySearchCount, let twice = names.duplicate(from: first) {
            throw JSONError(.duplicateName, at: twice)
        }
    }

    /// Adds the names of predicted members to the list before a search of the list.
    ///
    /// Each of these names set a new bit of the filter, so it differs from the others and from all earlier names. The
    /// offsets are never used, because the second of two equal names is reported. The list stores copies because the
    /// shape can learn another member while the object is open.
    private mutating func listPredicted(_ scope: inout ObjectScope, _ shape: borrowing MemberShape) {
        while scope.unlisted != 0 {
            let memberIndex = scope.unlisted.trailingZeroBitCount
            scope.unlisted &= scope.unlisted &- 1
            scratch.begin()
            shape.copyName(at: memberIndex, to: &scratch)
            names.append(
                NameList.Entry(name: scratch.finish(), hash: shape.slot(at: memberIndex).pointee.hash, offset: 0))
        }
        nameCount = names.count
    }

    /// Moves to the next member like `nextMember`, if the prediction failed or the object ends.
    @inline(never)
    @usableFromInline
    mutating func nextMemberSlow(_ scope: inout ObjectScope, _ shape: inout MemberShape) throws(JSONError) -> Bool {
        listPredicted(&scope, shape)
        if scope.started && position < end && position.pointee == UInt8(ascii: "}") {
            try leaveObject(scope)
            return false
        }
        if shape.predictsNearEnd(position, end, memberIndex: scope.memberIndex) {
            let slot = shape.slot(at: scope.memberIndex)
            scope.nameOffset = offset &+ Int(slot.pointee.nameStart)
            scope.name = part(position + Int(slot.pointee.nameStart), count: Int(slot.pointee.nameLength))
            position += Int(slot.pointee.length)
            scope.memberIndex &+= 1
            scope.started = true
            scope.tag = slot.pointee.tag
            try addName(&scope, hash: slot.pointee.hash)
            return true
        }
        return try scanMember(&scope, &shape)
    }

    /// Adds the scope's name, or throws if the object has it already.
    private mutating func addName(_ scope: inout ObjectScope, hash: UInt32) throws(JSONError) {
        if scope.tag >= 64 { return try addUntaggedName(&scope, hash: hash) }
        let bit: UInt64 = 1 &<< UInt64(scope.tag)
        if scope.known & bit != 0 { throw JSONError(.duplicateName, at: scope.nameOffset) }
        scope.known |= bit
    }

    /// Reads a member's name without a prediction and, if it is useful, stores it as the prediction for its position.
    private mutating func scanMember(
        _ scope: inout ObjectScope, _ shape: inout MemberShape
    ) throws(JSONError) -> Bool {
        let start = position
        guard try nextName(&scope) else { return false }
        scope.tag = shape.tag(of: scope.name)
        let hash = scope.name.nameHash
        if shape.mayLearn(memberIndex: scope.memberIndex) {
            shape.learn(
                memberIndex: scope.memberIndex, from: start, to: position, name: scope.name, tag: scope.tag, hash: hash)
        }
        scope.memberIndex &+= 1
        try addName(&scope, hash: hash)
        return true
    }

    /// Moves past the comma, the next name, and its colon, or returns false at the end of the object.
    mutating func nextName(_ scope: inout ObjectScope) throws(JSONError) -> Bool {
        var byte = peek()
        if byte == UInt8(ascii: "}") {
            try leaveObject(scope)
            return false
        }
        if scope.started {
            if byte != UInt8(ascii: ",") { throw failure(.expectedCommaOrEnd) }
            position += 1
            byte = peek()
        }
        scope.started = true
        if byte != UInt8(ascii: "\"") { throw failure(.expectedName) }
        scope.nameOffset = offset + 1
        scope.name = unescaped(try string())
        if peek() != UInt8(ascii: ":") { throw failure(.expectedColon) }
        position += 1
        skipWhiteSpace()
        return true
    }

    /// Moves to the next member like `nextMember(_:_:)`, without known names and predictions.
    public mutating func nextMember(_ scope: inout ObjectScope) throws(JSONError) -> Bool {
        guard try nextName(&scope) else { return false }
        if !isValidated { try addUntaggedName(&scope, hash: scope.name.nameHash) }
        return true
    }
}
