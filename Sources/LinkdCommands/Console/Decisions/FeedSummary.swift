internal import DecisionIndex
internal import StrictJSON

/// The state of the index that every list begins with.
struct FeedSummary {
    private let status: FeedStatus
    private let count: Int
    private let dropped: Int64
    private let oldest: RowKey?
    /// The newest row.
    let newest: RowKey?

    /// Creates the summary of a state.
    init(_ state: FeedState) {
        status = state.status
        count = state.index.count
        dropped = state.index.dropped
        oldest = state.index.oldest
        newest = state.index.newest
    }

    /// Writes its members.
    func write(_ json: inout JSONText) {
        json.beginObject("state")
        status.write(&json)
        json.endObject()
        json.number("indexed", Int64(count))
        json.boolean("truncated", dropped > 0 || status.isShortened)
        let from = max(status.from, dropped > 0 ? oldest?.time ?? 0 : 0)
        json.number("from", from)
    }
}
