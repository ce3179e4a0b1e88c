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

extension StackEntry: Codable {
    private enum CodingKeys: String, CodingKey {
        case coordinator, screen, view, present, nav, identity, data
    }

    /// Reads the members of an entry of a decision's stack.
    ///
    /// - Throws: `DecodingError` if `coordinator` or `screen` is missing, or a member is invalid.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            coordinator: try container.decode(String.self, forKey: .coordinator),
            screen: try container.decode(String.self, forKey: .screen),
            view: try container.decodeIfPresent(String.self, forKey: .view),
            present: try container.decodeIfPresent(Presentation.self, forKey: .present) ?? .push,
            nav: try container.decodeIfPresent(Bool.self, forKey: .nav) ?? false,
            identity: try container.decodeIfPresent(String.self, forKey: .identity),
            models: try container.decodeIfPresent(Models.self, forKey: .data) ?? Models())
    }

    /// Writes the members of an entry of a decision's stack.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(coordinator, forKey: .coordinator)
        try container.encode(screen, forKey: .screen)
        try container.encodeIfPresent(view, forKey: .view)
        try container.encode(present, forKey: .present)
        if nav { try container.encode(true, forKey: .nav) }
        try container.encodeIfPresent(identity, forKey: .identity)
        if !models.fields.isEmpty { try container.encode(models, forKey: .data) }
    }
}

extension Models: Codable {
    /// Reads the fields of each model.
    ///
    /// A decoder provides numbers as 64-bit integers or as doubles.
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode([String: [String: ModelValue]].self))
    }

    /// Writes the fields of each model.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(fields)
    }
}

extension ModelValue: Codable {
    /// Reads a value.
    ///
    /// A decoder provides numbers as 64-bit integers or as doubles.
    public init(from decoder: any Decoder) throws {
        switch try LinkRequest.Value(from: decoder) {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .number(let text): self = .number(text)
        case .string(let text): self = .text(text)
        case .array: self = .list(try [ModelValue](from: decoder))
        case .object:
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath, debugDescription: "a field cannot contain an object"))
        }
    }

    /// Writes the value.
    ///
    /// A number is written as a 64-bit integer if it is one, and as a double otherwise.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .null: try LinkRequest.Value.null.encode(to: encoder)
        case .bool(let value): try value.encode(to: encoder)
        case .number(let text): try LinkRequest.Value.number(text).encode(to: encoder)
        case .text(let text): try text.encode(to: encoder)
        case .list(let items): try items.encode(to: encoder)
        }
    }
}

/// A change to the shown stack that SwiftUI can perform in one update.
public enum StackStep: Sendable, Hashable {
    /// Close the topmost sheet, cover, or alert, with everything that was pushed onto it.
    case dismiss
    /// Remove the given number of pushed entries from the top group.
    case pop(Int)
    /// Replace the data of an entry that stays. The index counts from the bottom.
    case update(Int, StackEntry)
    /// Push entries onto the top group.
    case push([StackEntry])
    /// Present a sheet, cover, or alert on top of everything.
    case present(StackEntry)

    /// Applies the step to a stack, for apps that keep their stack as a list.
    ///
    /// - Parameter stack: The stack to change.
    public func apply(to stack: inout [StackEntry]) {
        switch self {
        case .dismiss:
            if let first = stack.lastIndex(where: \.isModal) { stack.removeSubrange(first...) }
        case .pop(let count): stack.removeLast(Swift.max(0, Swift.min(count, stack.count)))
        case .update(let index, let entry):
            if stack.indices.contains(index) { stack[index] = entry }
        case .push(let entries): stack += entries
        case .present(let entry): stack.append(entry)
        }
    }

