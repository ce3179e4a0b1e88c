internal import DecisionIndex

/// The limits and the source of a feed.
struct FeedOptions: Sendable {
    /// The connection to the cluster.
    var connection: Connection
    /// The settings, which determine the topics.
    var settings: Settings
    /// The first time to read, in milliseconds since 1970.
    var since: Int64
    /// A Boolean value that indicates whether rows contain no values that identify people.
    var masks = false
    /// The limit of rows.
    var capacity = DecisionIndex.defaultCapacity
}
