/// How an entry is shown on top of the one before it.
public enum Presentation: String, Sendable, CaseIterable, BitwiseCopyable {
    /// Pushed onto the navigation of the entry before.
    case push
    /// As a sheet.
    case sheet
    /// Over the full screen.
    case cover
    /// As an alert, on which nothing can follow.
    case alert
}
