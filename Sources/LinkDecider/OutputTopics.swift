package import ByteStorage
package import LinkCoordinator

/// The topics of decisions: one for each application of a map, and one for everything else.
///
/// Which topic a decision goes to depends on the decision alone: on its member `application`, or else on the only
/// application that the table in its member `table` lists.
package struct OutputTopics: Sendable, Equatable {
    /// The maximum number of applications with a topic.
    package static let limit = 64
    /// The maximum size of an application's name in the map, in bytes.
    package static let nameBytes = 256

    private struct Entry: Sendable, Equatable {
        let application: [UInt8]
        let index: UInt8
    }

    /// The names: the topic of everything else, then the other topics of the map in the order of their names.
    package let names: [String]
    /// The applications, those with one hash together.
    private let entries: [Entry]
    /// The index of the first application with each hash, and at the end the number of applications.
    private let starts: [UInt8]

    /// Creates a list of topics.
    ///
    /// - Parameters:
    ///   - main: The topic of everything else.
    ///   - applications: The topics by application. Only the first `limit` are used. Several applications can have one
    ///     topic.
    package init(_ main: String, applications: [(application: String, topic: String)] = []) {
        let applications = applications.prefix(Self.limit)
        let names = [main] + Set(applications.map(\.topic)).subtracting([main]).sorted()
        self.names = names
        let hashes = applications.map { item in
            var name = item.application
            return name.withUTF8 { Self.hash(ByteView($0)) }
        }
        let order = applications.indices.sorted { (hashes[$0], $0) < (hashes[$1], $1) }
        entries = order.map { number in
            let index = names.firstIndex(of: applications[number].topic) ?? 0
            return Entry(application: Array(applications[number].application.utf8), index: UInt8(index))
        }
        starts = (0...256).map { hash in UInt8(hashes.count { $0 < hash }) }
    }

    /// The topic of everything else.
    package var main: String { names[0] }

    /// Returns the index in `names` of an application's topic.
    package func index(of application: ByteView) -> UInt8 {
        let hash = Self.hash(application)
        var number = Int(starts[hash])
        let end = Int(starts[hash + 1])
        while number < end {
            let name = entries[number].application
            if name.count == application.count, name.withUnsafeBufferPointer({ ByteView($0) == application }) {
                return entries[number].index
            }
            number += 1
        }
        return 0
    }

    /// Returns a number from 0 to 255 for the size and some bytes of a name.
    ///
    /// An unlucky map costs at most `limit` comparisons.
    private static func hash(_ name: ByteView) -> Int {
        let count = name.count
        guard count > 0 else { return 0 }
        let ends = Int(name[count - 1]) &* 31 &+ Int(name[count / 2]) &* 7 &+ Int(name[count / 4 &* 3])
        return (ends &+ count &* 13) & 255
    }

    /// Returns the index in `names` of the topic of the decisions of a table for events without an application.
    package func index(of table: RouteTable) -> UInt8 {
        guard let first = table.source.applications.first, table.source.applications.count == 1 else { return 0 }
        var name = first.value
        return name.withUTF8 { index(of: ByteView($0)) }
    }
}
