internal import ByteStorage
internal import StrictJSON

// The request that a deferred decision resumes (3.6): one, which may be sent as a new event as it stands.
extension Resolver {
    /// Writes `resume`: the claim, the request, and how long it may wait.
    mutating func writeResume(_ guarding: Ref<GuardImage>, _ out: inout OutputArena) {
        out.append(",\"resume\":{\"claim\":")
        out.appendString(guarding.claim)
        if resumed.isEmpty {
            writeRequest(&out)
        } else {
            out.append(resumed)
        }
        out.append(",\"ttl\":")
        out.append(decimal: guarding.ttlSeconds)
        if guarding.once { out.append(",\"once\":true") }
        out.append(byte: UInt8(ascii: "}"))
    }

    /// Makes the request's members as `resume` says them, once for all devices of a record.
    ///
    /// Only parameters and payloads are: they may be far longer than what is left of them.
    mutating func makeResumed() throws(Rejection) {
        guard resumed.isEmpty else { return }
        let json: ByteView
        if request.form == .route {
            json = request.params
        } else if request.form == .payload && !bindsPayload && payloadLink.isEmpty {
            json = payloadParams
        } else if request.form == .payload && bindsPayload {
            hasReadings = true
            resumed = recordTexts.write { arena in
                arena.append(",\"payload\":")
                arena.appendCompact(request.payload)
                switch request.payloadType {
                case .unsaid: break
                case .apns: arena.append(",\"payloadType\":\"apns\"")
                case .fcm: arena.append(",\"payloadType\":\"fcm\"")
                }
            }
            return
        } else {
            return
        }
        hasReadings = true
        let id = request.form == .route ? request.text : payloadRoute
        do throws(JSONError) {
            resumed = try recordTexts.write { arena throws(JSONError) in
                arena.append(",\"route\":")
                arena.appendString(id)
                if json.isEmpty { return }
                arena.append(",\"params\":")
                try ParamWriter.write(json, into: &arena)
            }
        } catch {
            throw Rejection(.internalError)
        }
    }

    /// Whether the route, or one whose entries are its parents, binds from the payload.
    private var bindsPayload: Bool {
        mutating get { route >= 0 && image.routes.at(route).bindsPayload }
    }

    /// Writes a link or a path as it came; of a payload the link that was found in it.
    private mutating func writeRequest(_ out: inout OutputArena) {
        guard request.form == .path else {
            out.append(",\"link\":")
            return out.appendString(request.form == .link ? request.text : payloadLink)
        }
        out.append(",\"path\":")
        out.appendString(request.text)
        switch request.mode {
        case .unsaid: break
        case .replace: out.append(",\"mode\":\"replace\"")
        case .append: out.append(",\"mode\":\"append\"")
        case .reuse: out.append(",\"mode\":\"reuse\"")
        }
    }
}

/// Writes the parameters of a route as an event may have them: scalars, and lists of scalars.
enum ParamWriter {
    /// Appends an object without white space and without what is no parameter: objects, and in lists all but scalars.
    ///
    /// - Throws: Where the text, which was read strictly before, does not read again.
    static func write(_ json: ByteView, into arena: inout OutputArena) throws(JSONError) {
        var cursor = JSONCursor(maxDepth: 512)
        cursor.open(again: json)
        arena.append(byte: UInt8(ascii: "{"))
        var scope = try cursor.enterObject()
        var isFirst = true
        while try cursor.nextMember(&scope) {
            let byte = cursor.peek()
            if byte == UInt8(ascii: "{") {
                try cursor.skip()
                continue
            }
            if !isFirst { arena.append(byte: UInt8(ascii: ",")) }
            isFirst = false
            arena.appendString(scope.name)
            arena.append(byte: UInt8(ascii: ":"))
            if byte == UInt8(ascii: "[") {
                try writeList(&cursor, into: &arena)
            } else {
                arena.appendCompact(try cursor.skip())
            }
        }
        arena.append(byte: UInt8(ascii: "}"))
    }

    private static func writeList(_ cursor: inout JSONCursor, into arena: inout OutputArena) throws(JSONError) {
        arena.append(byte: UInt8(ascii: "["))
        var scope = try cursor.enterArray()
        var isFirst = true
        while try cursor.nextElement(&scope) {
            let byte = cursor.peek()
            let raw = try cursor.skip()
            if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") || byte == UInt8(ascii: "n") { continue }
            if !isFirst { arena.append(byte: UInt8(ascii: ",")) }
            isFirst = false
            arena.appendCompact(raw)
        }
        arena.append(byte: UInt8(ascii: "]"))
    }
}
