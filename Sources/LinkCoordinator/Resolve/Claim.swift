package import StrictJSON

extension Resolver {
    /// Whether a table reads links of the scheme and host that a request has: what it claims, of several tables.
    ///
    /// The link of a payload is looked for and judged in one resolution, since it may stand in its scratch memory.
    package mutating func claims(_ request: UnsafePointer<LinkRequest>, table: TableHandle) -> Bool {
        start(request, device.pointer, image: table.image)
        let link: ByteView
        switch request.pointee.form {
        case .link: link = request.pointee.text
        case .payload:
            guard let found = findPayloadLink() else { return false }
            link = found
        case .path, .route: return false
        }
        if link.count > table.image.maxBytes { return false }
        return (try? readOrigin(link)) != nil
    }
}

/// The tables that a process serves, and which of them an event is for (`events`, section 2: `application`).
package struct TableSet: Sendable {
    /// The tables, in the order in which they were given.
    package let tables: [Table]

    /// What two of the tables claim both.
    package let conflicts: [TableConflict]

    private let applications: [(name: [UInt8], table: Int)]
    private let only: TableHandle?

    /// Makes a set of at least one table.
    package init(_ tables: [Table]) {
        self.tables = tables
        conflicts = TableConflict.all(among: tables)
        only = tables.count == 1 ? tables[0].compiled.handle : nil
        applications = tables.enumerated().flatMap { index, table in
            table.source.applications.map { ([UInt8]($0.value.utf8), index) }
        }
    }

    /// The table for an event: by its application, else the only table, else the one that claims the link.
    ///
    /// Nil where none is it, or several are. What is returned lives as long as the set.
    @inline(__always)
    package func table(
        application: ByteView?, request: UnsafePointer<LinkRequest>, using resolver: inout Resolver
    ) -> TableHandle? {
        if application == nil, let only { return only }
        return search(application: application, request: request, using: &resolver)
    }

    @inline(never)
    private func search(
        application: ByteView?, request: UnsafePointer<LinkRequest>, using resolver: inout Resolver
    ) -> TableHandle? {
        if let application { return table(application: application) }
        var found: TableHandle?
        for table in tables where resolver.claims(request, table: table.compiled.handle) {
            if found != nil { return nil }
            found = table.compiled.handle
        }
        return found
    }

    private func table(application: ByteView) -> TableHandle? {
        var found: Int?
        for entry in applications where Self.equal(entry.name, application) {
            if let found, found != entry.table { return nil }
            found = entry.table
        }
        return found.map { tables[$0].compiled.handle }
    }

    private static func equal(_ name: [UInt8], _ view: ByteView) -> Bool {
        name.count == view.count && name.withUnsafeBufferPointer { ByteView($0) == view }
    }
}
