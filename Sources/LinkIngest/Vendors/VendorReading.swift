internal import ByteStorage

/// The result of reading a message for one kind of device.
struct VendorReading: BitwiseCopyable {
    /// The positions of the form and of its vendor in the table, or -1.
    var form: Int32 = -1
    var vendor: Int32 = -1
    /// The ids of the message and of the campaign, or empty views.
    var message = ByteView.empty
    var campaign = ByteView.empty
    /// The outcome of the tapped button.
    ///
    /// It precedes the pointers of the route table.
    var tapped = VendorOutcome()
    /// The outcome of the message.
    ///
    /// The pointers of the route table precede it.
    var body = VendorOutcome()
    /// The position of the first note.
    var firstNote = 0
    /// The number of notes without those about the body.
    var earlyNotes = 0
    /// The number of all notes.
    var allNotes = 0
}

/// The outcome of a message or a button: a link, or nothing.
struct VendorOutcome: BitwiseCopyable {
    enum Kind: UInt8 {
        /// There is no such button.
        case undecided
        /// A link with a scheme.
        case link
        /// Nothing.
        case noLink
        /// The app without a link.
        case opensApp
    }

    var kind = Kind.undecided
    var link = ByteView.empty
    /// The node of the link, or -1.
    var node: Int32 = -1
}

/// A note about a message: a code, and the place or the vendor that it is about.
struct VendorNote: BitwiseCopyable {
    /// The codes of notes.
    enum Code: UInt8, CaseIterable {
        case vendorAlso, envelopeAlso, jsonText, idTooLong, buttonUnknown, silent, linkNotText, linkTrimmed
        case linkWithoutScheme, linkNotHTTPS, linkUnwrapped, platformNeeded, customAction, dryRun
        case cloudEventsIncomplete, tooManyValues, headerUnreadable, idMalformed, dismissed

        /// The text before the pointer or the id.
        var text: StaticString {
            switch self {
            case .vendorAlso: "vendor_also:"
            case .envelopeAlso: "envelope_also:"
            case .jsonText: "json_text "
            case .idTooLong: "id_too_long "
            case .buttonUnknown: "button_unknown"
            case .silent: "silent"
            case .linkNotText: "link_not_text "
            case .linkTrimmed: "link_trimmed "
            case .linkWithoutScheme: "link_without_scheme "
            case .linkNotHTTPS: "link_not_https "
            case .linkUnwrapped: "link_unwrapped "
            case .platformNeeded: "platform_needed "
            case .customAction: "custom_action "
            case .dryRun: "dry_run"
            case .cloudEventsIncomplete: "cloudevents_incomplete"
            case .tooManyValues: "too_many_values"
            case .headerUnreadable: "header_unreadable "
            case .idMalformed: "id_malformed "
            case .dismissed: "dismissed"
            }
        }
    }

    var code: Code
    /// The pointer or the id, or an empty view.
    var text = ByteView.empty
}
