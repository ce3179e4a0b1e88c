internal import ByteStorage
internal import StrictJSON

// Encodes the request that a deferred decision resumes. It has the form of an event's request, so it can be sent as a
// new event.
// See DecisionReference, "Resume".
extension Resolver {
    /// Writes `resume`: the claim, the request, and the time for which it can be resumed.
    mutating func writeResume(_ guarding: Ref<CompiledGuard>, _ out: inout OutputArena) {
        out.append(",\"resume\":{\"claim\":")
        out.appendString(guarding.claim)
        if record.resumed.isEmpty {
            writeRequest(&out)
        } else {
            out.append(record.resumed)
        }
        out.append(",\"ttl\":")
        out.append(decimal: guarding.ttlSeconds)
        if guarding.once { out.append(",\"once\":true") }
        out.append(byte: UInt8(ascii: "}"))
    }

    /// Creates the members of the resumed request, once for all devices of a record.
    ///
    /// Only parameters and payloads are created in advance, because their text in the record may be far longer than the
    /// compact form.
    mutating func makeResumed() throws(Rejection) {
        guard record.resumed.isEmpty else { return }
        let json: ByteView
        if request.form == .route {
            json = request.params
        } else if request.form == .payload && !bindsPayload && requested.link.isEmpty {
            json = requested.params
        } else if request.form == .payload && bindsPayload {
            record.hasData = true
            record.resumed = record.texts.write { arena in
                arena.append(",\"payload\":")
                arena.appendCompact(request.payload)
                if request.tapped.kind != .unknown && !request.action.isEmpty {
                    arena.append(",\"action\":")
                    arena.appendString(request.action)
                }
                switch request.payloadType {
                case .unspecified: break
                case .apns: arena.append(",\"payloadType\":\"apns\"")
                case .fcm: arena.append(",\"payloadType\":\"fcm\"")
                }
            }
            return
        } else {
            return
        }
        record.hasData = true
        let id = request.form == .route ? request.text : requested.route
        do throws(JSONError) {
            record.resumed = try record.texts.write { arena throws(JSONError) in
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

    /// A Boolean value that indicates whether the route, or a route that supplies its parent entries, binds fields from
    /// the payload.
    private var bindsPayload: Bool {
        mutating get { selection.route.map { $0.bindsPayload } ?? false }
    }

    /// Writes the original link or path, or the link that was found in a payload.
    private mutating func writeRequest(_ out: inout OutputArena) {
        guard request.form == .path else {
            out.append(",\"link\":")
            return out.appendString(request.form == .link ? request.text : requested.link)
        }
        out.append(",\"path\":")
        out.appendString(request.text)
        switch request.mode {
        case .unspecified: break
        case .replace: out.append(",\"mode\":\"replace\"")
        case .append: out.append(",\"mode\":\"append\"")
        case .reuse: out.append(",\"mode\":\"reuse\"")
        }
    }
}
