internal import ByteStorage
internal import KafkaClient
internal import StrictJSON

/// A row of `linkd topics check`.
struct TopicRow {
    /// The name and purpose of the topic.
    let declaration: TopicDeclaration
    /// A Boolean value that indicates whether the topic exists.
    let exists: Bool
    /// The number of partitions.
    let partitions: Int
    /// The lowest number of replicas of a partition.
    let replicas: Int
    /// The setting `min.insync.replicas`.
    let minInSync: String?
    /// The setting `retention.ms`.
    ///
    /// -1 means unlimited. A topic that is only compacted has none.
    let retention: Int64?
    /// The setting `max.message.bytes`.
    let maxBytes: String?
    /// The setting `cleanup.policy`.
    let cleanup: String?
    /// The setting `message.timestamp.type`.
    let timestampType: String?

    /// The reason why the topic is not described (`missing` or `denied`), or nil.
    let presence: String?

    /// Creates a row from the state of the cluster.
    init(_ declaration: TopicDeclaration, _ state: TopicState) {
        self.declaration = declaration
        let description = state.description(of: declaration.name)
        exists = description?.exists ?? false
        presence = description?.isDenied == true ? "denied" : exists ? nil : "missing"
        partitions = description?.partitions.count ?? 0
        replicas = description?.partitions.map(\.replicas.count).min() ?? 0
        minInSync = state.setting("min.insync.replicas", of: declaration.name)
        let policy = state.setting("cleanup.policy", of: declaration.name)
        retention =
            policy == "compact" ? nil : state.setting("retention.ms", of: declaration.name).flatMap { Int64($0) }
        maxBytes = state.setting("max.message.bytes", of: declaration.name)
        cleanup = policy
        timestampType = state.setting("message.timestamp.type", of: declaration.name)
    }

    /// Returns a retention time for people.
    static func retentionText(_ milliseconds: Int64) -> String {
        milliseconds < 0 ? "unlimited" : Durations.text(milliseconds)
    }

    /// Writes the members of the row.
    func write(to json: inout JSONText) {
        json.text("topic", declaration.name)
        json.text("role", declaration.role.rawValue)
        json.boolean("exists", exists)
        json.number("partitions", Int64(partitions))
        json.number("replication", Int64(replicas))
        json.number("min_insync_replicas", minInSync.flatMap { Int64($0) })
        json.number("retention_ms", retention)
        json.number("max_message_bytes", maxBytes.flatMap { Int64($0) })
        json.text("cleanup_policy", cleanup)
        json.text("timestamp_type", timestampType)
    }
}
