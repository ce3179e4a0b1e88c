internal import StrictJSON

/// The result of `linkd produce`.
struct ProduceSummary {
    /// A Boolean value that indicates whether nothing was sent on purpose.
    var isDryRun = false
    /// The number of entries, without skipped ones.
    var read = 0
    /// The number of entries that `--skip` has skipped.
    var skipped = 0
    /// The number of records passed to the client, or of those that would be sent.
    var sent = 0
    /// The number of records that a broker has acknowledged.
    var delivered = 0
    /// The number of records that are certainly not stored.
    var failed = 0
    /// The number of records that a broker can have stored without an answer.
    var possiblyStored = 0
    /// The number of lines that could not be read and were not sent.
    var unreadable = 0
    /// The number of events that `--check` has rejected.
    var rejected = 0
    /// The number of records without a key, whose order is not kept.
    var withoutKey = 0
    /// The number of the entry at which the next run goes on, from 1.
    var next = 1
    /// The duration in seconds.
    var seconds = 0.0
    /// The entries before `next` that are certainly not stored.
    var notStoredEntries: [ClosedRange<Int>] = []
    /// The entries that a broker can have stored without an answer.
    var possiblyStoredEntries: [ClosedRange<Int>] = []
    /// The number of decisions by outcome and reason, with `--check`.
    var outcomes: [LinkCheck.Count]?

    /// The summary as one line of JSON.
    var json: String {
        var json = JSONText()
        json.beginObject()
        json.number("read", Int64(read))
        json.number("skipped", Int64(skipped))
        if isDryRun {
            json.number("would_send", Int64(sent))
        } else {
            json.number("sent", Int64(sent))
            json.number("delivered", Int64(delivered))
            json.number("failed", Int64(failed))
            json.number("possibly_stored", Int64(possiblyStored))
        }
        json.number("unreadable", Int64(unreadable))
        json.number("rejected", Int64(rejected))
        json.number("without_key", Int64(withoutKey))
        json.number("next", Int64(next))
        json.decimal("seconds", seconds)
        if !isDryRun {
            Self.write("not_stored_entries", notStoredEntries, to: &json)
            Self.write("possibly_stored_entries", possiblyStoredEntries, to: &json)
        }
        if let outcomes {
            json.objects("outcomes", of: outcomes) { json, item in
                json.text("outcome", item.outcome)
                json.text("reason", item.reason)
                json.number("count", Int64(item.count))
            }
        }
        json.endObject()
        return json.finish()
    }

    private static func write(_ name: String, _ ranges: [ClosedRange<Int>], to json: inout JSONText) {
        json.beginArray(name)
        for range in ranges {
            json.beginArray()
            json.number(nil, Int64(range.lowerBound))
            json.number(nil, Int64(range.upperBound))
            json.endArray()
        }
        json.endArray()
    }

    /// The summary for people, in which some counts are missing if they are zero.
    var text: String {
        var parts = ["read \(read)"]
        if skipped > 0 { parts.append("skipped \(skipped)") }
        if isDryRun {
            parts.append("would send \(sent)")
        } else {
            parts += ["sent \(sent)", "delivered \(delivered)", "failed \(failed)"]
            if possiblyStored > 0 { parts.append("possibly stored \(possiblyStored)") }
        }
        parts.append("unreadable \(unreadable)")
        if rejected > 0 { parts.append("rejected \(rejected)") }
        parts.append("without key \(withoutKey)")
        return parts.joined(separator: ", ") + ", in \(Decimals.text(seconds)) s"
    }
}
