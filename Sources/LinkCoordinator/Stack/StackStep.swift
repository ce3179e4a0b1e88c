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
}

extension StackStep {
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
}

extension StackEntry {
    /// A Boolean value that indicates whether the entry is a sheet, cover, or alert, which begins its own group.
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
        guard outcome == .navigate || outcome == .deferred else { return shown }
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
    /// SwiftUI can perform the changes one at a time: first dismissals from the top down, then pops, updates, and
    /// finally pushes and presentations from the bottom up. Entries at the bottom that do not change stay. An entry
    /// with an identity whose data changed is updated. Without an identity, it is removed and shown again.
    ///
    /// - Parameter shown: The stack that the app shows.
    /// - Returns: The steps to perform, in order.
    public func steps(from shown: [StackEntry]) -> [StackStep] {
        let newStack = stack(over: shown)
        let closes = dismissModals && (outcome == .navigate || outcome == .deferred)
        let base = Self.base(shown, dismissModals: closes)
        // An entry that is closed first is shown again even if the new stack contains it.
        let commonCount = zip(base, newStack).prefix { $0.stays(as: $1) }.count
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
        for index in 0..<commonCount where remaining[index] != newStack[index] {
            steps.append(.update(index, newStack[index]))
        }
        var index = commonCount
        while index < newStack.count {
            if newStack[index].isModal {
                steps.append(.present(newStack[index]))
                index += 1
                continue
            }
            let end = newStack[index...].firstIndex(where: \.isModal) ?? newStack.count
            steps.append(.push(Array(newStack[index..<end])))
            index = end
        }
        return steps
    }

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
    /// Returns a Boolean value that indicates whether this entry can stay in place of the other one.
    ///
    /// This is the case if both are equal, or if they have the same identity and only their data differs.
    fileprivate func stays(as other: StackEntry) -> Bool {
        if self == other { return true }
        var twin = other
        twin.models = models
        return identity != nil && self == twin
    }
}
