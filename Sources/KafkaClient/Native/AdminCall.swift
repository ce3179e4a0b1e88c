internal import CRdKafka

/// One call of librdkafka's admin interface.
///
/// It owns the call's options, queue, and result event.
final class AdminCall {
    /// The supported calls.
    enum Operation {
        case createTopics
        case deleteTopics
        case describeSettings
        case describeGroups
        case describeAccessRules

        fileprivate var native: rd_kafka_admin_op_t {
            switch self {
            case .createTopics: RD_KAFKA_ADMIN_OP_CREATETOPICS
            case .deleteTopics: RD_KAFKA_ADMIN_OP_DELETETOPICS
            case .describeSettings: RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS
            case .describeGroups: RD_KAFKA_ADMIN_OP_DESCRIBECONSUMERGROUPS
            case .describeAccessRules: RD_KAFKA_ADMIN_OP_DESCRIBEACLS
            }
        }
    }

    let handle: ClientHandle
    let options: OpaquePointer?
    let queue: OpaquePointer?
    private var event: OpaquePointer?
    private let timeoutMilliseconds: Int32

    init(_ handle: ClientHandle, _ operation: Operation, timeoutMilliseconds: Int32) {
        self.handle = handle
        options = handle.callWithoutWaiting { rd_kafka_AdminOptions_new($0, operation.native) }
        queue = handle.callWithoutWaiting { rd_kafka_queue_new($0) }
        self.timeoutMilliseconds = timeoutMilliseconds
        rd_kafka_AdminOptions_set_request_timeout(options, timeoutMilliseconds, nil, 0)
    }

    deinit {
        if let event { rd_kafka_event_destroy(event) }
        if let queue { rd_kafka_queue_destroy(queue) }
        if let options { rd_kafka_AdminOptions_destroy(options) }
    }

    func create(_ topics: [TopicSpecification], validateOnly: Bool) throws(KafkaError) -> [TopicResult] {
        rd_kafka_AdminOptions_set_operation_timeout(options, timeoutMilliseconds, nil, 0)
        rd_kafka_AdminOptions_set_validate_only(options, validateOnly ? 1 : 0, nil, 0)
        var specifications: [OpaquePointer?] = []
        defer { for one in specifications { rd_kafka_NewTopic_destroy(one) } }
        for topic in topics { specifications.append(try specification(topic)) }
        handle.callWithoutWaiting { rd_kafka_CreateTopics($0, &specifications, specifications.count, options, queue) }
        let event = try answer()
        var count = 0
        return topicResults(rd_kafka_CreateTopics_result_topics(event, &count), count)
    }

    func delete(_ names: [String]) throws(KafkaError) -> [TopicResult] {
        rd_kafka_AdminOptions_set_operation_timeout(options, timeoutMilliseconds, nil, 0)
        var topics = names.map { rd_kafka_DeleteTopic_new($0) }
        defer { for topic in topics { rd_kafka_DeleteTopic_destroy(topic) } }
        handle.callWithoutWaiting { rd_kafka_DeleteTopics($0, &topics, topics.count, options, queue) }
        let event = try answer()
        var count = 0
        return topicResults(rd_kafka_DeleteTopics_result_topics(event, &count), count)
    }

    func settings(of names: [String], brokers: Bool) throws(KafkaError) -> [ResourceSettings] {
        let type = brokers ? RD_KAFKA_RESOURCE_BROKER : RD_KAFKA_RESOURCE_TOPIC
        var resources = names.map { rd_kafka_ConfigResource_new(type, $0) }
        defer { for resource in resources { rd_kafka_ConfigResource_destroy(resource) } }
        handle.callWithoutWaiting { rd_kafka_DescribeConfigs($0, &resources, resources.count, options, queue) }
        let event = try answer()
        var count = 0
        let results = rd_kafka_DescribeConfigs_result_resources(event, &count)
        return UnsafeBufferPointer(start: results, count: count).compactMap { $0 }.map(settings)
    }

    /// Waits for the result event, which is valid as long as this object.
    func answer() throws(KafkaError) -> OpaquePointer {
        // This wait is a little longer than the timeout of the request, because the error of the request has more
        // detail.
        guard let event = handle.poll(queue, timeoutMilliseconds + 1000) else {
            throw KafkaError(code: .timedOut)
        }
        self.event = event
        if let error = KafkaError(rd_kafka_event_error(event), text: rd_kafka_event_error_string(event)) {
            throw error
        }
        return event
    }

    private func specification(_ topic: TopicSpecification) throws(KafkaError) -> OpaquePointer {
        var message = [CChar](repeating: 0, count: 512)
        guard
            let native = rd_kafka_NewTopic_new(
                topic.name, topic.partitions, topic.replication, &message, message.count)
        else { throw KafkaError(code: .invalidArgument, text: text(of: message)) }
        for (name, value) in topic.settings.sorted(by: { $0.key < $1.key }) {
            rd_kafka_NewTopic_set_config(native, name, value)
        }
        return native
    }

    private func topicResults(
        _ results: UnsafeMutablePointer<OpaquePointer?>?, _ count: Int
    ) -> [TopicResult] {
        UnsafeBufferPointer(start: results, count: count).compactMap { $0 }.map { result in
            TopicResult(
                name: String(cString: rd_kafka_topic_result_name(result)),
                error: KafkaError(
                    rd_kafka_topic_result_error(result), text: rd_kafka_topic_result_error_string(result)))
        }
    }

    private func settings(_ resource: OpaquePointer) -> ResourceSettings {
        var count = 0
        let entries = rd_kafka_ConfigResource_configs(resource, &count)
        var values: [String: String] = [:]
        for entry in UnsafeBufferPointer(start: entries, count: count) {
            guard let entry, let value = rd_kafka_ConfigEntry_value(entry) else { continue }
            values[String(cString: rd_kafka_ConfigEntry_name(entry))] = String(cString: value)
        }
        return ResourceSettings(
            name: String(cString: rd_kafka_ConfigResource_name(resource)), values: values,
            error: KafkaError(
                rd_kafka_ConfigResource_error(resource), text: rd_kafka_ConfigResource_error_string(resource)))
    }
}
