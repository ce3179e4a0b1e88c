internal import ByteStorage

/// The data that is read once for a record, whatever the number of its devices and of the tables.
package struct RecordReadings: ~Copyable {
    /// A Boolean value that indicates whether there is any data of the record, also among the results for further
    /// devices.
    var hasData = false
    /// The texts that the other properties refer to.
    var texts = RecordTexts()
    /// The values of a payload.
    var payload = PayloadReading()
    /// The parameters of a `route` request.
    package var params = ParamTable()
    /// The request as members of `resume`, after it was first written.
    var resumed: ByteView = .empty
    /// A Boolean value that indicates whether strictly validated data could not be read again.
    var isBroken = false

    /// Removes the data of the record.
    mutating func forget() {
        payload.forget()
        texts.forget()
        hasData = false
    }
}

/// The link, or the route and its parameters, that a payload contains.
struct PayloadRequest: BitwiseCopyable {
    /// The link, or empty if there is none.
    var link: ByteView = .empty
    /// The route's id.
    var route: ByteView = .empty
    /// The parameters as a JSON object, or empty if there are none.
    var params: ByteView = .empty
}
