package import LinkCoordinator
package import LinkDecider
internal import Synchronization

/// The route tables that the lanes of a worker serve, and the counters of their changes.
///
/// A lane compares its number with ``number`` between two batches, and takes the newest version if they differ. It
/// waits for no other thread but to copy the references of that version.
package final class ServedTables: Sendable {
    /// The tables that are served together.
    package struct Version: Sendable {
        /// The number, which counts the versions since the start.
        ///
        /// `ServedTables` sets it.
        package fileprivate(set) var number = 0
        package let tables: TableSet
        /// The descriptions of the tables in the same order, or none for tables without files.
        package fileprivate(set) var entries: [ServedTable]
        /// The candidate for one of the tables, or nil.
        package let canary: CanaryPlan?
        /// The description of the candidate, or nil.
        package let canaryEntry: ServedTable?

        /// Creates a version.
        package init(
            _ tables: TableSet, _ entries: [ServedTable] = [], canary: CanaryPlan? = nil,
            canaryEntry: ServedTable? = nil
        ) {
            self.tables = tables
            self.entries = entries
            self.canary = canary
            self.canaryEntry = canaryEntry
        }
    }

    private let newest: Mutex<Version>
    private let newestNumber = Atomic<Int>(0)
    private let reloads = Atomic<UInt64>(0)
    private let refusals = Atomic<UInt64>(0)

    /// Serves a first version.
    package init(_ first: Version) { newest = Mutex(first) }

    /// The number of the version that is served.
    package var number: Int { newestNumber.load(ordering: .relaxed) }

    package var counters: TableCounters {
        var result = TableCounters()
        result.version = number
        result.reloads = reloads.load(ordering: .relaxed)
        result.refusals = refusals.load(ordering: .relaxed)
        return result
    }

    /// Returns the version that is served.
    package func current() -> Version { newest.withLock { $0 } }

    /// Serves another version.
    ///
    /// Every lane serves it from its next batch on. The version before is freed when the last lane has taken this one.
    package func replace(_ version: Version) {
        let number = newest.withLock { newest in
            var next = version
            next.number = newest.number + 1
            newest = next
            return next.number
        }
        newestNumber.store(number, ordering: .relaxed)
        reloads.wrappingAdd(1, ordering: .relaxed)
    }

    /// Counts a change that was refused.
    package func refused() { refusals.wrappingAdd(1, ordering: .relaxed) }

    /// Marks tables as fallbacks if their files have other contents that are refused.
    package func setFallbacks(_ isFallback: (ServedTable) -> Bool) {
        newest.withLock { newest in
            for index in newest.entries.indices {
                newest.entries[index].isFallback = isFallback(newest.entries[index])
            }
        }
    }
}
