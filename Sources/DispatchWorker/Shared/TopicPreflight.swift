internal import ByteStorage
internal import KafkaClient
internal import LinkDecider

/// The facts about the topics that the lanes need.
struct TopicFacts: Sendable, Equatable {
    /// The limit that is assumed if `DescribeConfigs` is not authorized: the broker's default.
    static let assumedMessageLimit = 1_048_588

    /// `max.message.bytes` of the output and dead-letter topics for which it is known.
    var limits: [String: Int] = [:]
    /// The inputs that are compacted.
    var compactedInputs: Set<String> = []
    /// The topics that lose records, devices, or configurations.
    var cleanupProblems: [CleanupProblem] = []
    /// The number of partitions of all inputs.
    var inputPartitions = 0
    /// The facts about the topic of the registry, or nil without a registry.
    var registry: RegistryFacts?
}

/// The check of a worker's topics before the lanes start.
///
/// A missing or unauthorized topic ends the worker.
struct TopicPreflight {
    let configuration: WorkerConfiguration
    let admin: KafkaAdmin

    /// The time limit of one request, in milliseconds.
    private var requestTimeout: Int32 { Int32(min(5_000, configuration.startTimeoutMilliseconds)) }

    /// Checks the topics once.
    ///
    /// Returns nil if `isStopping` returns true between two requests. Throws an error if the brokers do not answer yet.
    func check(_ isStopping: () -> Bool) throws(KafkaError) -> Result<TopicFacts?, WorkerExit> {
        var facts = TopicFacts()
        let inputs = try inputs()
        if isStopping() { return .success(nil) }
        let topics = LaneTopics(configuration)
        let deadLetters = inputs.map { topics.deadLetterTopic(of: $0.name) }
        let outputs = (configuration.outputs.names + deadLetters).unique
        var described = try admin.describe(topics: outputs, timeoutMilliseconds: requestTimeout)
        // An input of a regular expression waits for its dead-letter topic, unless no input has one.
        if described.contains(where: { !topics.known.contains($0.name) && !$0.isUnusable }) {
            described.removeAll { !topics.known.contains($0.name) && $0.isUnusable }
        }
        let registries = try admin.describe(
            topics: configuration.devicesTopic.map { [$0] } ?? [], timeoutMilliseconds: requestTimeout)
        if let exit = denial(inputs + registries, described) { return .failure(exit) }
        for topic in inputs + described + registries {
            if let exit = try problem(with: topic) { return .failure(exit) }
        }
        if isStopping() { return .success(nil) }
        facts.inputPartitions = inputs.reduce(0) { $0 + $1.partitions.count }
        // librdkafka's mock cluster does not answer DescribeConfigs.
        if !configuration.isMockBroker { readSettings(described.map(\.name), inputs.map(\.name), into: &facts) }
        if let registry = registries.first {
            do throws(WorkerExit) {
                facts.registry = try registryFacts(registry)
            } catch {
                return .failure(error)
            }
        }
        return .success(isStopping() ? nil : facts)
    }

    /// Returns the input topics.
    func inputs() throws(KafkaError) -> [TopicDescription] {
        switch configuration.input {
        case .topics(let names): try admin.describe(topics: names, timeoutMilliseconds: requestTimeout)
        case .pattern(let pattern): try matching(pattern)
        }
    }

    private func matching(_ pattern: String) throws(KafkaError) -> [TopicDescription] {
        let all = try admin.metadata(timeoutMilliseconds: requestTimeout).topics
        guard let matcher = PosixPattern(pattern) else {
            throw KafkaError(code: .invalidArgument, text: "the input pattern is not a valid regular expression")
        }
        let inputs = Set(LaneTopics(configuration).inputs(matching: matcher, among: all.map(\.name)))
        return all.filter { inputs.contains($0.name) }
    }

    /// Returns the exit for all topics that the principal may not describe, or nil.
    private func denial(_ inputs: [TopicDescription], _ outputs: [TopicDescription]) -> WorkerExit? {
        let denied = [inputs, outputs].map { topics in
            topics.filter { $0.error?.code == .topicAuthorizationFailed }.map(\.name)
        }
        guard denied.contains(where: { !$0.isEmpty }) else { return nil }
        return RightsText(configuration).exit(deniedInputs: denied[0], deniedOutputs: denied[1])
    }

    private func problem(with topic: TopicDescription) throws(KafkaError) -> WorkerExit? {
        if topic.isUnusable { return .missingTopic(topic.name, topic.error?.code) }
        if let error = topic.error { throw error }
        return nil
    }

    /// Returns the facts about the topic of the registry.
    ///
    /// A topic that is known not to be compacted loses devices, so it ends the worker.
    private func registryFacts(_ topic: TopicDescription) throws(WorkerExit) -> RegistryFacts {
        var facts = RegistryFacts(partitions: topic.partitions.map(\.id).sorted())
        if configuration.isMockBroker { return facts }
        facts.cluster = admin.clusterID(timeoutMilliseconds: requestTimeout) ?? ""
        if LibraryInfo.hasTopicIDs {
            let ids = try? admin.topicIDs(of: [topic.name], timeoutMilliseconds: requestTimeout)
            facts.topicID = ids?[topic.name] ?? ""
        }
        let settings = try? admin.settings(ofTopics: [topic.name], timeoutMilliseconds: requestTimeout)
        guard let values = settings?.first?.values else { return facts }
        if let policy = values["cleanup.policy"], !policy.contains("compact") {
            throw WorkerExit(
                .configuration,
                "the topic \(topic.name) of `devices.topic` is not compacted (cleanup.policy=\(policy))",
                advice: "create it with `linkd topics create`, or set cleanup.policy=compact")
        }
        facts.retentionSeconds = values["delete.retention.ms"].flatMap { Int64($0) }.map { $0 / 1000 }
        return facts
    }

    /// Fetches `max.message.bytes` of the outputs and `cleanup.policy` of all topics.
    ///
    /// If the request is not authorized or times out, the broker's defaults are assumed.
    private func readSettings(_ outputs: [String], _ inputs: [String], into facts: inout TopicFacts) {
        var purposes: [String: CleanupProblem.Purpose] = [:]
        for name in outputs { purposes[name] = .output }
        for name in inputs { purposes[name] = .input }
        if let devices = configuration.devicesTopic { purposes[devices] = .devices }
        if let tables = configuration.tablesTopic { purposes[tables] = .archive }
        do {
            for topic in try admin.settings(ofTopics: purposes.keys.sorted(), timeoutMilliseconds: requestTimeout) {
                let policy = topic.values["cleanup.policy"]
                if let purpose = purposes[topic.name],
                    let problem = CleanupProblem(topic: topic.name, purpose, policy: policy)
                {
                    facts.cleanupProblems.append(problem)
                }
                if outputs.contains(topic.name), let limit = topic.values["max.message.bytes"].flatMap({ Int($0) }) {
                    facts.limits[topic.name] = limit
                }
                if policy?.contains("compact") ?? false {
                    facts.compactedInputs.insert(topic.name)
                }
            }
        } catch {
            return
        }
    }
}
