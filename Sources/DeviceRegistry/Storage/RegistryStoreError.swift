/// The reason why a store cannot be opened, or why a batch was not applied.
package enum RegistryStoreError: Error, Sendable, Equatable {
    /// Another process, or another object of this process, has the store open.
    case inUse(directory: String)
    /// The directory or its files cannot be used, for a reason that the system gives.
    case unusable(directory: String, reason: String)
    /// The disk is full, or a limit of the file size or a quota is reached. The batch was not applied.
    case noSpace(directory: String)
    /// The reserved address space is full before the limit of devices. The batch was not applied.
    case mapFull(directory: String)
    /// The batch would exceed the limit of devices, so it was not applied.
    case tooManyDevices(limit: Int)
    /// The batch would exceed twice the limit of devices before everything in the topic was read, so it was not
    /// applied.
    case tooManyAtOnce(limit: Int)
    /// There are more snapshots at once than the store has places for.
    case tooManySnapshots
    /// The store is damaged, so the next opening deletes it.
    case damaged(directory: String)
    /// The store was closed.
    case closed
    /// LMDB reports another error, in its own words.
    case failed(directory: String, reason: String)
}

extension RegistryStoreError: CustomStringConvertible {
    /// The reason, without a final period.
    package var reason: String {
        switch self {
        case .inUse(let directory): "another process uses the device store \(directory)"
        case .unusable(let directory, let reason): "the device store \(directory) cannot be used: \(reason)"
        case .noSpace(let directory): "the disk of the device store \(directory) is full"
        case .mapFull(let directory): "the device store \(directory) has reached its reserved size"
        case .tooManyDevices(let limit): "the topic has more than \(limit) devices"
        case .tooManyAtOnce(let limit): "the topic has more than \(limit) devices before its later records are read"
        case .tooManySnapshots: "the device store has no place for another reader"
        case .damaged(let directory): "the device store \(directory) is damaged"
        case .closed: "the device store is closed"
        case .failed(let directory, let reason): "the device store \(directory) has failed: \(reason)"
        }
    }

    /// The next step, without a final period.
    package var advice: String {
        switch self {
        case .inUse: "set state.dir to another directory for each process"
        case .unusable: "set state.dir to a directory in which this user can create files"
        case .noSpace: "free space there, or set state.dir to a larger disk"
        case .mapFull: "increase devices.max and start again, or store fewer members with devices.members"
        case .tooManyDevices: "increase devices.max, or delete devices from the topic"
        case .tooManyAtOnce: "increase devices.max, or start again when deleted devices are compacted away"
        case .tooManySnapshots: "use fewer lanes in one process"
        case .damaged: "start again, so that it is deleted and read from the topic again"
        case .closed: "open it again"
        case .failed: "start again, and check the disk if it fails again"
        }
    }

    package var description: String { reason + ": " + advice }
}

extension RegistryStore {
    /// The reason why the store of an earlier run was deleted when the store was opened.
    package enum DropReason: String, Error, Equatable, CaseIterable {
        /// It was open when the machine stopped, so some of its pages may never have reached the disk.
        case crashed
        /// It holds another topic, another cluster, or other members.
        case foreign
        /// It was last updated so long ago that tombstones in the topic may be gone.
        case stale
        /// Its bytes are not what was written.
        case damaged
        /// Another version of the program, or of LMDB, has written it.
        case format

        /// The reason as the end of a sentence that begins with "the device store was deleted because".
        package var text: String {
            switch self {
            case .crashed: "it was open when the machine stopped"
            case .foreign: "it holds another topic or other members"
            case .stale: "it was last updated longer ago than the topic keeps deletions"
            case .damaged: "it is damaged"
            case .format: "another version has written it"
            }
        }
    }
}
