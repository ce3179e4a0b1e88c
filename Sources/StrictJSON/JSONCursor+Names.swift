internal import ByteStorage

extension JSONCursor {
    /// Adds a name without a tag, or throws if the object has it already.
    @inline(never)
    @usableFromInline
    mutating func addUntaggedName(_ scope: inout ObjectScope, hash: UInt32) throws(JSONError) {
        let bit: UInt64 = 1 &<< UInt64(hash & 63)
        if scope.filter & bit != 0, names.count &- scope.firstName <= NameList.maxLinearSearchCount,
            names.contains(scope.name, hash: hash, from: scope.firstName)
        {
            throw JSONError(.duplicateName, at: scope.nameOffset)
        }
        scope.filter |= bit
        names.append(NameList.Entry(name: scope.name, hash: hash, offset: scope.nameOffset))
        nameCount = names.count
    }

    /// Leaves an object and removes its names.
    ///
    /// If there are too many names for a comparison at each name, this function searches for duplicates.
    @usableFromInline
    mutating func leaveObject(_ scope: ObjectScope) throws(JSONError) {
        position += 1
        depth &-= 1
        if names.count &- scope.firstName > NameList.maxLinearSearchCount,
            let twice = names.duplicate(from: scope.firstName)
        {
            throw JSONError(.duplicateName, at: twice)
        }
        names.removeAll(from: scope.firstName)
        nameCount = scope.firstName
    }

    /// Returns the hash of a name, which is used only for the filter and the first comparison.
    static func hash(_ name: ByteView) -> UInt32 {
        var hash: UInt64 = 0x9E37_79B9_7F4A_7C15 ^ UInt64(truncatingIfNeeded: name.count)
        var index = 0
        while index &+ 8 <= name.count {
            hash =
                (hash ^ UnsafeRawPointer(name.start + index).loadUnaligned(as: UInt64.self))
                &* 0xBF58_476D_1CE4_E5B9
            hash ^= hash &>> 29
            index &+= 8
        }
        while index < name.count {
            hash = (hash ^ UInt64(name.start[index])) &* 0x94D0_49BB_1331_11EB
            index &+= 1
        }
        hash ^= hash &>> 32
        return UInt32(truncatingIfNeeded: hash ^ (hash &>> 17))
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
        let hash = Self.hash(scope.name)
        if shape.mayLearn(memberIndex: scope.memberIndex) {
            shape.learn(
                memberIndex: scope.memberIndex, from: start, to: position, name: scope.name, tag: scope.tag, hash: hash)
        }
        scope.memberIndex &+= 1
        try addName(&scope, hash: hash)
        return true
    }

    /// Moves past the comma, the next name, and its colon; returns false at the end of the object.
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
        if !isValidated { try addUntaggedName(&scope, hash: Self.hash(scope.name)) }
        return true
    }
}
