/// A decision as a value that an app can switch over exhaustively.
///
/// `linkd routes export --format swift` generates the screens of a table and a name for its destinations:
///
/// ```swift
/// switch try ShopDestination(table.resolve(link, device: device)) {
/// case .navigate(let stack), .deferred(let stack, _): show(stack.screens)
/// case .external(let url): open(url)
/// case .none: break
/// case .reject(let reason): report(reason)
/// }
/// ```
///
/// ``Decision/steps(from:)`` has the changes that turn the shown stack into the stack of the decision.
public enum LinkDestination<Screen: LinkScreen>: Sendable, Hashable {
    /// Apply the stack to the screens that the app shows.
    case navigate(Stack)
    /// Open the URL outside the app.
    case external(url: String)
    /// Apply the stack now, and resolve the request again when the device has the claim of the guard.
    ///
    /// ``Decision/resume`` has the request.
    case deferred(Stack, guard: String?)
    /// There is nothing to do.
    case none(Decision.Reason?)
    /// The link is not valid for this device.
    case reject(Decision.Reason?)

    /// The stack of a decision.
    public struct Stack: Sendable, Hashable {
        /// The entries, from the bottom to the top.
        public var entries: [Entry]
        /// The mode in which the stack is applied to the screens that the app shows.
        public var mode: LinkRequest.Mode
        /// A Boolean value that indicates whether to close all sheets, covers, and alerts first.
        public var dismissModals: Bool

        /// The screens of the entries, from the bottom to the top.
        public var screens: [Screen] { entries.map(\.screen) }

        /// Creates a stack.
        public init(entries: [Entry], mode: LinkRequest.Mode = .replace, dismissModals: Bool = false) {
            self.entries = entries
            self.mode = mode
            self.dismissModals = dismissModals
        }
    }

    /// An entry of the stack: a screen with its models, and its presentation.
    public struct Entry: Sendable, Hashable {
        /// The screen with its models.
        public var screen: Screen
        /// The presentation.
        public var present: Presentation
        /// A Boolean value that indicates whether the entry has its own navigation stack.
        public var nav: Bool
        /// The text that distinguishes this entry from other entries with the same screen.
        public var identity: String?

        /// Creates an entry.
        public init(screen: Screen, present: Presentation = .push, nav: Bool = false, identity: String? = nil) {
            self.screen = screen
            self.present = present
            self.nav = nav
            self.identity = identity
        }
    }

    /// Creates the destination of a decision.
    ///
    /// - Parameter decision: The decision.
    /// - Throws: A ``DestinationError`` if the app does not have a screen of the stack, or if a model cannot be
    ///   decoded.
    public init(_ decision: Decision) throws(DestinationError) {
        switch decision.outcome {
        case .navigate: self = .navigate(try Stack(decision))
        case .external:
            guard let url = decision.url else { throw .noURL }
            self = .external(url: url)
        case .deferred: self = .deferred(try Stack(decision), guard: decision.guard)
        case .none: self = .none(decision.reason)
        case .reject: self = .reject(decision.reason)
        }
    }
}

extension LinkDestination.Stack {
    /// Creates the stack of a decision.
    fileprivate init(_ decision: Decision) throws(DestinationError) {
        entries = []
        for entry in decision.stack {
            entries.append(
                LinkDestination.Entry(
                    screen: try Screen(entry), present: entry.present, nav: entry.nav, identity: entry.identity))
        }
        mode = decision.mode ?? .replace
        dismissModals = decision.dismissModals
    }
}

/// The screens of a table as an enumeration of the app.
///
/// `linkd routes export --format swift` generates such an enumeration. It has a case for each screen. The values of a
/// case are the models that the screen needs. An app can switch over all screens:
///
/// ```swift
/// switch try ShopScreen(entry) {
/// case .catalogList: CatalogView()
/// case .catalogItem(let product): ProductView(product)
/// }
/// ```
public protocol LinkScreen: Sendable, Hashable {
    /// Creates the screen of an entry of a stack.
    ///
    /// - Parameter entry: The entry.
    /// - Throws: A ``DestinationError`` if the app does not have the screen, or if a model cannot be decoded.
    init(_ entry: StackEntry) throws(DestinationError)
}

/// The screens of a table as an enumeration from which entries of a stack can be created.
///
/// The enumeration that `linkd routes export --format swift` generates conforms to this protocol, so that an app can
/// show screens of its own choice:
///
/// ```swift
/// router.apply(try [ShopScreen.homeFeed, .catalogItem(product)].map { try StackEntry($0) })
/// ```
public protocol StackScreen: LinkScreen {
    /// Returns the entry of the screen, with its models, its identity, and the presentation that the table lists first.
    ///
    /// - Throws: A ``ModelError`` if a property has a value that a field cannot hold, such as an infinite number.
    func entry() throws(ModelError) -> StackEntry
}

extension StackEntry {
    /// Creates the entry of a screen, with its models, its identity, and the presentation that the table lists first.
    ///
    /// It equals the entry of a decision that shows the screen with the same data. A `Date` has no spelling of its own,
    /// so a `datetime` that a link writes with other digits of a second is not equal.
    ///
    /// - Parameter screen: The screen.
    /// - Throws: A ``ModelError`` if a property has a value that a field cannot hold, such as an infinite number.
    public init(_ screen: some StackScreen) throws(ModelError) { self = try screen.entry() }

    /// Creates the entry of a screen with its presentation in a decision.
    ///
    /// - Parameter entry: The entry of a ``LinkDestination/Stack``.
    /// - Throws: A ``ModelError`` if a property has a value that a field cannot hold, such as an infinite number.
    public init<Screen: StackScreen>(_ entry: LinkDestination<Screen>.Entry) throws(ModelError) {
        self = try entry.screen.entry()
        present = entry.present
        nav = entry.nav
        identity = entry.identity
    }

    /// Decodes a model that the screen of the entry needs.
    ///
    /// - Parameter type: The type of the model.
    /// - Returns: The decoded model.
    /// - Throws: A ``DestinationError`` that names the screen, the model, and the field.
    public func payload<Model: LinkModel>(_ type: Model.Type) throws(DestinationError) -> Model {
        do throws(ModelError) {
            return try model(type)
        } catch {
            throw .model(error, coordinator: coordinator, screen: screen)
        }
    }
}

/// An error that occurs when an app cannot show a decision.
///
/// The usual cause is a decision of a server whose table is newer than the app.
public enum DestinationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The app does not have the screen.
    case unknownScreen(coordinator: String, screen: String)
    /// A model of the screen is missing, or does not have the fields that the app expects.
    case model(ModelError, coordinator: String, screen: String)
    /// The decision has no URL to open, although its outcome is ``Decision/Outcome/external``.
    case noURL

    /// The error as a sentence.
    ///
    /// The sentence contains no values.
    public var description: String {
        switch self {
        case .unknownScreen(let coordinator, let screen):
            "the app has no screen \(coordinator)/\(screen): the table may be newer than the app"
        case .model(let error, let coordinator, let screen): "screen \(coordinator)/\(screen): \(error)"
        case .noURL: "the decision has no URL to open"
        }
    }
}
