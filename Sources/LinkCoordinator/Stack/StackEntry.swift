/// One entry of a stack: a screen, how it is presented, and the data that is bound to it.
///
/// Two entries are equal if everything about them is. A stack is a flat list of entries, the lowest first; every
/// sheet, cover and alert begins a group of its own on top of what is below.
public struct StackEntry: Sendable, Hashable {
    /// The coordinator.
    public var coordinator: String
    /// The screen.
    public var screen: String
    /// The screen whose view draws this one, if it is another.
    public var view: String?
    /// How it is presented.
    public var present: Presentation
    /// Whether, as a sheet or cover, it has its own navigation, so that something can be pushed onto it.
    public var nav: Bool
    /// What tells this entry from others of the same screen.
    public var identity: String?
    /// The data that is bound to this entry.
    public var models: Models

    /// Makes an entry.
    public init(
        coordinator: String, screen: String, view: String? = nil, present: Presentation = .push, nav: Bool = false,
        identity: String? = nil, models: Models = Models()
    ) {
        self.coordinator = coordinator
        self.screen = screen
        self.view = view
        self.present = present
        self.nav = nav
        self.identity = identity
        self.models = models
    }

    /// Takes an entry of a decision, with its data.
    public init(_ entry: Decision.Entry) {
        self.init(
            coordinator: entry.coordinator, screen: entry.screen, view: entry.view,
            present: Presentation(rawValue: entry.present) ?? .push, nav: entry.nav, identity: entry.identity,
            models: entry.models)
    }

    /// Whether both are the same place: coordinator, screen and identity, whatever the data (`reuse`, 2.6).
    public func isSamePlace(as other: StackEntry) -> Bool {
        coordinator == other.coordinator && screen == other.screen && identity == other.identity
    }
}
