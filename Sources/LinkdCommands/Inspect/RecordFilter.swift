internal import ByteStorage

/// The filter of `linkd inspect`.
///
/// A property that is nil matches every record.
struct RecordFilter {
    /// The id of the device, which is the key of the record.
    var device: String?
    /// The id of the route.
    var route: String?
    /// The outcome.
    var outcome: String?
    /// The reason of a decision or of a dead letter.
    var reason: String?
    /// The campaign of a decision.
    var campaign: String?
    /// The first time, in milliseconds since 1970.
    var since: Int64?
    /// The last time, in milliseconds since 1970.
    var until: Int64?
    /// A Boolean value that indicates whether the times of dead letters are those of their failures.
    var isDeadLetters = false

    /// A Boolean value that indicates whether the filter can reject records.
    var isActive: Bool {
        device != nil || route != nil || outcome != nil || reason != nil || campaign != nil || since != nil
            || until != nil
    }

    /// Returns the time of a record: its timestamp or, if it is a dead letter, the time of the failure.
    ///
    /// The timestamp of a dead letter is that of its source.
    func time(of record: ScannedRecord) -> Int64 {
        guard isDeadLetters, let failedAt = record.header("dlq.failed.at"), failedAt.count <= 19 else {
            return record.timestamp
        }
        return Int64(failedAt.string) ?? record.timestamp
    }

    /// Returns a Boolean value that indicates whether a record matches.
    ///
    /// - Parameter decision: The members of the record's value.
    func matches(_ record: ScannedRecord, _ decision: inout DecisionTape) -> Bool {
        if since != nil || until != nil {
            let time = time(of: record)
            if let since, time < since { return false }
            if let until, time > until { return false }
        }
        if let device, !Self.isEqual(record.key, device), !Self.isEqual(decision.string("device"), device) {
            return false
        }
        if let route, !Self.isEqual(decision.string("route"), route) { return false }
        if let outcome, record.isDeadLetter || !Self.isEqual(decision.string("outcome"), outcome) { return false }
        if let reason, !Self.isEqual(Self.reason(of: record, &decision), reason) { return false }
        if let campaign, !Self.isEqual(decision.campaign, campaign) { return false }
        return true
    }

    /// Returns the reason of a dead letter or of a decision.
    static func reason(of record: ScannedRecord, _ decision: inout DecisionTape) -> ByteView? {
        record.headers.isEmpty ? decision.string("reason") : record.header("dlq.reason") ?? decision.string("reason")
    }

    private static func isEqual(_ bytes: ByteView?, _ text: String) -> Bool {
        guard let bytes else { return false }
        var text = text
        return text.withUTF8 { ByteView($0) == bytes }
    }
}

extension GroupKey {
    /// Returns the property of a record, or nil if it has none.
    func value(of record: ScannedRecord, _ decision: inout DecisionTape) -> ByteView? {
        switch self {
        case .reason: RecordFilter.reason(of: record, &decision)
        case .route: decision.string("route")
        case .outcome: record.isDeadLetter ? nil : decision.string("outcome")
        case .application: decision.application
        case .campaign: decision.campaign
        case .table: decision.string("table")
        }
    }
}
