internal import ByteStorage

/// The attributes of the event of CloudEvents that contains the record.
///
/// They are used if the contained event does not have these properties itself.
struct CloudEvent {
    /// A Boolean value that indicates whether the record is the data of an event.
    var isPresent = false
    /// A Boolean value that indicates whether the attributes are in the value, and not in headers.
    var isStructured = false
    /// The id and the partition key, or empty views.
    var id = ByteView.empty
    var partitionKey = ByteView.empty
    /// A Boolean value that indicates whether the data is in memory of the reader, because it was encoded.
    var isDecoded = false
    /// The offset of the outer event in the value.
    var outerOffset = -1

    /// Clears the attributes of the last record.
    mutating func clear() {
        if isPresent { self = CloudEvent() }
    }
}
