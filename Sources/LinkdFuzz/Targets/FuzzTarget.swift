/// The targets of a search.
///
/// Each one accepts any bytes and reports violations of its rules.
package enum FuzzTarget: String, CaseIterable, Sendable {
    /// A record. Its decisions must be well-formed, repeatable, and within the cost bound.
    case events
    /// A link for one device. All ways to resolve it must yield the same decision.
    case links
    /// The file of a table. It is read and checked, and some links are resolved.
    case tables
    /// A sequence of records through one processor, compared with a fresh processor for each.
    case sequences
    /// A record in any envelope, with its headers. Its result must not depend on earlier records.
    case ingest
    /// A statistics document of librdkafka. Its figures must be those of its tree, and the pages with them valid.
    case statistics

    /// The size limit of an input, in bytes.
    package var maxBytes: Int {
        switch self {
        case .events: 8 << 10
        case .links: 4 << 10
        case .tables: 16 << 10
        case .sequences: 8 << 10
        case .ingest: 8 << 10
        case .statistics: 16 << 10
        }
    }
}

extension FuzzRunner {
    /// Runs an input, and returns a description of a violation or nil.
    package func run(_ target: FuzzTarget, _ input: [UInt8]) -> String? {
        switch target {
        case .events: runEvent(input)
        case .links: runLink(input)
        case .tables: runTable(input)
        case .sequences: runSequence(input)
        case .ingest: runIngest(input)
        case .statistics: runStatistics(input)
        }
    }
}
