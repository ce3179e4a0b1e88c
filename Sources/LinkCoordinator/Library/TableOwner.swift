internal import Synchronization

/// The tables that a process serves now: whole sets are put in place of one another while others resolve.
///
/// Whoever resolves takes `current` once and keeps it for the whole request, so that no request ever meets two sets.
/// A set that was replaced lives as long as somebody still uses it.
package final class TableOwner: Sendable {
    private let held: Mutex<TableSet>

    /// Starts with a set.
    package init(_ tables: TableSet) { held = Mutex(tables) }

    /// The set of this moment.
    package var current: TableSet { held.withLock { $0 } }

    /// Puts another set in place and gives the one that was there.
    @discardableResult
    package func replace(with tables: TableSet) -> TableSet {
        held.withLock { tablesNow in
            let last = tablesNow
            tablesNow = tables
            return last
        }
    }
}
