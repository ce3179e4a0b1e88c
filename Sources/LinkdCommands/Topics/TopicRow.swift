internal import RouteTools
internal import KafkaClient

/// What `linkd topics check` shows of a topic.
struct TopicRow {
    /// Name and role.
    let declaration: TopicDeclaration
    /// Whether the topic is there.
    let exists: Bool
    /// Number of partitions.
    let partitions: Int
    /// Fewest copies of a partition.
    let replicas: Int
    /// `min.insync.replicas`.
    let minInSync: String?
    /// `retention.ms`; -1 is for ever.
    let retention: Int64?
    /// `max.message.bytes`.
    let maxBytes: String?
    /// `cleanup.policy`.
    let cleanup: String?
    /// `message.timestamp.type`.
    let timestampType: String?

    /// Takes what the cluster said.
    init(_ declaration: TopicDeclaration, _ state: TopicState) {
        self.declaration = declaration
        let description = state.description(of: declaration.name)
        exists = description?.exists ?? false
        partitions = description?.partitions.count ?? 0
        replicas = description?.partitions.map(\.replicas.count).min() ?? 0
        minInSync = state.setting("min.insync.replicas", of: declaration.name)
        retention = state.setting("retention.ms", of: declaration.name).flatMap { Int64($0) }
        maxBytes = state.setting("max.message.bytes", of: declaration.name)
        cleanup = state.setting("cleanup.policy", of: declaration.name)
        timestampType = state.setting("message.timestamp.type", of: declaration.name)
    }

    /// A retention in words.
    static func retentionText(_ milliseconds: Int64) -> String {
        milliseconds < 0 ? "for ever" : Durations.text(milliseconds)
    }

    /// The row as an object.
    func write(to json: inout JSONText) {
        json.beginObject()
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
        json.endObject()
    }
}
