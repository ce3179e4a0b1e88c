package import ByteStorage

/// The opening of a push message, or of one of its buttons, as found in the payload before the resolution.
package struct RequestOpening: BitwiseCopyable {
    /// The kinds of openings.
    package enum Kind: UInt8, Sendable, BitwiseCopyable {
        /// The payload says nothing about it.
        case unknown
        /// A link.
        case link
        /// Nothing.
        case noLink
        /// The app without a link.
        case opensApp
        /// A short link, whose destination only its platform knows.
        case needsResolution
    }

    /// The kind of the opening.
    package var kind: Kind
    /// The link, or an empty view.
    package var link: ByteView
    /// A Boolean value that indicates whether all bytes of the link are known to be allowed, as
    /// `RequestView.isScreened` describes.
    package var isScreened = false
    /// The number of readable bytes after the link, regardless of their values.
    package var bytesAfter = 0

    /// Creates an opening.
    package init(_ kind: Kind = .unknown, link: ByteView = .empty) {
        self.kind = kind
        self.link = link
    }
}

/// A note about a request, made before the resolution: a code and the place that it is about.
package struct RequestNote: BitwiseCopyable {
    /// The code, with a separator if there is a place.
    package var code: ByteView
    /// The place, or an empty view.
    package var place: ByteView

    /// Creates a note.
    package init(code: ByteView, place: ByteView) {
        self.code = code
        self.place = place
    }
}
