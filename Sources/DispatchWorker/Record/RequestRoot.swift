internal import LinkCoordinator

/// The view of a request that some of its devices share, and the table that resolves it.
///
/// In a push message for several platforms, each platform has its own view.
struct RequestRoot: BitwiseCopyable {
    /// The maximum number of views of one request: those of Apple's devices, Android devices, browsers, and devices of
    /// an unknown platform.
    static let maxCount = 4

    /// The number of the view.
    var view: UInt8
    /// The table that resolves the request, or nil if the request opens nothing and needs none.
    var table: TableHandle?
    /// A Boolean value that indicates whether choosing the table has read the payload.
    var isSearched: Bool
    /// A Boolean value that indicates whether the table has resolved the request for a device.
    var isResolved = false
}
