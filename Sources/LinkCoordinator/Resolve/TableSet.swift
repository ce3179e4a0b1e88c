package import ByteStorage

extension Resolver {
    /// Returns a Boolean value that indicates whether the table reads links of this scheme and host.
    ///
    /// A set of tables uses it to find the table for a link.
    mutating func acceptsOrigin(
        of request: UnsafePointer<RequestView>, table: TableHandle, keepsReadings: Bool
    ) throws(Rejection) -> Bool {
        start(request, device.facts.pointer, table: table, keepsReadings: keepsReadings)
        switch request.pointee.form {
        case .link: return acceptsOrigin(request.pointee.text)
        // The link is valid as long as the data of the record. This check does not change the data.
        case .payload:
            let request = request.pointee
            if request.tapped.kind != .unknown {
                return request.tapped.kind == .link && acceptsOrigin(request.tapped.link)
            }
            let link = try findPayloadLink()
            if !link.isEmpty { return acceptsOrigin(link) }
            return request.found.kind == .link && acceptsOrigin(request.found.link)
        case .path, .route: return false
        }
    }

    /// Returns the link that the table's pointers lead to in a payload, or an empty view.
    ///
    /// The readings are kept for `resolve(…, keepsReadings: true)`.
    package mutating func pointerLink(
        _ request: UnsafePointer<RequestView>, table: TableHandle, keepsReadings: Bool
    ) throws(ReadingFailure) -> ByteView {
        start(request, device.facts.pointer, table: table, keepsReadings: keepsReadings)
        do throws(Rejection) {
            return try findPayloadLink()
        } catch {
            throw ReadingFailure()
        }
    }

    /// Returns a Boolean value that indicates whether the table reads links with the link's scheme and host.
    ///
    /// The rest of the link does not count. For example, the table that reads the origin also decides about a link that
    /// is too long, as if it were the only table.
    private mutating func acceptsOrigin(_ link: ByteView) -> Bool { (try? readOrigin(link)) != nil }
}

