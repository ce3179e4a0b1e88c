internal import StrictJSON

/// An entry of a stack: a screen, its presentation, and the data bound to it.
///
/// A stack is a flat list of entries, the lowest first. Every sheet, cover, and alert begins a new group on top of the
/// entries below. Two entries are equal if all of their properties are equal.
public struct StackEntry: Sendable, Hashable {
    /// The name of the coordinator.
    public var coordinator: String
    /// The name of the screen.
    public var screen: String
    /// The name of the screen whose view displays this screen, or nil if the screen has its own view.
    public var view: String?
    /// The presentation.
    public var present: Presentation
    /// A Boolean value that indicates whether a sheet or cover has its own navigation stack, onto which entries can be
    /// pushed.
    public var nav: Bool
    /// The text that distinguishes this entry from other entries with the same screen.
    public var identity: String?
    /// The data bound to the entry.
    public var models: Models

    /// Creates an entry.
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

    /// Decodes a model that is bound to the entry.
    ///
    /// - Parameter type: The type of the model.
    /// - Returns: The decoded model.
    /// - Throws: A ``ModelError`` if the entry does not have the model, or a field is missing or does not have the type
    ///   of its property.
    public func model<Model: LinkModel>(_ type: Model.Type) throws(ModelError) -> Model { try models.model(type) }

    /// Returns a Boolean value that indicates whether both entries have the same coordinator, screen, and identity.
    ///
    /// The mode `reuse` compares entries this way, regardless of their data.
    ///
    /// See RouteTableReference, "Modes".
    public func isSameScreen(as other: StackEntry) -> Bool {
        coordinator == other.coordinator && screen == other.screen && identity == other.identity
    }
}

extension StackEntry {
    /// Creates an entry from an entry of a decision, including its data.
    ///
    /// A presentation that this version does not know is read as a push.
    init(_ json: JSONValue) {
        func text(_ member: String) -> String? { json[member]?.string }
        var nav = false
        if case .bool(let value)? = json["nav"]?.kind { nav = value }
        self.init(
            coordinator: text("coordinator") ?? "", screen: text("screen") ?? "", view: text("view"),
            present: text("present").flatMap(Presentation.init) ?? .push, nav: nav, identity: text("identity"),
            models: Models(json["data"]))
    }
}
