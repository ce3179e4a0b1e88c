internal import ByteStorage
internal import LinkCoordinator
internal import StrictJSON

/// The reading of the headers of a push request, and their use for an event.
extension EventReader {
    /// Reads `headers`, whose values are strings or numbers.
    ///
    /// A null counts as absent. A header that cannot be read is skipped, with a note.
    mutating func readHeaders(_ first: UInt8, at start: Int) throws(JSONError) {
        guard first == UInt8(ascii: "{") else {
            try cursor.skip()
            return state.record(.type("expected `headers` to be an object", at: start))
        }
        state.hasOther = true
        state.headers = PushHeaders()
        var scope = try cursor.enterObject()
        while try cursor.nextMember(&scope) {
            let name = PushHeaders.Name(scope.name)
            let first = cursor.peek()
            let start = cursor.offset
            if let name, first == UInt8(ascii: "\"") {
                state.headers?.set(name, cursor.unescaped(try cursor.string()))
                continue
            }
            try cursor.skip()
            guard let name, first != UInt8(ascii: "n") else { continue }
            if first &- UInt8(ascii: "0") < 10 {
                state.headers?.set(name, text.slice(start, cursor.offset))
            } else {
                state.headers?.setUnreadable(name)
            }
        }
    }

    /// Applies the headers to an event whose payload is a body of APNs.
    mutating func applyHeaders() {
        guard let headers = state.headers, messages.push?.pointee.kind == .apns else { return }
        if !eventPointer.pointee.hasApplication, !headers.application.isEmpty {
            eventPointer.pointee.application = headers.application
            eventPointer.pointee.hasApplication = true
        }
        if eventPointer.pointee.id.isEmpty, !headers.id.isEmpty {
            eventPointer.pointee.id = headers.id
            eventPointer.pointee.idIsPlain = false
            state.hasHeaderID = true
        }
        if eventPointer.pointee.expires == nil { eventPointer.pointee.expires = headers.expires }
        messages.isBackground = headers.isBackground
        for name in PushHeaders.Name.allCases where headers.isUnreadable(name) { messages.noteHeader(name) }
    }
}
