internal import ByteStorage
internal import StrictJSON

/// A place of the request, and the type that a binding reads there.
///
/// Bindings of one key come to the same value.
struct ReadingKey: Hashable {
    private let source: BindingImage.Source
    private let name: Int32
    private let query: [UInt8]
    private let place: Int32
    private let type: Int
    /// A Boolean value that indicates whether all items are read, each as the type.
    let isList: Bool
    /// A Boolean value that indicates whether a value that is wanting is looked for under a damaged name.
    private let isRequired: Bool

    /// Makes a key; `type` is the number of the type.
    init(_ binding: BindingImage, _ type: Int, isList: Bool, isRequired: Bool) {
        source = binding.source
        name = binding.name
        query = binding.source == .query ? binding.query.text.array : []
        place = binding.place
        self.type = type
        self.isList = isList
        self.isRequired = isRequired
    }
}
