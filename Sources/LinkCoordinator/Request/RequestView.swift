package import ByteStorage
package import StrictJSON

/// The request of one record: a link, a coordinator path, a route with parameters, or a push payload.
///
/// All views are valid as long as the record that they were read from.
package struct RequestView {
    /// The form of a request.
    package enum Form: UInt8, Sendable {
        /// A link in `text`.
        case link
        /// A coordinator path in `text`, applied in `mode`.
        case path
        /// A route id in `text` and its parameters in `params`.
        case route
        /// A push payload. The table's pointers find a link or a route in `roots`.
        case payload
    }

    /// The mode in which a path is applied to the device's stack.
    package enum Mode: UInt8, Sendable, BitwiseCopyable {
        /// The default: `replace` for an absolute path and `append` for a relative one.
        case unspecified
        case replace
        case append
        case reuse
    }

    /// The declared format of a push payload.
    package enum PayloadType: UInt8, Sendable, BitwiseCopyable {
        /// The event does not declare a format, or declares the one that would be detected.
        case unspecified
        case apns
        case fcm
    }

    /// The form of the request.
    package var form: Form
    /// The link, path, or route id, with all JSON escapes resolved.
    package var text: ByteView
    /// A Boolean value that indicates whether all bytes of `text` are known to be from 0x20 to 0x7E without a
    /// backslash, so they need no further check.
    ///
    /// See RouteTableReference, "Limits".
    package var isScreened = false
    /// The number of readable bytes after `text`, regardless of their values.
    ///
    /// With enough of them, `text` can be split without a copy.
    package var bytesAfter = 0
    /// The mode in which a path is applied.
    package var mode: Mode = .unspecified
    /// The parameters of a route as the text of a strictly validated JSON object, or empty for none.
    package var params: ByteView = .empty
    /// The JSON objects in which the payload is searched, in order, as strictly validated texts.
    package var roots = UnsafeBufferPointer<ByteView>(start: nil, count: 0)
    /// The values of the payload if they were noted when the record was read, or nil.
    package var payloadNodes: UnsafePointer<JSONTape.Node>?
    /// The numbers of the roots among these values.
    package var rootNodes: (Int32, Int32) = (0, 0)
    /// The original payload as the text of a strictly validated JSON object, for `resume`.
    package var payload: ByteView = .empty
    /// The format that the event declares for its payload if it differs from the detected one, for `resume`.
    package var payloadType: PayloadType = .unspecified
    /// The opening of the tapped button of a payload.
    ///
    /// It precedes the table's pointers.
    package var tapped = RequestOpening()
    /// The id of the tapped button, for `resume`, if `tapped` is known.
    package var action: ByteView = .empty
    /// The opening of a payload by the rules of its vendor, or of a link by the rules of its platform.
    ///
    /// The table's pointers precede it.
    package var found = RequestOpening()
    /// The notes about the payload.
    package var notes = UnsafeBufferPointer<RequestNote>(start: nil, count: 0)
    /// The number of notes that do not depend on `found`.
    package var earlyNotes = 0
    /// The number of the kind of devices for which a payload was read.
    ///
    /// Two requests of one record with the same number are equal.
    package var view: UInt8 = 0

    /// Creates a request.
    package init(form: Form, text: ByteView) {
        self.form = form
        self.text = text
    }
}

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

    // Four openings are copied for a usual push. In this order, the small values share one word.

    /// The link, or an empty view.
    package var link: ByteView
    /// The queries of the wrappers from which the link was taken, the innermost first, joined by `&`, or an empty view.
    package var wrapperQuery = ByteView.empty
    /// The number of readable bytes after the link, regardless of their values, or fewer.
    package var bytesAfter: Int32 = 0
    /// The kind of the opening.
    package var kind: Kind
    /// A Boolean value that indicates whether all bytes of the link are known to be allowed, as
    /// `RequestView.isScreened` describes.
    package var isScreened = false

    /// Creates an opening.
    package init(_ kind: Kind = .unknown, link: ByteView = .empty) {
        self.kind = kind
        self.link = link
    }
}

/// A note about a request, made before the resolution: a code and the place that it is about.
package struct RequestNote: BitwiseCopyable {
    /// The code of a note about a short link, from which a decision can be made again.
    package static let shortLink: StaticString = "short_link:"

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

extension Note {
    /// Creates the note of a request.
    init(_ note: RequestNote) {
        head = note.code
        name = note.place
    }
}
