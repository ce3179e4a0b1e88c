internal import ByteStorage

/// The results of a request that do not depend on the device, kept for the second and further devices.
struct SharedPart: ~Copyable {
    /// A Boolean value that indicates whether there was a second device, so that the results are kept.
    var isKept = false
    /// Text memory that is exchanged with that of the resolver: one holds the texts of the request, the other one those
    /// of the device.
    var texts = ResolutionTexts(chunkBytes: 4096, builtChunkBytes: 4096)
    /// The number of notes after the selection, and the reason if it failed.
    var notes = 0
    var failure: Rejection?
    /// A Boolean value that indicates whether the route's own values are bound, with the notes and the failure of the
    /// binding.
    var isBound = false
    var boundNotes = Growable<Note>(capacity: 4)
    var boundFailure: Rejection?
    /// The number of list items of the route's own values.
    var items = 0
}
