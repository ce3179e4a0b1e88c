/// A type of the app that applies decisions by performing one change at a time.
///
/// ``apply(_:)-(Decision)`` performs one change after another, each computed from the stack that is shown at that time.
/// Return from each method when its change is visible, after any animation, and in ``shown``. An app then never has to
/// change two levels of presentation at once, which SwiftUI does not do reliably.
///
/// Only one change is performed at a time, also if links arrive faster than they can be shown. The newest decision
/// takes over at the next change, and the older one ends. The app then shows only the stack of the newest one.
@MainActor
public protocol StackApplier: AnyObject {
    /// The stack that the app shows, from the bottom to the top.
    var shown: [StackEntry] { get }

    /// Closes the topmost sheet, cover, or alert.
    func dismiss() async
    /// Removes the given number of pushed entries from the top group.
    func pop(_ count: Int) async
    /// Replaces the data of an entry that stays.
    ///
    /// `index` counts from the bottom.
    func update(_ entry: StackEntry, at index: Int) async
    /// Pushes entries onto the top group.
    func push(_ entries: [StackEntry]) async
    /// Presents a sheet, cover, or alert on top of everything.
    func present(_ entry: StackEntry) async
}

extension StackApplier {
    /// Applies a decision, one step after another.
    ///
    /// If another decision is being applied, this one takes over as soon as the step in progress has ended. Its stack
    /// is computed from what is shown then. The function returns when the stack is shown, or when a newer decision has
    /// taken over. A decision without a stack changes nothing, and does not end an older one. The app opens the
    /// ``Decision/url`` of an external decision itself.
    ///
    /// If the user or the app changes the shown stack between two steps, the next step is computed from the changed
    /// stack, up to three times.
    ///
    /// - Parameter decision: The decision to apply.
    public func apply(_ decision: Decision) async {
        guard decision.changesStack else { return }
        await StackTurns.apply(.decision(decision), to: self)
    }

    /// Shows a stack, such as one that was stored when the app ended, one step after another.
    ///
    /// It takes over from a decision that is being applied, and a newer decision takes over from it.
    ///
    /// - Parameter stack: The stack to show.
    public func apply(_ stack: [StackEntry]) async {
        await StackTurns.apply(.stack(stack), to: self)
    }

    /// Performs one step.
    ///
    /// - Parameter step: The step to perform.
    public func apply(_ step: StackStep) async {
        switch step {
        case .dismiss: await dismiss()
        case .pop(let count): await pop(count)
        case .update(let index, let entry): await update(entry, at: index)
        case .push(let entries): await push(entries)
        case .present(let entry): await present(entry)
        }
    }
}

/// A request to an applier to show a stack.
enum StackRequest {
    case decision(Decision)
    case stack([StackEntry])

    /// Returns what is left to do from the shown stack.
    func goal(from shown: [StackEntry]) -> StackGoal {
        switch self {
        case .decision(let decision):
            StackGoal(stack: decision.stack(over: shown), dismissesModals: decision.dismissModals)
        case .stack(let stack): StackGoal(stack: stack, dismissesModals: false)
        }
    }
}

/// A stack to show, from which one step after another is computed.
struct StackGoal {
    let stack: [StackEntry]
    /// A Boolean value that indicates whether sheets, covers, and alerts are still to be closed, even if `stack` has
    /// them.
    var dismissesModals: Bool

    /// Returns the next step from the shown stack, or nil if nothing is left to do.
    mutating func nextStep(from shown: [StackEntry]) -> StackStep? {
        if dismissesModals, shown.contains(where: \.isModal) { return .dismiss }
        dismissesModals = false
        return StackStep.steps(from: shown, to: stack).first
    }
}

/// The turns of the requests that are applied to one applier at the same time.
///
/// Only the newest request performs steps, and only after the step in progress has ended.
@MainActor
final class StackTurns {
    /// The turns of each applier with a request in progress, which retains the applier.
    private static var all: [ObjectIdentifier: StackTurns] = [:]

    /// The appliers for which the current task performs a step.
    @TaskLocal private static var performing: Set<ObjectIdentifier> = []

    /// The number of times that the steps of a request are computed anew because something else changed the stack.
    private static let maxCorrections = 3

    /// The number of the newest request.
    private var newest = 0
    /// The number of requests that have not returned.
    private var inProgress = 0
    private var isPerforming = false
    /// The newest request while it waits for the end of the step in progress.
    private var waiting: CheckedContinuation<Void, Never>?
    /// The newest request, if the step in progress has made it, so that it cannot wait for the end of that step.
    private var next: StackRequest?

    /// Performs the steps of a request until its stack is shown or a newer request takes over.
    static func apply(_ request: StackRequest, to applier: some StackApplier) async {
        let id = ObjectIdentifier(applier)
        let turns = all[id] ?? StackTurns()
        all[id] = turns
        turns.inProgress += 1
        if await turns.begin(request, id) { await turns.perform(request, id, on: applier) }
        turns.inProgress -= 1
        if turns.inProgress == 0 { all[id] = nil }
    }

    /// Makes a request the newest one and waits until no step is in progress.
    ///
    /// Returns false if a newer request has taken over. It also returns false if the step in progress made the request,
    /// because the request is performed after that step.
    private func begin(_ request: StackRequest, _ id: ObjectIdentifier) async -> Bool {
        newest += 1
        let own = newest
        next = nil
        resumeWaiting()
        guard isPerforming else { return true }
        if Self.performing.contains(id) {
            next = request
            return false
        }
        await withCheckedContinuation { waiting = $0 }
        return newest == own
    }

    /// Performs the steps of the newest request until its stack is shown or another one is the newest.
    private func perform(_ request: StackRequest, _ id: ObjectIdentifier, on applier: some StackApplier) async {
        var own = newest
        var stack = applier.shown
        var goal = request.goal(from: stack)
        var corrections = 0
        while newest == own, let step = goal.nextStep(from: stack) {
            isPerforming = true
            await Self.$performing.withValue(Self.performing.union([id])) { await applier.apply(step) }
            isPerforming = false
            resumeWaiting()
            if let request = next {
                next = nil
                own = newest
                stack = applier.shown
                goal = request.goal(from: stack)
                corrections = 0
                continue
            }
            step.apply(to: &stack)
            let shown = applier.shown
            if stack.elementsEqual(shown, by: { $0.isSameScreen(as: $1) }) { continue }
            if corrections == Self.maxCorrections { return }
            corrections += 1
            stack = shown
        }
    }

    private func resumeWaiting() {
        waiting?.resume()
        waiting = nil
    }
}
