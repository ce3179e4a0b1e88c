/// One change to the stack that is shown, small enough that SwiftUI carries it out in one update.
public enum StackStep: Sendable, Hashable {
    /// The sheet, cover or alert on top is closed, with everything that was pushed onto it.
    case dismiss
    /// So many entries are taken off the top group, all of them pushed.
    case pop(Int)
    /// An entry that stays gets new data; its index is counted from the bottom.
    case update(Int, StackEntry)
    /// Entries are pushed onto the top group.
    case push([StackEntry])
    /// A sheet, cover or alert is shown on top of everything.
    case present(StackEntry)
}

extension StackStep {
    /// What the step makes of a stack: how an app that keeps its stack as a list carries it out.
    public func apply(to stack: inout [StackEntry]) {
        switch self {
        case .dismiss:
            if let first = stack.lastIndex(where: \.isModal) { stack.removeSubrange(first...) }
        case .pop(let count): stack.removeLast(Swift.min(count, stack.count))
        case .update(let index, let entry):
            if stack.indices.contains(index) { stack[index] = entry }
        case .push(let entries): stack += entries
        case .present(let entry): stack.append(entry)
        }
    }
}

extension StackEntry {
    /// Whether the entry begins a group of its own: a sheet, a cover or an alert.
    public var isModal: Bool { present != .push }

    /// Whether something can be pushed onto the entry.
    var takesPush: Bool {
        switch present {
        case .push: true
        case .sheet, .cover: nav
        case .alert: false
        }
    }
}

extension Decision {
    /// What is to be shown once the decision is carried out over a stack that is shown.
    ///
    /// Only `navigate` and `deferred` change a stack; any other outcome leaves it as it is.
    /// - `replace`: the decision's stack.
    /// - `append`: what is shown, then the decision's entries.
    /// - `reuse`: what is shown up to an entry with the coordinator, screen and identity of the decision's last one,
    ///   which gets the new data; where there is none as `append`.
    ///
    /// Where `dismissModals` says so, the shown sheets, covers and alerts are closed before. An alert on top is closed
    /// before anything is appended, for nothing can be shown on an alert, and so is a sheet or cover without
    /// navigation before something is pushed.
    public func stack(over shown: [StackEntry]) -> [StackEntry] {
        guard outcome == .navigate || outcome == .deferred else { return shown }
        let own = stack.map { StackEntry($0) }
        let base = Self.base(shown, dismissModals: dismissModals)
        switch mode ?? .replace {
        case .replace: return own
        case .append: return Self.appended(own, to: base)
        case .reuse:
            guard let last = own.last, let index = base.lastIndex(where: last.isSamePlace) else {
                return Self.appended(own, to: base)
            }
            var kept = Array(base[...index])
            kept[index].models = last.models
            return kept
        }
    }

    /// The changes that turn a shown stack into ``stack(over:)``, in an order in which SwiftUI can carry them out one
    /// at a time: dismiss from the top down, pop, update, then push and present from the bottom up.
    ///
    /// What is the same below stays as it is. An entry whose identity is the same but whose data changed is updated
    /// where it stands; without an identity it is another entry, and is taken off and shown anew.
    public func steps(from shown: [StackEntry]) -> [StackStep] {
        let wanted = stack(over: shown)
        let closes = dismissModals && (outcome == .navigate || outcome == .deferred)
        let base = Self.base(shown, dismissModals: closes)
        // What is closed first is shown anew even where it is wanted again.
        let kept = zip(base, wanted).prefix { $0.stays(as: $1) }.count
        var steps: [StackStep] = []
        var left = shown
        while left.count > kept {
            let step: StackStep
            if let modal = left.lastIndex(where: \.isModal), modal >= kept {
                step = .dismiss
            } else {
                step = .pop(left.count - kept)
            }
            // Entries above the last group that stays go at once; those above a group that goes, with that group.
            step.apply(to: &left)
            steps.append(step)
        }
        for index in 0..<kept where left[index] != wanted[index] { steps.append(.update(index, wanted[index])) }
        var index = kept
        while index < wanted.count {
            if wanted[index].isModal {
                steps.append(.present(wanted[index]))
                index += 1
                continue
            }
            let end = wanted[index...].firstIndex(where: \.isModal) ?? wanted.count
            steps.append(.push(Array(wanted[index..<end])))
            index = end
        }
        return steps
    }

    /// What is left of a shown stack once its sheets, covers and alerts are closed, if they are to be.
    private static func base(_ shown: [StackEntry], dismissModals: Bool) -> [StackEntry] {
        guard dismissModals, let first = shown.firstIndex(where: \.isModal) else { return shown }
        return Array(shown[..<first])
    }

    private static func appended(_ own: [StackEntry], to base: [StackEntry]) -> [StackEntry] {
        guard let first = own.first else { return base }
        var base = base
        while let last = base.last, last.present == .alert || (!first.isModal && !last.takesPush) { base.removeLast() }
        return base + own
    }
}

extension StackEntry {
    /// Whether this entry can stay where the other one is wanted: all is equal, or only the data of an entry that has
    /// an identity differs.
    fileprivate func stays(as other: StackEntry) -> Bool {
        if self == other { return true }
        var twin = other
        twin.models = models
        return identity != nil && self == twin
    }
}
