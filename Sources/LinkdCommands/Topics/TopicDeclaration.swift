internal import ByteStorage
internal import DispatchWorker
internal import KafkaClient
internal import LinkDecider
internal import StrictJSON

/// A topic that a worker with these settings, or a replay of its dead letters, uses.
struct TopicDeclaration {
    /// The purpose of a topic.
    enum Role: String {
        case input = "input"
        case output = "output"
        case deadLetters = "dead letters"
        case replayed = "replayed dead letters"
        case parked = "parked dead letters"
        case recalled = "corrected decisions"
        case devices = "devices"
        case archive = "configurations"

        /// A Boolean value that indicates whether a worker reads the topic.
        var isRead: Bool { self == .input || self == .devices || self == .archive }

        /// A Boolean value that indicates whether a worker, or a replay, writes to the topic.
        var isWritten: Bool { self != .input && self != .devices }

        /// A Boolean value that indicates whether the topic lists what was done with the records of another topic.
        var isLedger: Bool { self == .replayed || self == .recalled }

        /// The purpose for which `cleanup.policy` matters, or nil for a ledger, whose entries have different keys.
        var purpose: CleanupProblem.Purpose? {
            switch self {
            case .input: .input
            case .output, .deadLetters, .parked: .output
            case .devices: .devices
            case .archive: .archive
            case .replayed, .recalled: nil
            }
        }
    }

    let name: String
    /// The purpose.
    let role: Role
    /// The input of a topic of whole dead letters, otherwise nil.
    let input: String?
    /// The dead-letter topic of a topic that a replay writes, the output of the ledger of a recall, otherwise nil.
    var deadLetters: String?
    /// The inputs of a worker that reads the registry of devices, otherwise empty.
    var inputs: [String] = []

    /// Returns all topics of the settings, inputs first.
    ///
    /// With `withReplay`, the two topics of a replay follow for each dead-letter topic, and with `withRecall` the
    /// ledger of corrections in the output.
    static func all(
        of names: ClusterTopics, withReplay: Bool = false, withRecall: Bool = false
    ) -> [TopicDeclaration] {
        let replays = withReplay ? zip(names.deadLetters, names.inputs).flatMap(replay) : []
        let inputs = names.inputs.map { TopicDeclaration(name: $0, role: .input, input: nil) }
        let outputs = names.outputs.names.map { TopicDeclaration(name: $0, role: .output, input: nil) }
        let deadLetters = zip(names.deadLetters, names.inputs).map {
            TopicDeclaration(name: $0, role: .deadLetters, input: $1)
        }
        let devices = [names.devices].compactMap(\.self).map {
            TopicDeclaration(name: $0, role: .devices, input: nil, inputs: names.inputs)
        }
        let archive = [names.tables].compactMap(\.self).map {
            TopicDeclaration(name: $0, role: .archive, input: nil)
        }
        let recall = TopicDeclaration(
            name: Settings.recalled(of: names.outputs.main), role: .recalled, input: nil,
            deadLetters: names.outputs.main)
        return inputs + outputs + deadLetters + devices + archive + replays + (withRecall ? [recall] : [])
    }

    private static func replay(_ deadLetters: String, _ input: String) -> [TopicDeclaration] {
        [
            TopicDeclaration(
                name: Settings.replayed(of: deadLetters), role: .replayed, input: nil, deadLetters: deadLetters),
            TopicDeclaration(
                name: Settings.parked(of: deadLetters), role: .parked, input: input, deadLetters: deadLetters),
        ]
    }

    /// Kafka's default of `max.message.bytes`.
    static let defaultMessageBytes: Int64 = 1_048_588

    /// The least `max.message.bytes` of an archive of configurations: a piece of 512 KiB with its key and frame.
    static let archiveMessageBytes: Int64 = 600_000

    /// The bytes reserved for the headers that a dead letter has in addition to the original record.
    static let deadLetterHeaderBytes: Int64 = 64 << 10

    /// The default time by which the retention of a ledger exceeds the retention of dead letters, in milliseconds.
    ///
    /// A dead letter exists until the newest record of its segment expires, which is up to `segment.ms` later, 7 days
    /// by default. The rest is a margin.
    static let ledgerMargin: Int64 = 37 * 86_400_000

    /// Returns the retention time of a ledger in milliseconds: the time of its dead letters and a margin.
    ///
    /// -1 means unlimited.
    static func ledgerRetention(deadLetters retention: Int64, margin: Int64 = ledgerMargin) -> Int64 {
        let margin = max(0, margin)
        return retention < 0 ? -1 : min(retention, .max - margin) + margin
    }
}

/// The state of the declared topics in the cluster.
struct TopicState {
    /// The descriptions from a broker, in the order of the declarations.
    let descriptions: [TopicDescription]
    /// The settings by topic and name.
    ///
    /// A topic whose settings the user is not allowed to read has none.
    private let settings: [String: [String: String]]

    /// Fetches the state from the cluster.
    init(_ declarations: [TopicDeclaration], _ admin: KafkaAdmin) throws(CommandFailure) {
        let names = declarations.map(\.name)
        do throws(KafkaError) {
            descriptions = try admin.describe(topics: names, timeoutMilliseconds: 10_000)
            let existing = descriptions.filter { $0.error == nil }.map(\.name)
            let results = try admin.settings(ofTopics: existing, timeoutMilliseconds: 10_000)
            settings = Dictionary(
                results.filter { $0.error == nil }.map { ($0.name, $0.values) }, uniquingKeysWith: { first, _ in first }
            )
        } catch {
            throw CommandFailure(error, while: "describing the topics")
        }
        for description in descriptions where !description.isDenied {
            guard let error = description.error, description.exists else { continue }
            throw CommandFailure(error, while: "describing topic \(description.name)")
        }
    }

    /// Creates a state from its parts.
    init(descriptions: [TopicDescription], settings: [String: [String: String]]) {
        self.descriptions = descriptions
        self.settings = settings
    }

    /// Throws a failure that names all topics that this user is not allowed to describe.
    func requireDescriptions(as principal: String) throws(CommandFailure) {
        let denied = descriptions.filter(\.isDenied)
        guard let error = denied.first?.error else { return }
        throw CommandFailure(
            error, while: "describing the topics",
            needing: AccessRight(["Describe"], on: .topic, denied.map(\.name)), as: principal)
    }

    /// Returns a setting of a topic, or nil.
    func setting(_ name: String, of topic: String) -> String? { settings[topic]?[name] }

    /// Returns a Boolean value that indicates whether the topic exists and this user is allowed to describe it.
    func isReadable(_ topic: String) -> Bool {
        description(of: topic).map { $0.exists && !$0.isDenied } ?? false
    }

    /// Returns the description of a topic, or nil.
    func description(of topic: String) -> TopicDescription? { descriptions.first { $0.name == topic } }
}

extension TopicDescription {
    /// A Boolean value that indicates whether this user is not allowed to describe the topic.
    ///
    /// Then it is unknown whether the topic exists.
    var isDenied: Bool { error?.code == .topicAuthorizationFailed }
}

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
