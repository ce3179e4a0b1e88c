package import ByteStorage
internal import StrictJSON

// A push payload (N10): the table's pointers look in it for a link or a route, and routes bind from it.
extension Resolver {
    /// Reads the payload for the pointers of all tables, once for a record.
    private mutating func readPointers() throws(Rejection) {
        if payload.isRead { return }
        hasReadings = true
        do throws(JSONError) {
            try payload.read(request.roots, pointers)
        } catch {
            throw Rejection(.internalError)
        }
    }

    /// The number among all pointers of one of the table's own.
    @inline(__always)
    private mutating func number(_ pointer: Int32) -> Int32 {
        (pointerNumbers.unsafelyUnwrapped + Int(pointer)).pointee
    }

    /// Looks into a payload for a link, then for a route (N10); false if there is neither.
    package mutating func readPayload() throws(Rejection) -> Bool {
        let link = try findPayloadLink()
        if !link.isEmpty {
            payloadLink = link
            try normalise(link)
            try select()
            return true
        }
        guard image.payloadRoute >= 0 else { return false }
        for root in 0..<payload.roots {
            guard let id = string(number(image.payloadRoute), in: root) else { continue }
            payloadRoute = recordTexts.normalForm(id)
            if image.payloadParams >= 0, payload.kind(number(image.payloadParams), in: root) == .object {
                payloadParams = payload.raw(number(image.payloadParams), in: root)
            }
            try readRoute(payloadRoute, params: payloadParams)
            return true
        }
        return false
    }

    /// The first text that is not empty at one of the table's pointers, root after root; empty where there is none.
    package mutating func findPayloadLink() throws(Rejection) -> ByteView {
        try readPointers()
        for root in 0..<payload.roots {
            for pointer in image.payloadLinks {
                if let link = string(number(pointer), in: root) { return link }
            }
        }
        return .empty
    }

    /// The string at a pointer, unless it is empty: a number or a truth value there is no link and no route.
    private mutating func string(_ number: Int32, in root: Int) -> ByteView? {
        guard payload.kind(number, in: root) == .string else { return nil }
        let text = payload.text(number, in: root, &recordTexts)
        return text.isEmpty ? nil : text
    }

    /// The root that has a value at a pointer, the first of them; nil where none has.
    private mutating func root(with number: Int32) -> Int? {
        for root in 0..<payload.roots where payload.kind(number, in: root) != .absent { return root }
        return nil
    }

    /// The value that `payload./pointer` stands for: of the first root that has one.
    mutating func payloadValue(_ pointer: Int32) -> Found {
        if !payload.isRead { return .absent }
        let number = number(pointer)
        guard let root = root(with: number) else { return .absent }
        switch payload.kind(number, in: root) {
        case .absent: return .absent
        case .null: return .null
        case .object, .array: return .invalid
        case .string, .scalar: return .text(payload.normalText(number, in: root, &recordTexts))
        }
    }

    /// Adds the items of an array in the payload, or the one value that stands there; false where one is wrong.
    mutating func addPayloadItems(_ pointer: Int32, _ field: Ref<FieldImage>) -> Bool {
        if !payload.isRead { return true }
        let number = number(pointer)
        guard let root = root(with: number) else { return true }
        guard payload.kind(number, in: root) == .array else {
            switch payloadValue(pointer) {
            case .text(let text): return addItem(text, field)
            case .null, .absent: return true
            case .invalid: return false
            }
        }
        let found: (first: Int, count: Int, hasOther: Bool)
        do throws(JSONError) {
            found = try payload.readItems(number, in: root, &recordTexts)
        } catch {
            isBroken = true
            return false
        }
        var valid = !found.hasOther
        for index in 0..<found.count where valid { valid = addItem(payload.items[found.first + index], field) }
        return valid
    }
}
