internal import StrictJSON

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
    /// The first timestamp, in milliseconds since 1970.
    var since: Int64?
    /// The last timestamp, in milliseconds since 1970.
    var until: Int64?

    /// A Boolean value that indicates whether the records are dead letters.
    var isDeadLetters = false

    /// A Boolean value that indicates whether the filter can reject records.
    var isActive: Bool {
        device != nil || route != nil || outcome != nil || reason != nil || since != nil || until != nil
    }

    /// Returns a Boolean value that indicates whether a record matches.
    ///
    /// - Parameter json: The parsed value of the record, or nil if it is not JSON.
    func matches(_ record: InspectedRecord, _ json: JSONValue?) -> Bool {
        if let since, record.timestamp < since { return false }
        if let until, record.timestamp > until { return false }
        if let device, !(record.key?.elementsEqual(device.utf8) ?? false), json?["device"]?.string != device {
            return false
        }
        if let route, json?["route"]?.string != route { return false }
        if let outcome, record.isDeadLetter || json?["outcome"]?.string != outcome { return false }
        if let reason, (record.header("dlq.reason") ?? json?["reason"]?.string) != reason { return false }
        return true
    }
}
