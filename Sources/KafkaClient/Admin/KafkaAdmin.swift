/// A client for admin requests: topics, their settings, and brokers.
///
/// All calls come from one thread.
package final class KafkaAdmin {
    let handle: ClientHandle
    private let certificates = CertificateCheck()
    private var topics = TopicHandles()
    private var inbox = ClientInbox()

    /// Creates a client, which connects on its own.
    ///
    /// `watch` lists its calls.
    package init(_ configuration: ClientConfiguration, watch: CallWatch = CallWatch()) throws(ConfigurationError) {
        var configuration = configuration
        configuration["allow.auto.create.topics"] = "false"
        let native = try NativeConfiguration(configuration)
        if configuration["enable.ssl.certificate.verification"] != "false" { certificates.observe(native) }
        handle = try ClientHandle(.producer, configuration: native, watch: watch, tokens: configuration.tokens)
    }

    deinit { close() }

    /// Destroys the instance.
    ///
    /// A second call has no effect.
    package func close() {
        guard handle.isOpen else { return }
        topics.release()
        handle.destroy()
    }

    /// Fetches the brokers and all topics of the cluster that this client may describe.
    package func metadata(timeoutMilliseconds: Int32) throws(KafkaError) -> ClusterMetadata {
        defer { serve() }
        return try ClusterMetadata(from: handle, topic: nil, timeoutMilliseconds: timeoutMilliseconds)
    }

    /// Fetches the descriptions of these topics, in order.
    ///
    /// `exists` is false for a missing topic.
    package func describe(
        topics names: [String], timeoutMilliseconds: Int32
    ) throws(KafkaError) -> [TopicDescription] {
        var found: [TopicDescription] = []
        for name in names {
            let metadata = try metadata(ofTopic: name, timeoutMilliseconds: timeoutMilliseconds)
            found.append(
                metadata.topics.first
                    ?? TopicDescription(name: name, partitions: [], error: KafkaError(code: .unknownTopicOrPartition)))
        }
        return found
    }

    /// Fetches the brokers of the cluster and one topic.
    ///
    /// A missing topic is absent or has an error.
    package func metadata(
        ofTopic name: String, timeoutMilliseconds: Int32
    ) throws(KafkaError) -> ClusterMetadata {
        defer { serve() }
        let topic = topics[try topics.add(name, to: handle)]
        return try ClusterMetadata(from: handle, topic: topic, timeoutMilliseconds: timeoutMilliseconds)
    }

    /// Returns the id of the cluster, or nil if no broker reports it within the time limit.
    package func clusterID(timeoutMilliseconds: Int32) -> String? {
        defer { serve() }
        return handle.clusterID(timeoutMilliseconds: timeoutMilliseconds)
    }

    /// Fetches the ids of topics by their names, as `RecordReceiver.topicIDs` does.
    package func topicIDs(of names: [String], timeoutMilliseconds: Int32) throws(KafkaError) -> [String: String] {
        if names.isEmpty { return [:] }
        defer { serve() }
        return try AdminCall(handle, .describeTopics, timeoutMilliseconds: timeoutMilliseconds).topicIDs(of: names)
    }

    /// Creates topics and returns one result per topic.
    ///
    /// With `validateOnly`, the broker only checks the request.
    package func create(
        topics: [TopicSpecification], validateOnly: Bool = false, timeoutMilliseconds: Int32
    ) throws(KafkaError) -> [TopicResult] {
        if topics.isEmpty { return [] }
        defer { serve() }
        return try AdminCall(handle, .createTopics, timeoutMilliseconds: timeoutMilliseconds)
            .create(topics, validateOnly: validateOnly)
    }

    /// Deletes topics and returns one result per topic.
    package func delete(topics: [String], timeoutMilliseconds: Int32) throws(KafkaError) -> [TopicResult] {
        if topics.isEmpty { return [] }
        defer { serve() }
        return try AdminCall(handle, .deleteTopics, timeoutMilliseconds: timeoutMilliseconds).delete(topics)
    }

    /// Fetches the settings of these topics, with one result per topic.
    package func settings(ofTopics names: [String], timeoutMilliseconds: Int32) throws(KafkaError)
        -> [ResourceSettings]
    {
        if names.isEmpty { return [] }
        defer { serve() }
        return try AdminCall(handle, .describeSettings, timeoutMilliseconds: timeoutMilliseconds)
            .settings(of: names, brokers: false)
    }

    /// Fetches the settings of one broker.
    package func settings(ofBroker id: Int32, timeoutMilliseconds: Int32) throws(KafkaError) -> ResourceSettings {
        defer { serve() }
        let results = try AdminCall(handle, .describeSettings, timeoutMilliseconds: timeoutMilliseconds)
            .settings(of: [String(id)], brokers: true)
        guard let first = results.first else { throw KafkaError(code: .unknown) }
        return first
    }

    /// Describes a consumer group without joining it.
    package func describe(group: String, timeoutMilliseconds: Int32) throws(KafkaError) -> GroupDescription {
        defer { serve() }
        return try handle.group(group, timeoutMilliseconds: timeoutMilliseconds)
    }

    /// Returns the error with which brokers refuse to describe a consumer group, or nil.
    ///
    /// A program that runs for long must not call it, see `ClientHandle.group`.
    package func refusal(toDescribe group: String, timeoutMilliseconds: Int32) throws(KafkaError) -> KafkaError? {
        defer { serve() }
        return try AdminCall(handle, .describeGroups, timeoutMilliseconds: timeoutMilliseconds).groupError(group)
    }

    /// Fetches the offset of the first record of partitions, with `LogicalOffset.beginning`, or their last stable
    /// offset, with `LogicalOffset.end`, in one request to each leader.
    package func offsets(
        of partitions: [TopicPartition], at end: Int64, timeoutMilliseconds: Int32
    ) throws(KafkaError) -> [PartitionResult] {
        if partitions.isEmpty { return [] }
        defer { serve() }
        // The library's default of `isolation.level` is read_committed, for all kinds of clients.
        return try handle.offsets(
            forTimes: partitions.map { PartitionOffset($0, offset: end) }, timeoutMilliseconds: timeoutMilliseconds)
    }

    /// Fetches the access rules of the cluster.
    ///
    /// This needs the right to describe the cluster. Without it, and without rules, librdkafka 2.0.2 and 2.16 return no
    /// rules, and no error.
    package func accessRules(timeoutMilliseconds: Int32) throws(KafkaError) -> [AccessBinding] {
        defer { serve() }
        return try AdminCall(handle, .describeAccessRules, timeoutMilliseconds: timeoutMilliseconds).accessRules()
    }

    /// Returns and removes the log lines, statistics, and errors that have arrived, oldest first.
    package func takeEvents() -> [ClientEvent] {
        serve()
        return inbox.takeEvents()
    }

    /// The reason why this client refused the last certificate that it refused, or nil.
    package var certificateProblem: CertificateProblem? { certificates.refusal.map(CertificateProblem.init) }

    /// Returns the cause of a failed connection in an event of this client, or nil if the event has none.
    ///
    /// Only an admin client knows the reason why a certificate was refused.
    package func cause(of event: ClientEvent) -> ConnectionCause? {
        switch event {
        case .error(let error): ConnectionCause(error)?.with(certificateProblem)
        case .log(let line): ConnectionCause(logLine: line)?.with(certificateProblem)
        case .statistics: nil
        }
    }

    private func serve() {
        guard handle.isOpen else { return }
        handle.serveMain(timeoutMilliseconds: 0, into: &inbox)
        handle.drainLog(into: &inbox)
    }
}
