internal import StrictJSON

/// The result of `linkd produce`.
struct ProduceSummary {
    /// The number of lines or rows.
    var read = 0
    /// The number of records passed to the client.
    var sent = 0
    /// The number of records that a broker has acknowledged.
    var delivered = 0
    /// The number of records that no broker has acknowledged.
    var failed = 0
    /// The number of lines that could not be read and were skipped.
    var unreadable = 0
    /// The number of records without a key, whose order is not kept.
    var withoutKey = 0
    /// The duration in seconds.
    var seconds = 0.0

    /// The summary as one line of JSON.
    var json: String {
        var json = JSONText()
        json.beginObject()
        json.number("read", Int64(read))
        json.number("sent", Int64(sent))
        json.number("delivered", Int64(delivered))
        json.number("failed", Int64(failed))
        json.number("unreadable", Int64(unreadable))
        json.number("without_key", Int64(withoutKey))
        json.decimal("seconds", seconds)
        json.endObject()
        return json.finish()
    }

    /// The summary for people.
    var text: String {
        "read \(read), sent \(sent), delivered \(delivered), failed \(failed), unreadable \(unreadable), "
            + "without key \(withoutKey), in \(Decimals.text(seconds)) s"
    }
}
