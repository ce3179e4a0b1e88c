internal import StrictJSON

/// Which records `linkd inspect` shows; what is nil lets everything through.
struct RecordFilter {
    /// The device's id: the record's key.
    var device: String?
    /// The route's id.
    var route: String?
    /// The outcome.
    var outcome: String?
    /// The reason of a decision or of a dead letter.
    var reason: String?
    /// The first timestamp, in milliseconds since 1970.
    var since: Int64?
    /// The last timestamp, in milliseconds since 1970.
    var until: Int64?

    /// Whether a record is to be shown; `json` is its value, read.
    func takes(_ record: InspectedRecord, _ json: JSONValue?) -> Bool {
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
