package import ByteStorage
internal import StrictJSON

/// The members that the worker adds to a decision.
package struct DecisionHead {
    /// The position of the source record, `topic-partition-offset`, or empty for a decision that only has the context.
    package var source: ByteView
    /// The index of the device in the event.
    package var index: Int
    /// The event id of the producer, or empty for `topic-partition-offset`.
    package var event: ByteView
    /// A Boolean value that indicates whether `event` needs no JSON escapes.
    package var eventIsPlain: Bool
    /// The id of the device.
    package var device: ByteView
    /// A Boolean value that indicates whether `device` needs no JSON escapes.
    package var deviceIsPlain: Bool
    /// The application that the event states, or empty.
    package var application: ByteView
    /// The members of `context`, as `"name":value,"name":value`, or empty.
    package var context: ByteView
    /// A Boolean value that indicates whether `device` is the name of a user without devices.
    package var isUser = false
    /// The facts that come from the registry of devices, as `"name":value,"name":value`, or empty.
    package var facts = ByteView.empty
    /// The names of the query items whose values are written as `context.query`, or nil for none.
    package var queryNames: UnsafeMutablePointer<QueryNames>?
    /// The time at which the event expires, in milliseconds since 1970, or nil.
    package var expires: Int64?

    /// Creates a head.
    package init(
        source: ByteView, index: Int, event: ByteView, eventIsPlain: Bool, device: ByteView,
        deviceIsPlain: Bool, application: ByteView = .empty, context: ByteView
    ) {
        self.source = source
        self.index = index
        self.event = event
        self.eventIsPlain = eventIsPlain
        self.device = device
        self.deviceIsPlain = deviceIsPlain
        self.application = application
        self.context = context
    }
}

