internal import RouteTools

/// What `linkd produce` has done.
struct ProduceSummary {
    /// Lines or rows.
    var read = 0
    /// Records handed to the client.
    var sent = 0
    /// Records that a broker has.
    var delivered = 0
    /// Records that no broker has.
    var failed = 0
    /// Lines that could not be read, and were not sent.
    var unreadable = 0
    /// Records without a key: they have no order.
    var withoutKey = 0
    /// How long it took.
    var seconds = 0.0

    /// One line of JSON.
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

    /// The same in words.
    var words: String {
        "read \(read), sent \(sent), delivered \(delivered), failed \(failed), unreadable \(unreadable), "
            + "without key \(withoutKey), in \(Decimals.text(seconds)) s"
    }
}
