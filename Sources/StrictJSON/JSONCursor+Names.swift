internal import ByteStorage

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
    /// - Parameter first: The index of the object's first name.
    mutating func listUniqueName(_ name: ByteView, hash: UInt32, at offset: Int, from first: Int) throws(JSONError) {
        if names.count &- first <= NameList.maxLinearSearchCount, names.contains(name, hash: hash, from: first) {
            throw JSONError(.duplicateName, at: offset)
        }
        listName(name, hash: hash, at: offset)
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
        if !isValidated { try addUntaggedName(&scope, hash: scope.name.nameHash) }
        return true
    }
}
