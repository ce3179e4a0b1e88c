internal import ByteStorage
package import LinkCoordinator
package import LinkIngest

/// The table that decides about a request.
package enum TableChoice {
    /// This table decides.
    case table(TableHandle)
    /// The request opens nothing, whichever table reads it.
    case opensNothing
    /// No table claims the request, or more than one.
    case unknown
}

extension EventReader {
    /// Chooses the table for the selected device's view of the request.
    ///
    /// A link at the pointers of all tables is opened first, because the host of its destination chooses the table. If
    /// the link chooses, the resolver keeps what it has read of the payload.
    @inline(__always)
    package mutating func chooseTable(
        in tables: TableSet, using resolver: inout Resolver
    ) throws(ReadingFailure) -> TableChoice {
        let request = UnsafePointer(eventPointer.pointer(to: \.request).unsafelyUnwrapped)
        let application = eventPointer.pointee.hasApplication ? eventPointer.pointee.application : nil
        let isSearched = isSearched(in: tables)
        if isSearched && hasPointerLinks {
            let link = try tables.pointerLink(request, using: &resolver)
            if !link.isEmpty { openLink(link) }
        }
        let table = try tables.table(
            application: application, request: request, keepsReadings: isSearched && unwrapsLinks, using: &resolver)
        if let table { return .table(table) }
        guard isSearched, try tables.opensNothing(request, using: &resolver) else { return .unknown }
        return .opensNothing
    }

    /// Opens the link at the pointers of a table, which can be one of a link platform.
    ///
    /// Returns a Boolean value that indicates whether the payload was read for it.
    @inline(__always)
    package mutating func openPointerLink(
        of table: TableHandle, keepsReadings: Bool, using resolver: inout Resolver
    ) throws(ReadingFailure) -> Bool {
        guard hasPointerLinks else { return false }
        let request = UnsafePointer(eventPointer.pointer(to: \.request).unsafelyUnwrapped)
        let link = try resolver.pointerLink(request, table: table, keepsReadings: keepsReadings)
        if !link.isEmpty { openLink(link) }
        return true
    }

    /// Returns a Boolean value that indicates whether the link of the event chooses one of the tables.
    package func isSearched(in tables: TableSet) -> Bool {
        !eventPointer.pointee.hasApplication && tables.single == nil
    }

    /// A Boolean value that indicates whether a link of a link platform can be at the pointers of a table.
    var hasPointerLinks: Bool {
        let request = eventPointer.pointer(to: \.request).unsafelyUnwrapped
        return unwrapsLinks && request.pointee.form == .payload && request.pointee.tapped.kind == .unknown
    }
}
