package import ByteStorage

// Decides for a request that opens nothing, whichever table reads it.
// See EventReference, "Choice of the table".
extension Resolver {
    /// Appends the decision `none` for a request that needs no table, and therefore without the member `table`.
    ///
    /// `TableSet.opensNothing` must have returned true for the request.
    package mutating func decideNothing(
        _ request: UnsafePointer<RequestView>, isOver: Bool, head: UnsafePointer<DecisionHead>?,
        into out: inout OutputArena
    ) -> DecisionSummary {
        self.request = Ref(request)
        self.head = head.map { Ref($0) }
        notes.removeAll()
        let isTapped = request.pointee.tapped.kind != .unknown
        if !isOver {
            let isWhole = request.pointee.form == .payload && !isTapped
            appendNotes(0..<(isWhole ? request.pointee.notes.count : request.pointee.earlyNotes))
        }
        writeStart(&out)
        out.append("\"outcome\":\"none\",\"reason\":\"")
        var summary = DecisionSummary(.none)
        switch isTapped ? request.pointee.tapped.kind : request.pointee.found.kind {
        case _ where isOver: out.append("expired")
        case .opensApp: out.append("open_app")
        case .needsResolution: out.append("needs_resolution")
        case .unknown, .link, .noLink:
            summary = DecisionSummary(.none, .noLink)
            out.append("no_link")
        }
        out.append(byte: UInt8(ascii: "\""))
        writeTail(&out)
        return summary
    }

    /// Returns a Boolean value that indicates whether the table's pointers lead to a link or a route in a payload.
    ///
    /// The payload must have been read before for all tables.
    mutating func opensByPointer(
        _ request: UnsafePointer<RequestView>, table: TableHandle
    ) throws(Rejection) -> Bool {
        start(request, device.facts.pointer, table: table, keepsReadings: true)
        return try !findPayloadLink().isEmpty || hasPayloadRoute
    }
}
