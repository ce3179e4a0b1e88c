/// A type of the app that applies decisions by performing one change at a time.
///
/// ``apply(_:)-(Decision)`` computes the changes from the shown stack and performs them one after another. Return from
/// each method when its change is visible, after any animation. An app then never has to change two levels of
/// presentation at once, which SwiftUI does not do reliably.
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
    /// Applies a decision by performing its steps from the shown stack one after another.
    ///
    /// A decision without a stack changes nothing. The app opens the ``Decision/url`` of an external decision itself.
    ///
    /// - Parameter decision: The decision to apply.
    public func apply(_ decision: Decision) async {
        for step in decision.steps(from: shown) { await apply(step) }
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
