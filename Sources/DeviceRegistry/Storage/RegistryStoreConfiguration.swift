internal import CLibrary

/// The last record that was read of a partition, by which a topic that was created again is recognized.
package struct RegistryWitness: Sendable, Equatable {
    /// The record's offset.
    package let offset: Int64
    /// The record's timestamp in milliseconds since 1970, or -1 for none.
    package let timestamp: Int64
    /// A hash of the record's key and value.
    package let hash: UInt64

    /// Creates a witness.
    package init(offset: Int64, timestamp: Int64, hash: UInt64) {
        self.offset = offset
        self.timestamp = timestamp
        self.hash = hash
    }
}

/// The topic whose records a store holds, and the members that are stored.
///
/// A store of another source is not used.
package struct RegistrySource: Sendable, Equatable {
    /// The id of the cluster.
    package var cluster: String
    /// The name of the topic.
    package var topic: String
    /// The id of the topic, which changes if the topic is deleted and created again.
    package var topicID: String
    /// The stored members, as canonical text.
    package var members: String

    /// Creates a source.
    package init(cluster: String, topic: String, topicID: String, members: String) {
        self.cluster = cluster
        self.topic = topic
        self.topicID = topicID
        self.members = members
    }

    /// Returns a Boolean value that indicates whether both can be the same topic with the same members.
    ///
    /// An id that no broker has reported can be any.
    func isSame(as other: RegistrySource) -> Bool {
        topic == other.topic && members == other.members
            && (cluster == other.cluster || cluster.isEmpty || other.cluster.isEmpty)
            && (topicID == other.topicID || topicID.isEmpty || other.topicID.isEmpty)
    }

    /// Takes the ids that are known since then, such as after an update of the client library.
    mutating func addIDs(of other: RegistrySource) {
        if cluster.isEmpty { cluster = other.cluster }
        if topicID.isEmpty { topicID = other.topicID }
    }
}

/// The settings of a store.
package struct RegistryStoreConfiguration: Sendable {
    /// The directory of the store, which is created if its parent exists.
    package var directory: String
    /// The topic whose records the store holds.
    package var source: RegistrySource
    /// The limit of devices.
    package var maxDevices: Int
    /// The age in seconds after which a store is dropped, or nil for no limit.
    ///
    /// It is the topic's `delete.retention.ms`. Deletions that are older may be gone from the topic.
    package var maxAgeSeconds: Int64?
    /// The id of the machine's current boot, or an empty text if it is unknown, which counts as another boot.
    package var bootID: String
    /// The time in milliseconds since 1970.
    package var now: Int64

    /// Creates settings.
    package init(
        directory: String, source: RegistrySource, maxDevices: Int = 20_000_000, maxAgeSeconds: Int64? = nil,
        bootID: String, now: Int64
    ) {
        self.directory = directory
        self.source = source
        self.maxDevices = maxDevices
        self.maxAgeSeconds = maxAgeSeconds
        self.bootID = bootID
        self.now = now
    }

    /// The address space of the store in bytes, which costs neither memory nor disk until it is used.
    ///
    /// A device of ordinary size takes less than 200 bytes, and one with facts of 4 KiB at most 12 KiB.
    var mapBytes: Int { 1 << 30 + (min(max(maxDevices, 1), 1 << 32) / 8 + 1) * 8 * 8192 }

    /// Returns the id of the machine's current boot, or an empty text if the system does not report one.
    package static func currentBootID() -> String {
        let file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(file, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(count, 0)).prefix { $0 > 0x20 }, as: UTF8.self)
    }
}
