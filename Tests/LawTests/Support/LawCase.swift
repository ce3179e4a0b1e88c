import LinkCoordinator
import RouteAnalysis

/// A case of a law about tables: a table, a link, and a device.
struct LawCase: Shrinkable {
    var table: GeneratedTable
    var link: GeneratedLink
    var device: DeviceFacts
    /// The source of the choices that a law makes for the table.
    var tableSeed: UInt64 = 0
    /// The source of the choices that a law makes for the link.
    var linkSeed: UInt64 = 0

    static var parts: [RemovableParts<LawCase>] {
        GeneratedTable.parts.map { RemovableParts(\.table, $0) }
            + GeneratedLink.parts.map { RemovableParts(\.link, $0) }
            + DeviceFacts.removable.map { RemovableParts(\.device, $0) }
    }

    /// The table, the link, and the device as text.
    var text: String {
        """
        link: \(link.text)
        device: \(device.json)
        table: \(String(decoding: table.json, as: UTF8.self))
        """
    }
}

extension GeneratedTable: Shrinkable {
    static var parts: [RemovableParts<GeneratedTable>] {
        [
            RemovableParts(\.routes),
            RemovableParts(
                count: { $0.routes.reduce(0) { $0 + $1.members.count } },
                remove: { table, range in
                    var first = 0
                    for index in table.routes.indices {
                        let members = table.routes[index].members
                        table.routes[index].members = members.indices.filter { !range.contains(first + $0) }
                            .map { members[$0] }
                        first += members.count
                    }
                }),
            RemovableParts(
                { $0.routes.contains { !$0.overlaps.isEmpty } },
                { table in for index in table.routes.indices { table.routes[index].overlaps = [] } }),
            RemovableParts(
                count: { $0.targets.count },
                remove: { table, range in
                    // A target that shows nothing needs no coordinators, screens, and models.
                    for (route, member) in table.targets[range] {
                        table.routes[route].members[member] = Self.emptyTarget
                    }
                }),
            RemovableParts(\.parts),
        ]
    }

    private static let emptyTarget = #""to": { "root": true }"#

    /// The positions of the targets and variants of routes, except targets that show nothing.
    private var targets: [(route: Int, member: Int)] {
        routes.indices.flatMap { route in
            let members = routes[route].members
            return members.indices.filter { member in
                members[member] != Self.emptyTarget
                    && (members[member].hasPrefix("\"to\":") || members[member].hasPrefix("\"variants\":"))
            }.map { (route, $0) }
        }
    }
}

extension GeneratedLink: Shrinkable {
    static var parts: [RemovableParts<GeneratedLink>] {
        [
            RemovableParts(count: { $0.writtenSegments.count }, remove: { $0.removeSegments($1) }),
            RemovableParts(\.queryItems),
            RemovableParts({ $0.fragment != nil }, { $0.fragment = nil }),
            RemovableParts({ $0.path.hasSuffix("/") && $0.path.utf8.count > 1 }, { $0.path.removeLast() }),
        ]
    }

    /// The segments of the path, each with the slashes before it, or none if they do not correspond to `segments`.
    private var writtenSegments: [String] {
        let pieces = Self.pieces(of: path) { $0 == "/" }.filter { $0.contains { $0 != "/" } }
        return pieces.count == segments.count ? pieces : []
    }

    private mutating func removeSegments(_ range: Range<Int>) {
        var pieces = writtenSegments
        let end = path.hasSuffix("/") ? "/" : ""
        pieces.removeSubrange(range)
        segments.removeSubrange(range)
        path = pieces.joined() + end
        // Without an authority, a path cannot begin with two slashes.
        while authority == nil, path.hasPrefix("//") { path.removeFirst() }
    }

    /// The items of the query, each with the separator before it.
    private var queryItems: [String] {
        get { query.map { Self.pieces(of: $0) { "&;,".contains($0) } } ?? [] }
        set {
            let text = newValue.joined()
            query =
                text.isEmpty
                ? nil
                : newValue.first.map { "&;,".contains($0.first ?? " ") } == true
                    ? String(text.dropFirst()) : text
        }
    }

    /// Splits a text before each first separator of a run.
    private static func pieces(of text: String, at isSeparator: (Character) -> Bool) -> [String] {
        var pieces: [String] = []
        var isOpen = false
        for character in text {
            let isFirst = isSeparator(character) && isOpen
            if pieces.isEmpty || isFirst { pieces.append("") }
            pieces[pieces.count - 1].append(character)
            isOpen = !isSeparator(character)
        }
        return pieces
    }
}

extension DeviceFacts {
    /// The facts, each as a part.
    static var removable: [RemovableParts<DeviceFacts>] {
        let texts: [WritableKeyPath<DeviceFacts, String?>] = [
            \.platform, \.app, \.os, \.locale, \.region, \.coordinator,
        ]
        return texts.map { fact in RemovableParts({ $0[keyPath: fact] != nil }, { $0[keyPath: fact] = nil }) } + [
            RemovableParts({ $0.capabilities != nil }, { $0.capabilities = nil }),
            RemovableParts({ $0.claims != nil }, { $0.claims = nil }),
            RemovableParts({ $0.attributes != nil }, { $0.attributes = nil }),
        ]
    }
}
