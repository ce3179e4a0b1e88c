internal import ByteStorage

extension ReasonCode {
    /// The code of the reason, without creating a `String`.
    var view: ByteView {
        switch self {
        case .budget: ByteView("budget")
        case .badEncoding: ByteView("bad_encoding")
        case .scheme: ByteView("scheme")
        case .host: ByteView("host")
        case .emptySegment: ByteView("empty_segment")
        case .dotSegment: ByteView("dot_segment")
        case .noRoute: ByteView("no_route")
        case .redirectLimit: ByteView("redirect_limit")
        case .excluded: ByteView("excluded")
        case .externalRefused: ByteView("external_refused")
        case .unknownScreen: ByteView("unknown_screen")
        case .unsupported: ByteView("unsupported")
        case .paramInvalid: ByteView("param_invalid")
        case .paramMissing: ByteView("param_missing")
        case .presentation: ByteView("presentation")
        case .noLink: ByteView("no_link")
        case .internalError: ByteView("internal")
        }
    }

    /// The position in the list of reasons.
    var index: Int {
        switch self {
        case .budget: 0
        case .badEncoding: 1
        case .scheme: 2
        case .host: 3
        case .emptySegment: 4
        case .dotSegment: 5
        case .noRoute: 6
        case .redirectLimit: 7
        case .excluded: 8
        case .externalRefused: 9
        case .unknownScreen: 10
        case .unsupported: 11
        case .paramInvalid: 12
        case .paramMissing: 13
        case .presentation: 14
        case .noLink: 15
        case .internalError: 16
        }
    }
}
