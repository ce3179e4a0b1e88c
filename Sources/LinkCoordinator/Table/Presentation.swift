/// The presentation of an entry on top of the previous one.
public enum Presentation: String, Sendable, CaseIterable, BitwiseCopyable, Codable {
    /// The entry is pushed onto the navigation stack of the previous entry.
    case push
    /// The entry is presented as a sheet.
    case sheet
    /// The entry covers the full screen.
    case cover
    /// The entry is presented as an alert, on which nothing else can be shown.
    case alert
}