// Encodes decisions as JSON: members in a fixed order, without white space and without empty members.
// See DecisionReference, "Members".
// See RouteTableReference, "Normalization".
extension Resolver {
    /// Writes `{` and the members of the worker.
    ///
    /// Room for them is reserved at once.
    @inline(__always)
    mutating func writeStart(_ out: inout OutputArena) {
        if let head, head.source.count > 0 {
            let names = head.event.count &+ head.device.count &+ head.application.count
            let texts = head.source.count &* 2 &+ names &* 6
            out.reserve(texts &+ 192 &+ OutputArena.slack)
            out.put("{\"decision\":\"")
            out.putShort(head.source)
            out.put(byte: UInt8(ascii: "-"))
            if head.index < 10 {
                out.put(byte: UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: head.index))
            } else {
                out.append(decimal: Int64(head.index))
            }
            out.put("\",\"event\":\"")
            if head.event.isEmpty {
                out.putShort(head.source)
            } else {
                write(head.event, isPlain: head.eventIsPlain, &out)
            }
            if head.isUser { out.put("\",\"user\":\"") } else { out.put("\",\"device\":\"") }
            write(head.device, isPlain: head.deviceIsPlain, &out)
            if !head.application.isEmpty {
                out.put("\",\"application\":\"")
                out.putEscaped(head.application)
            }
            out.put("\",")
        } else {
            out.append(byte: UInt8(ascii: "{"))
        }
    }

    /// Writes `{` and all members before `outcome`.
    private mutating func writeHead(_ out: inout OutputArena) {
        writeStart(&out)
        if let route = selection.route {
            let name = route.head
            let number = variant.map { $0.json } ?? .empty
            out.reserve(name.count &+ number.count &+ OutputArena.slack)
            out.putPadded(name)
            out.putPadded(number)
        } else {
            out.appendPadded(tableData.head)
        }
        if !via.isEmpty { writeVia(&out) }
    }

    /// Writes the content of a JSON string into reserved room.
    @inline(__always)
    private mutating func write(_ text: ByteView, isPlain: Bool, _ out: inout OutputArena) {
        if isPlain { out.putShort(text) } else { out.putEscaped(text) }
    }

    private mutating func writeVia(_ out: inout OutputArena) {
        out.append(",\"via\":[")
        for index in 0..<via.count {
            if index > 0 { out.append(byte: UInt8(ascii: ",")) }
            out.append(byte: UInt8(ascii: "\""))
            out.append(tableData.routes.at(Int(via[index])).id)
            out.append(byte: UInt8(ascii: "\""))
        }
        out.append(byte: UInt8(ascii: "]"))
    }

    /// Writes the last members of the decision: `context`, `facts`, and `notes`.
    @inline(__always)
    mutating func writeTail(_ out: inout OutputArena) {
        if let head {
            if head.context.count > 0 || head.expires != nil || hasQuery(head) { writeContext(head, &out) }
            if head.facts.count > 0 {
                out.append(",\"facts\":{")
                out.append(head.facts)
                out.append(byte: UInt8(ascii: "}"))
            }
        }
        if notes.count > 0 { writeNotes(&out) }
        out.append(byte: UInt8(ascii: "}"))
    }

    /// Returns a Boolean value that indicates whether there is a query in which `context.query` may have values.
    @inline(__always)
    private mutating func hasQuery(_ head: Ref<DecisionHead>) -> Bool {
        guard head.queryNames != nil else { return false }
        return link.query != nil || request.found.wrapperQuery.count | requested.wrapperQuery.count != 0
    }

    private mutating func writeNotes(_ out: inout OutputArena) {
        out.append(",\"notes\":[")
        for index in 0..<notes.count {
            if index > 0 { out.append(byte: UInt8(ascii: ",")) }
            let note = notes.base + index
            out.append(byte: UInt8(ascii: "\""))
            out.append(note.pointee.head)
            out.appendEscaped(note.pointee.name)
            out.append(note.pointee.middle)
            out.appendEscaped(note.pointee.value)
            out.append(byte: UInt8(ascii: "\""))
        }
        out.append(byte: UInt8(ascii: "]"))
    }

    private mutating func writeReason(_ rejection: Rejection, _ out: inout OutputArena) {
        out.append(",\"reason\":\"")
        out.append(rejection.reason.view)
        out.append(byte: UInt8(ascii: "\""))
        if rejection.head.isEmpty && rejection.number < 0 { return }
        out.append(",\"detail\":\"")
        let remaining = max(0, maxDetailBytes - rejection.head.count)
        out.appendEscaped(rejection.head.prefix(bytes: maxDetailBytes))
        if rejection.number >= 0 { out.append(decimal: Int64(rejection.number)) }
        if !rejection.tail.isEmpty && remaining > 1 {
            out.append(byte: UInt8(ascii: "."))
            out.appendEscaped(rejection.tail.prefix(bytes: remaining - 1))
        }
        out.append(byte: UInt8(ascii: "\""))
    }

    /// Writes a decision that has only a reason.
    mutating func writeReasoned(_ summary: DecisionSummary, _ rejection: Rejection, _ out: inout OutputArena) {
        writeHead(&out)
        if summary.outcome == .none {
            out.append(",\"outcome\":\"none\"")
        } else {
            out.append(",\"outcome\":\"reject\"")
        }
        writeReason(rejection, &out)
        writeTail(&out)
    }

    /// Writes the decision for an event that opens nothing, for a reason that precedes the resolution.
    mutating func writeNone(_ reason: ByteView, _ out: inout OutputArena) {
        writeHead(&out)
        out.append(",\"outcome\":\"none\",\"reason\":\"")
        out.append(reason)
        out.append(byte: UInt8(ascii: "\""))
        writeTail(&out)
    }

    /// Writes a decision to open a URL.
    mutating func writeExternal(
        _ url: ByteView, notice: ByteView, _ rejection: Rejection?, _ out: inout OutputArena
    ) {
        writeHead(&out)
        out.append(",\"outcome\":\"external\",\"url\":")
        out.appendString(url)
        writeNotice(notice, &out)
        if let rejection { writeReason(rejection, &out) }
        writeTail(&out)
    }

    private mutating func writeNotice(_ notice: ByteView, _ out: inout OutputArena) {
        if notice.isEmpty { return }
        out.append(",\"notice\":")
        out.appendString(notice)
    }

    /// Writes a decision to apply a stack.
    @inline(__always)
    mutating func writeStack(
        _ composition: Composition, notice: ByteView, _ rejection: Rejection?, _ out: inout OutputArena
    ) {
        writeHead(&out)
        if composition.isStatic {
            run(composition.target.ref(\.program), scope: 0, &out)
        } else {
            out.append(",\"outcome\":\"navigate\"")
            writeDynamicStack(composition, &out)
        }
        writeNotice(notice, &out)
        if let rejection { writeReason(rejection, &out) }
        writeTail(&out)
    }

    /// Writes a decision to show a guard's stack now and to resume the request later.
    mutating func writeDeferred(
        _ guarding: Ref<CompiledGuard>, _ composition: Composition, _ out: inout OutputArena
    ) {
        writeHead(&out)
        out.append(",\"outcome\":\"deferred\"")
        writeDynamicStack(composition, &out)
        out.append(",\"guard\":\"")
        out.append(guarding.name)
        out.append(byte: UInt8(ascii: "\""))
        if guarding.resumes { writeResume(guarding, &out) }
        writeTail(&out)
    }

    /// Writes `mode`, `dismissModals`, `path`, and `stack` of the composed stack.
    private mutating func writeDynamicStack(_ composition: Composition, _ out: inout OutputArena) {
        switch composition.mode {
        case .append: out.append(",\"mode\":\"append\"")
        case .reuse: out.append(",\"mode\":\"reuse\"")
        case .replace, .unspecified: out.append(",\"mode\":\"replace\"")
        }
        if composition.target.dismissModals { out.append(",\"dismissModals\":true") }
        out.append(",\"path\":\"")
        var coordinator: Int32 = -1
        for index in 0..<stack.count {
            let screen = tableData.screens.at(Int(stack[index].screen))
            if screen.coordinator != coordinator {
                coordinator = screen.coordinator
                out.append(byte: UInt8(ascii: "/"))
                out.append(tableData.coordinators.at(Int(coordinator)).name)
            }
            out.append(byte: UInt8(ascii: "/"))
            out.append(screen.name)
        }
        if stack.isEmpty { out.append(byte: UInt8(ascii: "/")) }
        out.append("\",\"stack\":[")
        for index in 0..<stack.count {
            if index > 0 { out.append(byte: UInt8(ascii: ",")) }
            run(Ref(stack.base + index).ref(\.program), scope: stack[index].scope, &out)
        }
        out.append(byte: UInt8(ascii: "]"))
    }

    /// Runs a program: copies constant bytes and writes values from their scope.
    ///
    /// Room for all constant bytes is reserved at the start and again with each value, so constant bytes are copied
    /// without further checks.
    private mutating func run(_ program: Ref<Program>, scope: UInt8, _ out: inout OutputArena) {
        let constant = program.constantBytes &+ OutputArena.slack
        out.reserve(constant)
        var mark = 0
        var empty = 0
        guard var op = program.ops.baseAddress else { return }
        let end = op + program.ops.count
        while op < end {
            switch op.pointee.kind {
            case .bytes: out.putPadded(op.pointee.bytes)
            case .value: writeValue(Int(op.pointee.field), scope: scope, reserve: constant, &out)
            case .text: writeText(Int(op.pointee.field), scope: scope, reserve: constant, &out)
            case .identityStart:
                mark = out.recordBytes
                out.putPadded(op.pointee.bytes)
                empty = out.recordBytes
            case .identityEnd:
                if out.recordBytes == empty {
                    out.truncateRecord(to: mark)
                } else {
                    out.putPadded(op.pointee.bytes)
                }
            }
            op += 1
        }
    }

    /// Writes the JSON of a field's value, or of its absence.
    @inline(__always)
    private mutating func writeValue(_ field: Int, scope: UInt8, reserve constant: Int, _ out: inout OutputArena) {
        let value = values.base + values.slot(field, scope: scope)
        if value.pointee.stamp != values.stamp(of: scope) || value.pointee.state.isAbsent {
            let absent = tableData.fields.at(field).absentJSON
            out.reserve(absent.count &+ constant)
            out.putPadded(absent)
        } else if value.pointee.state == .list {
            writeList(value.pointee, &out)
            out.reserve(constant)
        } else {
            write(value, reserve: constant, &out)
        }
    }

    private mutating func writeList(_ value: BoundValue, _ out: inout OutputArena) {
        out.append(byte: UInt8(ascii: "["))
        for index in 0..<Int(value.count) {
            if index > 0 { out.append(byte: UInt8(ascii: ",")) }
            write(values.items.base + (Int(value.first) &+ index), reserve: OutputArena.slack, &out)
        }
        out.append(byte: UInt8(ascii: "]"))
    }

    /// Writes a value and reserves room for the bytes that follow it.
    @inline(__always)
    private mutating func write(
        _ value: UnsafeMutablePointer<BoundValue>, reserve constant: Int, _ out: inout OutputArena
    ) {
        let view = value.pointee.view
        switch value.pointee.state {
        case .text:
            out.reserve(view.count &* 6 &+ 2 &+ constant)
            out.put(byte: UInt8(ascii: "\""))
            out.putEscaped(view)
            out.put(byte: UInt8(ascii: "\""))
        case .uuid:
            out.reserve(view.count &+ 2 &+ constant)
            out.put(byte: UInt8(ascii: "\""))
            out.putUppercased(view)
            out.put(byte: UInt8(ascii: "\""))
        case .plain:
            out.reserve(view.count &+ constant)
            out.putShort(view)
        case .missing, .invalid, .list:
            out.reserve(4 &+ constant)
            out.put("null")
        }
    }

    /// Writes the canonical text of a field into a JSON string, for an identity.
    private mutating func writeText(_ field: Int, scope: UInt8, reserve constant: Int, _ out: inout OutputArena) {
        if values.isMissing(field, scope: scope) {
            out.appendEscaped(tableData.fields.at(field).absentText)
        } else {
            let value = values[values.slot(field, scope: scope)]
            if value.state == .uuid { out.appendUppercased(value.view) } else { out.appendEscaped(value.view) }
        }
        out.reserve(constant)
    }

    // Encodes the request that a deferred decision resumes. It has the form of an event's request, so it can be sent as
    // a new event. See DecisionReference, "Resume".

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

    /// Builds the URL of an external target, with percent-encoded captures and each segment of a tail encoded
    /// separately.
    ///
    /// The bytes are valid until the next template is texts.built.
    ///
    /// See RouteTableReference, "Targets".
    package mutating func externalURL(_ template: UnsafeBufferPointer<CompiledTemplatePart>) throws(Rejection)
        -> ByteView
    {
        texts.built.begin()
        for index in 0..<template.count {
            let part = template.at(index)
            switch part.kind {
            case .bytes: texts.built.append(part.bytes)
            case .segmentEnd: break
            case .query:
                if case .text(let value) = find(part.ref(\.query)) { PercentDecoding.encode(value, into: &texts.built) }
            case .capture:
                if let first = tail(part.name) {
                    for index in first..<max(first, path.count) {
                        if index > first { texts.built.append(byte: UInt8(ascii: "/")) }
                        PercentDecoding.encode(path[index].text, into: &texts.built)
                    }
                } else {
                    PercentDecoding.encode(capture(part.name) ?? rewritten(part.name) ?? .empty, into: &texts.built)
                }
            }
        }
        let url = texts.built.finish()
        if Self.hasDotSegment(url) { throw Rejection(.dotSegment) }
        return url
    }

    /// Returns a Boolean value that indicates whether the URL's path has a segment `.` or `..`, which a browser would
    /// resolve.
    private static func hasDotSegment(_ url: ByteView) -> Bool {
        if !beginsWithDot(url) { return false }
        var start = 0
        var index = 0
        while index <= url.count {
            let byte = index < url.count ? url.start[index] : UInt8(ascii: "/")
            if byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") {
                let length = index &- start
                if length > 0 && length <= 2 && url.start[start] == UInt8(ascii: ".")
                    && url.start[index &- 1] == UInt8(ascii: ".")
                {
                    return true
                }
                if index < url.count && byte != UInt8(ascii: "/") { return false }
                start = index &+ 1
            }
            index &+= 1
        }
        return false
    }

    /// Returns a Boolean value that indicates whether a dot follows a slash anywhere.
    ///
    /// If no dot follows a slash, no segment consists of dots.
    private static func beginsWithDot(_ url: ByteView) -> Bool {
        var index = 0
        while index &+ 9 <= url.count {
            let slashes = ByteScan.zeros(ByteScan.load(url, index) ^ 0x2F2F_2F2F_2F2F_2F2F)
            let dots = ByteScan.zeros(ByteScan.load(url, index &+ 1) ^ 0x2E2E_2E2E_2E2E_2E2E)
            if slashes & dots != 0 { return true }
            index &+= 8
        }
        while index &+ 1 < url.count {
            if url.start[index] == UInt8(ascii: "/") && url.start[index &+ 1] == UInt8(ascii: ".") { return true }
            index &+= 1
        }
        return false
    }
}
