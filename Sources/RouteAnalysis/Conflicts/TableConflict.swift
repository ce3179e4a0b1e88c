package import LinkCoordinator
internal import StrictJSON

/// A conflict between two tables of a set that claim the same events.
///
/// Neither table serves such an event.
package struct TableConflict: Sendable, Equatable {
    /// The claim that both tables make.
    package enum Claim: Sendable, Equatable {
        /// An application id; events that name it become dead letters.
        case application(String)
        /// Links of a scheme and host, with an example; such events become dead letters unless they name an
        /// application.
        case link(String)
    }

    /// The indices of the two tables in the set, the smaller first.
    package var tables: (first: Int, second: Int)

    /// The ids of the two tables, in the same order.
    package var names: (first: String, second: String)

    /// The claim that both tables make.
    package var claim: Claim

    /// The byte offsets of an application in the files of the two tables, or nil for links.
    package var offsets: (first: Int, second: Int)?

    /// The conflict as one sentence without a period.
    package var text: String {
        switch claim {
        case .application(let id):
            "the tables `\(names.first)` and `\(names.second)` both serve the application `\(id)`"
        case .link(let link): "the tables `\(names.first)` and `\(names.second)` both read links such as \(link)"
        }
    }

    /// Returns a Boolean value that indicates whether two conflicts are equal.
    package static func == (a: TableConflict, b: TableConflict) -> Bool {
        a.tables == b.tables && a.names == b.names && a.claim == b.claim
    }
}

extension TableSet {
    /// The conflicts between any two of the tables.
    package var conflicts: [TableConflict] { TableConflict.all(among: tables) }
}

extension TableConflict {
    /// Returns all conflicts of a list of tables: for each pair, the common applications and a link that both read.
    static func all(among tables: [RouteTable]) -> [TableConflict] {
        var conflicts: [TableConflict] = []
        for (second, b) in tables.enumerated() {
            for (first, a) in tables.enumerated().prefix(second) {
                func add(_ claim: Claim, at offsets: (Int, Int)? = nil) {
                    conflicts.append(
                        TableConflict(tables: (first, second), names: (a.id, b.id), claim: claim, offsets: offsets))
                }
                let own = Dictionary(b.source.applications.map { ($0.value, $0.offset) }) { first, _ in first }
                for application in a.source.applications {
                    guard let offset = own[application.value] else { continue }
                    add(.application(application.value), at: (application.offset, offset))
                }
                if let link = sharedLink(a.source, b.source) { add(.link(link)) }
            }
        }
        return conflicts
    }

    /// Returns a link that both tables read, or nil if there is none.
    private static func sharedLink(_ a: TableSource, _ b: TableSource) -> String? {
        let blocks = a.blocks + b.blocks
        let named = blocks.flatMap { $0.schemes.map(\.value) }
        let other = UnusedText.first("any") { !named.contains($0) }
        let hosts = OriginHosts.samples(blocks.flatMap { $0.hosts.map(\.value) } + [.empty, .any])
        for scheme in named + [other] {
            for (host, port) in hosts {
                let read = port == OriginHosts.defaultPort(of: scheme) ? nil : port
                guard a.block(for: scheme, host, read) != nil, b.block(for: scheme, host, read) != nil else { continue }
                return "\(scheme)://\(String(decoding: host, as: UTF8.self))\(read.map { ":\($0)" } ?? "")/"
            }
        }
        return nil
    }
}
