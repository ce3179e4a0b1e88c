/// What an app implements to show decisions: five changes, each of which one update of SwiftUI can carry out.
///
/// ``apply(_:)-(Decision)`` computes the changes from what is shown and asks for them one after another; a method
/// returns when its change has been shown (after its animation, if it has one). So an app never has to change two
/// levels of presentation at once, which SwiftUI does not do reliably.
@MainActor
public protocol StackApplier: AnyObject {
    /// What is shown, the lowest entry first.
    var shown: [StackEntry] { get }

    /// Closes the sheet, cover or alert on top.
    func dismiss() async
    /// Takes so many pushed entries off the top group.
    func pop(_ count: Int) async
    /// Gives an entry that stays new data; `index` is counted from the bottom.
    func update(_ entry: StackEntry, at index: Int) async
    /// Pushes entries onto the top group.
    func push(_ entries: [StackEntry]) async
    /// Shows a sheet, cover or alert on top of everything.
    func present(_ entry: StackEntry) async
}

extension StackApplier {
    /// Carries a decision out: the steps from what is shown, one after another.
    ///
    /// A decision that shows no stack changes nothing; its ``Decision/url`` is the app's to open.
    public func apply(_ decision: Decision) async {
        for step in decision.steps(from: shown) { await apply(step) }
    }

    /// Carries out one step.
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
