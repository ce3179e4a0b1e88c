/// A repair of typographic damage in a query.
///
/// See RouteTableReference, "Repair".
enum Repair: UInt8, CaseIterable {
    /// Replaces U+2010 through U+2015 and U+2212 with `-` in values of the types `uuid`, `date`, and `datetime`.
    case dash
    /// Removes spaces around names and values.
    case space
    /// Replaces `&amp;` with `&`, and a pilcrow with `&para`, before splitting.
    case entity

    /// The end of the note.
    var label: StaticString {
        switch self {
        case .dash: ":dash"
        case .space: ":space"
        case .entity: ":entity"
        }
    }
}
