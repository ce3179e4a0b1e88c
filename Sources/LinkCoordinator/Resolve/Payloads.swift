package import ByteStorage
internal import StrictJSON

// Reads a push payload: finds a link or a route with the table's pointers and binds values.
// See RouteTableReference, "Payload".
extension Resolver {
    /// Reads the payload for the pointers of all tables, once for a record.
    private mutating func readPointers() throws(Rejection) {
        if record.payload.isRead { return }
        record.hasData = true
        do throws(JSONError) {
            try record.payload.read(request, table.pointers)
        } catch {
            throw Rejection(.internalError)
        }
    }

    /// Returns the number of one of the table's pointers among the pointers of all tables.
    @inline(__always)
    private mutating func number(_ pointer: Int32) -> Int32 {
        (table.numbers.unsafelyUnwrapped + Int(pointer)).pointee
    }

    /// Finds a link, or otherwise a route, in a payload.
    ///
    /// Returns nil if there is neither.
    ///
    /// See RouteTableReference, "Payload".
    package mutating func readPayload() throws(Rejection) -> Selection? {
        if request.tapped.kind != .unknown {
            try readPointers()
            return try open(request.tapped)
        }
        let link = try findPayloadLink()
        if !link.isEmpty { return try open(RequestOpening(.link, link: link)) }
        if let selection = try readPayloadRoute() { return selection }
        appendNotes(request.earlyNotes..<request.notes.count)
        return try open(request.found)
    }

    /// Selects the route of the link that a payload opens, or returns nil if there is none.
    private mutating func open(_ opening: RequestOpening) throws(Rejection) -> Selection? {
        guard opening.kind == .link else {
            refusal = opening.kind
            return nil
        }
        requested.link = opening.link
        return try select(
            normalize(opening.link, isScreened: opening.isScreened, bytesAfter: opening.bytesAfter))
    }

    /// Adds notes of the request.
    @inline(never)
    mutating func appendNotes(_ range: Range<Int>) {
        for index in range { notes.append(Note(request.notes[index])) }
    }

    /// Selects the route at the table's pointer, or returns nil if there is none.
    ///
    /// The pointers must have been read before, which `findPayloadLink` does.
    package mutating func readPayloadRoute() throws(Rejection) -> Selection? {
        guard tableData.payloadRoute >= 0 else { return nil }
        for root in 0..<record.payload.roots {
            guard let id = string(number(tableData.payloadRoute), in: root) else { continue }
            requested.route = record.texts.normalForm(id)
            if tableData.payloadParams >= 0, record.payload.kind(number(tableData.payloadParams), in: root) == .object {
                requested.params = record.payload.raw(number(tableData.payloadParams), in: root)
            }
            return try readRoute(requested.route, params: requested.params)
        }
        return nil
    }

    /// A Boolean value that indicates whether there is a string at the table's pointer of the route.
    ///
    /// The pointers must have been read before.
    var hasPayloadRoute: Bool {
        mutating get {
            guard tableData.payloadRoute >= 0 else { return false }
            for root in 0..<record.payload.roots where string(number(tableData.payloadRoute), in: root) != nil {
                return true
            }
            return false
        }
    }

    /// Returns the first nonempty string at one of the table's pointers, root by root, or an empty view.
    package mutating func findPayloadLink() throws(Rejection) -> ByteView {
        try readPointers()
        for root in 0..<record.payload.roots {
            for pointer in tableData.payloadLinks {
                if let link = string(number(pointer), in: root) { return link }
            }
        }
        return .empty
    }

    /// Returns the string at a pointer, or nil if it is empty or another kind of value.
    private mutating func string(_ number: Int32, in root: Int) -> ByteView? {
        guard record.payload.kind(number, in: root) == .string else { return nil }
        let text = record.payload.text(number, in: root, &record.texts)
        return text.isEmpty ? nil : text
    }

    /// Returns the first root that has a value at a pointer, or nil.
    private mutating func root(with number: Int32) -> Int? {
        for root in 0..<record.payload.roots where record.payload.kind(number, in: root) != .absent { return root }
        return nil
    }

    /// Returns the value of the binding source `payload./pointer` in the first root that has one.
    mutating func payloadValue(_ pointer: Int32) -> Found {
        if !record.payload.isRead { return .absent }
        let number = number(pointer)
        guard let root = root(with: number) else { return .absent }
        switch record.payload.kind(number, in: root) {
        case .absent: return .absent
        case .null: return .null
        case .object, .array: return .invalid
        case .string, .scalar: return .text(record.payload.normalText(number, in: root, &record.texts))
        }
    }

    /// Adds the items of an array in the payload, or a single value.
    ///
    /// Returns `false` if one is invalid.
    mutating func addPayloadItems(_ pointer: Int32, _ field: Ref<CompiledField>) -> Bool {
        if !record.payload.isRead { return true }
        let number = number(pointer)
        guard let root = root(with: number) else { return true }
        guard record.payload.kind(number, in: root) == .array else {
            switch payloadValue(pointer) {
            case .text(let text): return addItem(text, field)
            case .null, .absent: return true
            case .invalid: return false
            }
        }
        let found: (first: Int, count: Int, hasOther: Bool)
        do throws(JSONError) {
            found = try record.payload.readItems(number, in: root, &record.texts)
        } catch {
            record.isBroken = true
            return false
        }
        var valid = !found.hasOther
        for index in 0..<found.count where valid { valid = addItem(record.payload.items[found.first + index], field) }
        return valid
    }
}
