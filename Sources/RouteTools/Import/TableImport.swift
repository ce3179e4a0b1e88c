package import LinkCoordinator
internal import RouteAnalysis

/// A table that is made from the description of links of another system.
package struct TableImport: Sendable {
    /// A description of links.
    package enum Source: String, Sendable, CaseIterable {
        /// An apple-app-site-association file.
        case aasa
        /// An Android manifest, or its intent filters.
        case manifest
        /// The `linking` object of React Navigation, as JSON.
        case reactNavigation = "react-navigation"
    }

    /// The table, which is valid.
    package let table: RouteTable
    /// The text of the table.
    package let json: String
    /// The remarks, in the order of the source.
    package let notes: [ImportNote]
    /// A Boolean value that indicates whether the table can open a link.
    package let hasLinks: Bool

    /// The limit on the work of the comparison of a table with its source.
    private static let budget = WorkBudget(perSearch: 10_000_000, total: 10_000_000)

    /// Returns a Boolean value that indicates whether an apple-app-site-association file can be served on a host: a
    /// name, or `*.` with one, without a port.
    package static func isHost(_ text: String) -> Bool {
        switch try? HostRule.parse(text.lowercased()) {
        case .exact(_, port: nil), .suffix: true
        default: false
        }
    }

    /// Imports a file.
    ///
    /// - Parameters:
    ///   - bytes: The contents of the file.
    ///   - source: The kind of the file.
    ///   - id: The id of the table.
    ///   - hosts: The hosts on which an apple-app-site-association file is served. Other files name their hosts.
    ///   - apps: The apps of such a file that count, or none for all.
    package init(
        _ bytes: [UInt8], from source: Source, id: String, hosts: [String] = [], apps: [String] = []
    ) throws(AssociationProblem) {
        var draft = TableDraft(id: id)
        switch source {
        case .aasa:
            let file = try AppleFile(bytes, apps: apps)
            try draft.add(file, hosts: hosts)
            (table, json) = try draft.finish()
            draft.compare(AssociationCheck(table, apple: file, budget: Self.budget), table)
        case .manifest:
            var file = try ManifestFile(bytes)
            file.removeTooWide()
            try draft.add(file)
            (table, json) = try draft.finish()
            draft.compare(AssociationCheck(table, manifest: file, budget: Self.budget), table)
        case .reactNavigation:
            let file = try NavigationFile(bytes)
            try draft.add(file)
            (table, json) = try draft.finish()
        }
        notes = draft.sortedNotes
        hasLinks = draft.routes.contains { !$0.isExcluded && !$0.patterns.isEmpty }
    }
}

extension TableDraft {
    /// The remarks about the whole source, then those about its parts in their order.
    fileprivate var sortedNotes: [ImportNote] {
        notes.enumerated().sorted {
            ($0.element.line, $0.element.column, $0.offset) < ($1.element.line, $1.element.column, $1.offset)
        }.map(\.element)
    }

    /// Adds the remarks of a comparison of the table with its source.
    fileprivate mutating func compare(_ check: AssociationCheck, _ table: RouteTable) {
        var check = check
        let reports = check.run()
        if reports.contains(where: \.isCut) {
            note(.unknown, "whether these are all differences, because the comparison ended at its limit")
        }
        for finding in reports.flatMap(\.findings) {
            let place = AssociationProblem.Place(
                line: finding.line, column: finding.column, pointer: finding.pointer)
            switch finding.code {
            case .unknownLinks: note(.leavesOut, "links that the source opens", at: place, example: finding.link)
            case .partlyHanded, .neverHanded, .unusualOnly:
                // The table refuses some links of a route itself, such as those with a value of a wrong length.
                guard let link = finding.link, table.resolve(link).outcome == .navigate else { continue }
                let own = routes.first { $0.id == finding.route }
                note(
                    .opensMore, "route \(finding.route ?? ""): links that the source does not open",
                    at: own?.place ?? .init(), example: link)
            default: continue
            }
        }
    }

    /// Adds the problems of a source.
    mutating func add(_ problems: [AssociationProblem]) {
        for problem in problems {
            note(
                problem.code == .unresolved ? .unknown : .leavesOut, problem.message,
                at: .init(line: problem.line, column: problem.column, pointer: problem.pointer))
        }
    }
}
