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
        requested.wrapperQuery = opening.wrapperQuery
        guard opening.kind == .link else {
            refusal = opening.kind
            return nil
        }
        requested.link = opening.link
        return try select(
            normalize(opening.link, isScreened: opening.isScreened, bytesAfter: Int(opening.bytesAfter)))
    }

    /// Adds notes of the request.
    @inline(never)
    mutating func appendNotes(_ range: Range<Int>) {
        for index in range { notes.append(Note(request.notes[index])) }
    }

    /// Adds the notes about short links of a request that is not read, such as an event that has expired.
    ///
    /// The table and the query were chosen with them, so the decision cannot be made again without them.
    @inline(never)
    mutating func appendShortLinks(of request: UnsafePointer<RequestView>) {
        let isWhole = request.pointee.form == .payload && request.pointee.tapped.kind == .unknown
        for index in 0..<(isWhole ? request.pointee.notes.count : request.pointee.earlyNotes) {
            let note = request.pointee.notes[index]
            if note.code.equals(RequestNote.shortLink) { notes.append(Note(note)) }
        }
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

/// The value of a payload at a pointer.
struct PayloadValue {
    /// The kind of a value.
    enum Kind: UInt8 { case absent, null, string, scalar, object, array }
    var kind = Kind.absent
    /// The number of the payload that has the value, because values of earlier payloads count as absent.
    var payload: UInt64 = 0
    /// A Boolean value that indicates whether `text` is set.
    var hasText = false
    /// A Boolean value that indicates whether `normal` is set.
    var hasNormal = false
    /// A Boolean value that indicates whether `first`, `count`, and `hasOther` are set.
    var hasItems = false
    /// A Boolean value that indicates whether one of the visited items of an array is not a scalar.
    var hasOther = false
    /// The JSON text of the value.
    var raw = ByteView.empty
    /// The text of a string, number, or Boolean value.
    var text = ByteView.empty
    /// The text in normalization form C (NFC).
    var normal = ByteView.empty
    /// The position and number of the items of an array.
    var first: Int32 = 0
    var count: Int32 = 0
}

/// The values of a payload at all pointers of the tables, read once for a record regardless of its devices and tables.
///
/// The payload has been validated strictly before. If it cannot be read again, an error is thrown, and no value is
/// treated as absent.
struct PayloadReading: ~Copyable {
    private var cursor = JSONCursor(maxDepth: 512)
    /// The values by root and pointer.
    private var values = Growable<PayloadValue>(capacity: 8)
    /// The items of arrays, in normalization form C (NFC).
    private(set) var items = Growable<ByteView>(capacity: 8)
    private var pointers: Ref<PointerTrie>?
    /// The number of the payload.
    private var payload: UInt64 = 0
    /// The number of roots that were read.
    private(set) var roots = 0

    /// A Boolean value that indicates whether the payload of this request has been read.
    var isRead: Bool { pointers != nil }

    /// Removes the payload.
    mutating func forget() {
        pointers = nil
        roots = 0
        items.removeAll()
    }

    /// Finds the values of the pointers in each root of a request.
    ///
    /// The values of the payload were noted when the record was read. Only a payload without these notes is read again.
    mutating func read(_ request: Ref<RequestView>, _ pointers: Ref<PointerTrie>) throws(JSONError) {
        let roots = request.roots
        payload &+= 1
        while values.count < roots.count * pointers.count { values.append(PayloadValue()) }
        if let nodes = request.payloadNodes {
            walk(request.rootNodes.0, in: nodes, 0, pointers, from: 0)
            if roots.count > 1 { walk(request.rootNodes.1, in: nodes, 0, pointers, from: pointers.count) }
        } else {
            for (number, root) in roots.enumerated() {
                cursor.open(validated: root)
                try walk(0, pointers, from: number * pointers.count)
                try cursor.finish()
            }
        }
        self.roots = roots.count
        self.pointers = pointers
    }

    /// Notes the values of pointers among the values of a payload.
    ///
    /// The recursion is limited by the depth of the trie.
    private mutating func walk(
        _ number: Int32, in nodes: UnsafePointer<JSONTape.Node>, _ pointer: Int, _ trie: Ref<PointerTrie>,
        from first: Int
    ) {
        let node = nodes + Int(number)
        let pointerNode = trie.nodes.at(pointer)
        if node.pointee.kind == .object && pointerNode.hasMembers {
            var member = number &+ 1
            while member < node.pointee.end {
                let value = nodes + Int(member)
                if pointerNode.names & 1 &<< UInt64(value.pointee.nameHash & 63) != 0 {
                    let child = trie.names.find(
                        node: UInt32(truncatingIfNeeded: pointer &+ 1), text: value.pointee.name)
                    if child >= 0 { walk(member, in: nodes, child, trie, from: first) }
                }
                member = value.pointee.end
            }
        } else if node.pointee.kind == .array && !pointerNode.elements.isEmpty {
            var element = number &+ 1
            var index = 0
            for next in pointerNode.elements {
                while index < next.index, element < node.pointee.end {
                    element = nodes[Int(element)].end
                    index += 1
                }
                if element >= node.pointee.end { break }
                walk(element, in: nodes, Int(next.node), trie, from: first)
            }
        }
        guard pointerNode.number >= 0 else { return }
        var value = PayloadValue(kind: Self.kind(node.pointee.kind), payload: payload, raw: node.pointee.text)
        if value.kind == .string, !node.pointee.hasEscape {
            value.text = value.raw
            value.hasText = true
        } else if value.kind == .string {
            value.raw = ByteView(start: value.raw.start - 1, count: value.raw.count + 2, lease: value.raw.lease)
        }
        values[first + Int(pointerNode.number)] = value
    }

    private static func kind(_ kind: JSONTape.Kind) -> PayloadValue.Kind {
        switch kind {
        case .null: .null
        case .boolean, .number: .scalar
        case .string: .string
        case .array: .array
        case .object: .object
        }
    }

    /// Skips the value at the cursor and records the values that pointers refer to.
    ///
    /// `first` is the index in `values` at which the values of the root begin.
    ///
    /// The recursion is limited by the depth of the trie and of the cursor, which is at most 512.
    private mutating func walk(_ node: Int, _ trie: Ref<PointerTrie>, from first: Int) throws(JSONError) {
        let pointerNode = trie.nodes.at(node)
        let byte = cursor.peek()
        let start = cursor.offset
        if byte == UInt8(ascii: "{") && pointerNode.hasMembers {
            var scope = try cursor.enterObject()
            while try cursor.nextMember(&scope) {
                let child = trie.names.find(node: UInt32(truncatingIfNeeded: node &+ 1), text: scope.name)
                if child >= 0 { try walk(child, trie, from: first) } else { try cursor.skip() }
            }
        } else if byte == UInt8(ascii: "[") && !pointerNode.elements.isEmpty {
            try walkElements(pointerNode.elements, trie, from: first)
        } else {
            try cursor.skip()
        }
        guard pointerNode.number >= 0 else { return }
        let raw = ByteView(start: cursor.start + start, count: cursor.offset - start)
        values[first + Int(pointerNode.number)] = PayloadValue(kind: Self.kind(byte), payload: payload, raw: raw)
    }

    private mutating func walkElements(
        _ elements: UnsafeBufferPointer<PointerTrie.Element>, _ trie: Ref<PointerTrie>, from first: Int
    ) throws(JSONError) {
        var scope = try cursor.enterArray()
        var index = 0
        var next = 0
        while try cursor.nextElement(&scope) {
            if next < elements.count && elements[next].index == index {
                try walk(Int(elements[next].node), trie, from: first)
                next += 1
            } else {
                try cursor.skip()
            }
            index += 1
        }
    }

    private static func kind(_ first: UInt8) -> PayloadValue.Kind {
        switch first {
        case UInt8(ascii: "\""): .string
        case UInt8(ascii: "{"): .object
        case UInt8(ascii: "["): .array
        case UInt8(ascii: "n"): .null
        default: .scalar
        }
    }

    private func index(of pointer: Int32, in root: Int) -> Int {
        root * (pointers?.count ?? 0) + Int(pointer)
    }

    /// Returns the kind of the value at a pointer of a root.
    mutating func kind(_ pointer: Int32, in root: Int) -> PayloadValue.Kind {
        let index = index(of: pointer, in: root)
        return values[index].payload == payload ? values[index].kind : .absent
    }

    /// Returns the JSON text of the value at a pointer of a root.
    mutating func raw(_ pointer: Int32, in root: Int) -> ByteView { values[index(of: pointer, in: root)].raw }

    /// Returns the original text of the string or scalar at a pointer of a root.
    mutating func text(_ pointer: Int32, in root: Int, _ texts: inout RecordTexts) -> ByteView {
        let index = index(of: pointer, in: root)
        if !values[index].hasText {
            let raw = values[index].raw
            values[index].text = values[index].kind == .string ? texts.text(quoted: raw) : raw
            values[index].hasText = true
        }
        return values[index].text
    }

    /// Returns the text of the string or scalar at a pointer of a root in normalization form C (NFC).
    mutating func normalText(_ pointer: Int32, in root: Int, _ texts: inout RecordTexts) -> ByteView {
        let index = index(of: pointer, in: root)
        if !values[index].hasNormal {
            values[index].normal = texts.normalForm(text(pointer, in: root, &texts))
            values[index].hasNormal = true
        }
        return values[index].normal
    }

    /// Reads the items of the array at a pointer of a root.
    ///
    /// Nulls are skipped, and at most one item more than the maximum length of a list is read.
    mutating func readItems(
        _ pointer: Int32, in root: Int, _ texts: inout RecordTexts
    ) throws(JSONError) -> (first: Int, count: Int, hasOther: Bool) {
        let index = index(of: pointer, in: root)
        if !values[index].hasItems {
            let first = items.count
            cursor.open(validated: values[index].raw)
            var scope = try cursor.enterArray()
            while try cursor.nextElement(&scope) {
                let byte = cursor.peek()
                let raw = try cursor.skip()
                switch Self.kind(byte) {
                case .null, .absent: continue
                case .object, .array: values[index].hasOther = true
                case .string: items.append(texts.normalForm(texts.text(quoted: raw)))
                case .scalar: items.append(raw)
                }
                if values[index].hasOther || items.count - first > FieldType.maxListCount { break }
            }
            values[index].first = Int32(truncatingIfNeeded: first)
            values[index].count = Int32(truncatingIfNeeded: items.count - first)
            values[index].hasItems = true
        }
        return (Int(values[index].first), Int(values[index].count), values[index].hasOther)
    }
}
