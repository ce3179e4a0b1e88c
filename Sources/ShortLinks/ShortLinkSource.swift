internal import Synchronization

/// The file of short links that a process uses, which can be replaced by another one while deciders run.
///
/// A decider takes the newest file between two batches, so all decisions of a record are made with one file. A file is
/// unmapped when no decider uses it any more.
package final class ShortLinkSource: Sendable {
    private let newest: Mutex<ShortLinkFile>
    private let newestNumber = Atomic<Int>(0)

    /// Creates a source of a file.
    package init(_ file: ShortLinkFile) { newest = Mutex(file) }

    /// The number of times that the file was replaced.
    package var number: Int { newestNumber.load(ordering: .relaxed) }

    /// The newest file.
    package var file: ShortLinkFile { newest.withLock { $0 } }

    /// Replaces the file.
    package func replace(_ file: ShortLinkFile) {
        newest.withLock { $0 = file }
        newestNumber.wrappingAdd(1, ordering: .relaxed)
    }
}