    /// Returns the changes that turn a shown stack into another one.
    ///
    /// SwiftUI can perform the changes one at a time: first dismissals and pops from the top down, then updates, and
    /// finally pushes and presentations from the bottom up. Entries at the bottom that do not change stay. An entry
    /// with an identity whose data changed is updated. Without an identity, it is removed and shown again.
    ///
    /// - Parameters:
    ///   - shown: The stack that the app shows.
    ///   - stack: The stack to show.
    /// - Returns: The steps to perform, in order.
    public static func steps(from shown: [StackEntry], to stack: [StackEntry]) -> [StackStep] {
        let commonCount = zip(shown, stack).prefix { $0.stays(as: $1) }.count
        var steps: [StackStep] = []
        var remaining = shown
        while remaining.count > commonCount {
            let step: StackStep
            if let modal = remaining.lastIndex(where: \.isModal), modal >= commonCount {
                step = .dismiss
            } else {
                step = .pop(remaining.count - commonCount)
            }
            // The entries of a dismissed group are removed with it. The remaining ones are popped together.
            step.apply(to: &remaining)
            steps.append(step)
        }
        for index in 0..<commonCount where remaining[index] != stack[index] {
            steps.append(.update(index, stack[index]))
        }
        var index = commonCount
        while index < stack.count {
            if stack[index].isModal {
                steps.append(.present(stack[index]))
                index += 1
                continue
            }
            let end = stack[index...].firstIndex(where: \.isModal) ?? stack.count
            steps.append(.push(Array(stack[index..<end])))
            index = end
        }
        return steps
    }
}

extension StackEntry {
    /// A Boolean value that indicates whether the entry is a sheet, cover, or alert, and therefore begins its own
    /// group.
    public var isModal: Bool { present != .push }

    /// A Boolean value that indicates whether entries can be pushed onto this one.
    var acceptsPush: Bool {
        switch present {
        case .push: true
        case .sheet, .cover: nav
        case .alert: false
        }
    }
}

extension Decision {
    /// Returns the stack to show after the decision is applied to the shown stack.
    ///
    /// Only `navigate` and `deferred` change a stack. Any other outcome leaves it unchanged.
    /// - `replace`: The decision's stack.
    /// - `append`: The shown stack, followed by the decision's entries.
    /// - `reuse`: The shown stack up to the last entry with the coordinator, screen, and identity of the decision's
    ///   last entry, with the new data. If there is no such entry, the mode works like `append`.
    ///
    /// If `dismissModals` is true, the shown sheets, covers, and alerts are closed first. An alert on top is closed
    /// before entries are appended, because nothing can be shown on an alert. A sheet or cover without navigation is
    /// closed before an entry is pushed.
    ///
    /// - Parameter shown: The stack that the app shows.
    /// - Returns: The stack to show.
    public func stack(over shown: [StackEntry]) -> [StackEntry] {
        guard changesStack else { return shown }
        let own = stack
        let base = Self.base(shown, dismissModals: dismissModals)
        switch mode ?? .replace {
        case .replace: return own
        case .append: return Self.appended(own, to: base)
        case .reuse:
            guard let last = own.last, let index = base.lastIndex(where: last.isSameScreen) else {
                return Self.appended(own, to: base)
            }
            var reused = Array(base[...index])
            reused[index].models = last.models
            return reused
        }
    }

    /// Returns the changes that turn the shown stack into ``stack(over:)``.
    ///
    /// If ``dismissModals`` is true, the shown sheets, covers, and alerts are dismissed first, even those that the new
    /// stack contains. ``StackStep/steps(from:to:)`` describes the other steps.
    ///
    /// - Parameter shown: The stack that the app shows.
    /// - Returns: The steps to perform, in order.
    public func steps(from shown: [StackEntry]) -> [StackStep] {
        guard changesStack else { return [] }
        let dismissed = dismissModals ? shown.count(where: \.isModal) : 0
        let base = Self.base(shown, dismissModals: dismissModals)
        return Array(repeating: .dismiss, count: dismissed) + StackStep.steps(from: base, to: stack(over: shown))
    }

    /// A Boolean value that indicates whether the decision has a stack to apply.
    var changesStack: Bool { outcome == .navigate || outcome == .deferred }

    /// Returns the shown stack, without its sheets, covers, and alerts if `dismissModals` is true.
    private static func base(_ shown: [StackEntry], dismissModals: Bool) -> [StackEntry] {
        guard dismissModals, let first = shown.firstIndex(where: \.isModal) else { return shown }
        return Array(shown[..<first])
    }

    private static func appended(_ own: [StackEntry], to base: [StackEntry]) -> [StackEntry] {
        guard let first = own.first else { return base }
        var base = base
        while let last = base.last, last.present == .alert || (!first.isModal && !last.acceptsPush) {
            base.removeLast()
        }
        return base + own
    }
}

extension StackEntry {
    /// Returns a Boolean value that indicates whether this entry can stay where the other one should be.
    ///
    /// This is the case if both are equal, or if they have the same identity and only their data differs.
    fileprivate func stays(as other: StackEntry) -> Bool {
        if self == other { return true }
        var twin = other
        twin.models = models
        return identity != nil && self == twin
    }
}