/// The tables that a process serves, with the selection of the table for an event.
///
/// See EventReference, "Choice of the table".
package struct TableSet: Sendable {
    /// The tables, in the given order.
    package let tables: [RouteTable]

    private let applications: [(name: [UInt8], table: Int)]
    private let pointers: SharedPointers
    private let handles: [TableHandle]
    private let only: TableHandle?

    /// Creates a set of at least one table.
    package init(_ tables: [RouteTable]) {
        self.tables = tables
        let pointers = SharedPointers(tables.map(\.source))
        self.pointers = pointers
        handles = tables.enumerated().map { pointers.handle($0.element.compiled, at: $0.offset) }
        only = tables.count == 1 ? handles[0] : nil
        applications = tables.enumerated().flatMap { index, table in
            table.source.applications.map { ([UInt8]($0.value.utf8), index) }
        }
    }

    /// The only table, or nil if there are several.
    package var single: TableHandle? { only }

    /// Returns the table for an event: the one of its application, the only table, or the one that reads the link.
    ///
    /// Returns nil if there is no such table or more than one. The handle is valid as long as the set. A payload is
    /// read once for all tables. The resolver keeps the result for `resolve(…, keepsReadings: true)`. `keepsReadings`
    /// indicates that it has already read the payload.
    ///
    /// - Throws: A `ReadingFailure` if a strictly validated payload cannot be read.
    @inline(__always)
    package func table(
        application: ByteView?, request: UnsafePointer<RequestView>, keepsReadings: Bool = false,
        using resolver: inout Resolver
    ) throws(ReadingFailure) -> TableHandle? {
        if application == nil, let only { return only }
        return try search(
            application: application, request: request, keepsReadings: keepsReadings, using: &resolver)
    }

    /// Returns the link that the pointers of every table lead to in a payload, or an empty view if they lead to none or
    /// to different ones.
    ///
    /// The resolver keeps the readings for `table(application:request:keepsReadings:using:)`.
    package func pointerLink(
        _ request: UnsafePointer<RequestView>, using resolver: inout Resolver
    ) throws(ReadingFailure) -> ByteView {
        var found = ByteView.empty
        for (index, handle) in handles.enumerated() {
            let link = try resolver.pointerLink(request, table: handle, keepsReadings: index > 0)
            if index > 0 && link != found { return .empty }
            found = link
        }
        return found
    }

    /// Returns a Boolean value that indicates whether a request without a table opens nothing, whichever table reads
    /// it.
    ///
    /// The resolver must have searched for the table of the same request.
    package func opensNothing(
        _ request: UnsafePointer<RequestView>, using resolver: inout Resolver
    ) throws(ReadingFailure) -> Bool {
        let tapped = request.pointee.tapped.kind
        let found = request.pointee.found.kind
        switch request.pointee.form {
        case .path, .route: return false
        case .link: return found != .unknown && found != .link
        case .payload:
            if tapped != .unknown { return tapped != .link }
            if found == .link { return false }
            for handle in handles {
                do throws(Rejection) {
                    if try resolver.opensByPointer(request, table: handle) { return false }
                } catch {
                    throw ReadingFailure()
                }
            }
            return true
        }
    }

    /// Returns the tables whose link blocks accept the scheme and host of the request's link.
    ///
    /// The set has a table for the request without an application only if there is exactly one.
    package func claimants(
        of request: UnsafePointer<RequestView>, using resolver: inout Resolver
    ) throws(ReadingFailure) -> [RouteTable] {
        var found: [RouteTable] = []
        for (index, handle) in handles.enumerated() {
            do throws(Rejection) {
                if try resolver.acceptsOrigin(of: request, table: handle, keepsReadings: index > 0) {
                    found.append(tables[index])
                }
            } catch {
                throw ReadingFailure()
            }
        }
        return found
    }

    @inline(never)
    private func search(
        application: ByteView?, request: UnsafePointer<RequestView>, keepsReadings: Bool,
        using resolver: inout Resolver
    ) throws(ReadingFailure) -> TableHandle? {
        if let application {
            resolver.forgetRecord()
            return table(application: application)
        }
        var found: TableHandle?
        for (index, handle) in handles.enumerated() {
            do throws(Rejection) {
                let isRead = keepsReadings || index > 0
                guard try resolver.acceptsOrigin(of: request, table: handle, keepsReadings: isRead) else { continue }
            } catch {
                throw ReadingFailure()
            }
            if found != nil { return nil }
            found = handle
        }
        return found
    }

    private func table(application: ByteView) -> TableHandle? {
        var found: Int?
        for entry in applications where Self.equal(entry.name, application) {
            if let found, found != entry.table { return nil }
            found = entry.table
        }
        return found.map { handles[$0] }
    }

    private static func equal(_ name: [UInt8], _ view: ByteView) -> Bool {
        name.count == view.count && name.withUnsafeBufferPointer { ByteView($0) == view }
    }
}

/// An error that occurs when strictly validated data cannot be read again.
///
/// The record becomes a dead letter with the reason `internal`, never a different decision.
package struct ReadingFailure: Error {}

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
        findQuery(of: request)
        notes.removeAll()
        let isTapped = request.pointee.tapped.kind != .unknown
        if isOver {
            appendShortLinks(of: request)
        } else {
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

    /// Appends the decision `none` for a user without devices, which needs no table and reads no link.
    ///
    /// The head must have no names of query items.
    package mutating func decideNoDevice(
        head: UnsafePointer<DecisionHead>, into out: inout OutputArena
    ) -> DecisionSummary {
        self.head = Ref(head)
        notes.removeAll()
        writeStart(&out)
        out.append("\"outcome\":\"none\",\"reason\":\"no_device\"")
        writeTail(&out)
        return DecisionSummary(.none)
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
