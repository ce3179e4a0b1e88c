package import ByteStorage

extension Resolver {
    /// Whether a table reads links of this scheme and host: what it claims, of several tables.
    mutating func claims(
        _ request: UnsafePointer<RequestView>, table: TableHandle, keepsReadings: Bool
    ) throws(Rejection) -> Bool {
        start(request, device.pointer, table: table, keepsReadings: keepsReadings)
        switch request.pointee.form {
        case .link: return claims(request.pointee.text)
        // The link lives as long as what was read of the record, which looking at it does not touch.
        case .payload:
            let link = try findPayloadLink()
            return !link.isEmpty && claims(link)
        case .path, .route: return false
        }
    }

    private mutating func claims(_ link: ByteView) -> Bool {
        link.count <= image.maxBytes && (try? readOrigin(link)) != nil
    }
}

/// The tables that a process serves, and which of them an event is for (`events`, section 2: `application`).
package struct TableSet: Sendable {
    /// The tables, in the order in which they were given.
    package let tables: [RouteTable]

    private let applications: [(name: [UInt8], table: Int)]
    private let pointers: SharedPointers
    private let handles: [TableHandle]
    private let only: TableHandle?

    /// Makes a set of at least one table.
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

    /// The only table, if there is one.
    package var single: TableHandle? { only }

    /// The table for an event: by its application, else the only table, else the one that claims the link.
    ///
    /// Nil where none is it, or several are. What is returned lives as long as the set. A payload is read once for all
    /// tables; the resolver keeps what was read for `resolve(…, keepsReadings: true)`.
    ///
    /// - Throws: `ReadingFailure` where a payload that was read strictly does not read again.
    @inline(__always)
    package func table(
        application: ByteView?, request: UnsafePointer<RequestView>, using resolver: inout Resolver
    ) throws(ReadingFailure) -> TableHandle? {
        if application == nil, let only { return only }
        return try search(application: application, request: request, using: &resolver)
    }

    @inline(never)
    private func search(
        application: ByteView?, request: UnsafePointer<RequestView>, using resolver: inout Resolver
    ) throws(ReadingFailure) -> TableHandle? {
        if let application {
            resolver.forgetRecord()
            return table(application: application)
        }
        var found: TableHandle?
        for (index, handle) in handles.enumerated() {
            do throws(Rejection) {
                guard try resolver.claims(request, table: handle, keepsReadings: index > 0) else { continue }
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

/// What was read strictly did not read again: a record ends as a dead letter `internal`, never as another decision.
package struct ReadingFailure: Error {}
