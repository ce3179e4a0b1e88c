internal import ByteStorage
internal import StrictJSON

/// The part of a request and the type that a binding reads.
///
/// Bindings with equal keys have equal values.
struct ReadingKey: Hashable {
    private let source: CompiledBinding.Source
    private let name: Int32
    private let query: [UInt8]
    private let pointerIndex: Int32
    private let type: Int
    /// A Boolean value that indicates whether all items are read, each as the type.
    let isList: Bool
    /// A Boolean value that indicates whether a missing value is searched for under a damaged name.
    private let isRequired: Bool

    /// Creates a key.
    ///
    /// `type` is the number of the type.
    init(_ binding: CompiledBinding, _ type: Int, isList: Bool, isRequired: Bool) {
        source = binding.source
        name = binding.name
        query = binding.source == .query ? binding.query.text.array : []
        pointerIndex = binding.pointerIndex
        self.type = type
        self.isList = isList
        self.isRequired = isRequired
    }
}
