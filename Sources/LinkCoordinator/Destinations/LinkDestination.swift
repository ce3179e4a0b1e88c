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
