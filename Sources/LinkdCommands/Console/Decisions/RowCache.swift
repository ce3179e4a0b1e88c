internal import DecisionIndex

/// Rows that were read lately, up to a limit of bytes.
///
/// Rows that are not used while half of the limit is filled again are forgotten.
struct RowCache {
    /// The identity of a record.
    struct Place: Hashable {
        /// The topic and the partition.
        var source: RowSource
        /// The offset.
        var offset: Int64

        /// Creates the identity of the record of a row.
        init(_ key: RowKey) {
            source = key.source
            offset = key.offset
        }
    }

    /// The bytes of a row beside its text.
    private static let overhead = 160

    private let limit: Int
    private var recent: [Place: FeedRow] = [:]
    private var older: [Place: FeedRow] = [:]
    private var recentBytes = 0
    private var epoch = 0

    /// Creates an empty cache.
    ///
    /// - Parameter limit: The limit of all rows, in bytes.
    init(limit: Int = 16 << 20) { self.limit = limit }

    /// Forgets all rows if the topics are others than before.
    ///
    /// - Parameter epoch: The number of times that the reader has begun with other records.
    mutating func enter(epoch: Int) {
        guard epoch != self.epoch else { return }
        self = RowCache(limit: limit)
        self.epoch = epoch
    }

    /// The number of rows.
    var count: Int { recent.count + older.count }

    /// Returns the row of a record, if it is known.
    mutating func row(_ key: RowKey) -> FeedRow? {
        let place = Place(key)
        if let row = recent[place] { return row }
        guard let row = older[place] else { return nil }
        insert(row)
        return row
    }

    /// Adds a row.
    mutating func insert(_ row: FeedRow) {
        let bytes = row.json.count + Self.overhead
        if recentBytes + bytes > limit / 2 {
            older = recent
            recent = [:]
            recentBytes = 0
        }
        if recent.updateValue(row, forKey: Place(row.key)) == nil { recentBytes += bytes }
    }
}
