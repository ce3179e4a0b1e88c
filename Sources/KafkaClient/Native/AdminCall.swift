internal import ByteStorage
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
        case describeTopics

        fileprivate var native: rd_kafka_admin_op_t {
            switch self {
            case .createTopics: RD_KAFKA_ADMIN_OP_CREATETOPICS
            case .deleteTopics: RD_KAFKA_ADMIN_OP_DELETETOPICS
            case .describeSettings: RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS
            case .describeGroups: RD_KAFKA_ADMIN_OP_DESCRIBECONSUMERGROUPS
            case .describeAccessRules: RD_KAFKA_ADMIN_OP_DESCRIBEACLS
            // Older headers have no name for it. Options of this kind are valid for every call.
            case .describeTopics: RD_KAFKA_ADMIN_OP_ANY
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
        // librdkafka cannot read the answer to a request that names a resource twice.
        var resources = names.unique.map { rd_kafka_ConfigResource_new(type, $0) }
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

    /// Returns the error with which the coordinator of a group refuses to describe it, or nil.
    func groupError(_ name: String) throws(KafkaError) -> KafkaError? {
        // librdkafka copies the name.
        name.withCString { name in
            var names: [UnsafePointer<CChar>?] = [name]
            handle.callWithoutWaiting { rd_kafka_DescribeConsumerGroups($0, &names, names.count, options, queue) }
        }
        let event = try answer()
        var count = 0
        let results = rd_kafka_DescribeConsumerGroups_result_groups(event, &count)
        guard count > 0, let group = results?.pointee, let error = rd_kafka_ConsumerGroupDescription_error(group) else {
            return nil
        }
        return KafkaError(rd_kafka_error_code(error), text: rd_kafka_error_string(error))
    }

    /// Fetches all access rules.
    func accessRules() throws(KafkaError) -> [AccessBinding] {
        let filter = rd_kafka_AclBindingFilter_new(
            RD_KAFKA_RESOURCE_ANY, nil, RD_KAFKA_RESOURCE_PATTERN_ANY, nil, nil, RD_KAFKA_ACL_OPERATION_ANY,
            RD_KAFKA_ACL_PERMISSION_TYPE_ANY, nil, 0)
        guard let filter else { throw KafkaError(code: .invalidArgument) }
        defer { rd_kafka_AclBinding_destroy(filter) }
        handle.callWithoutWaiting { rd_kafka_DescribeAcls($0, filter, options, queue) }
        let event = try answer()
        var count = 0
        let results = rd_kafka_DescribeAcls_result_acls(event, &count)
        return UnsafeBufferPointer(start: results, count: count).compactMap { $0 }.compactMap(binding)
    }

    private func binding(_ native: OpaquePointer) -> AccessBinding? {
        guard let name = rd_kafka_AclBinding_name(native), let principal = rd_kafka_AclBinding_principal(native),
            let host = rd_kafka_AclBinding_host(native)
        else { return nil }
        let resource: AccessBinding.Resource =
            switch rd_kafka_AclBinding_restype(native).rawValue {
            case RD_KAFKA_RESOURCE_TOPIC.rawValue: .topic
            case RD_KAFKA_RESOURCE_GROUP.rawValue: .group
            case RD_KAFKA_RESOURCE_BROKER.rawValue: .cluster
            // Older libraries do not know the type of transactional ids, which is 5.
            default: .transactionalID
            }
        let operation: AccessBinding.Operation =
            switch rd_kafka_AclBinding_operation(native) {
            case RD_KAFKA_ACL_OPERATION_ALL: .all
            case RD_KAFKA_ACL_OPERATION_READ: .read
            case RD_KAFKA_ACL_OPERATION_WRITE: .write
            default: .other
            }
        return AccessBinding(
            resource: resource, name: String(cString: name),
            isPrefixed: rd_kafka_AclBinding_resource_pattern_type(native) == RD_KAFKA_RESOURCE_PATTERN_PREFIXED,
            principal: String(cString: principal), host: String(cString: host), operation: operation,
            isDenial: rd_kafka_AclBinding_permission_type(native) == RD_KAFKA_ACL_PERMISSION_TYPE_DENY)
    }

    /// The id of a topic whose brokers know no ids.
    private static let zeroID = String(repeating: "A", count: 22)

    /// Fetches the ids of topics by their names.
    ///
    /// A topic that could not be described is absent.
    func topicIDs(of names: [String]) throws(KafkaError) -> [String: String] {
        let copies = names.map { name in name.utf8CString.withUnsafeBufferPointer { Self.copy($0) } }
        defer { for copy in copies { copy.deallocate() } }
        var pointers: [UnsafePointer<CChar>?] = copies.map { UnsafePointer($0) }
        // librdkafka copies the names.
        let isSupported = handle.callWithoutWaiting {
            linkd_kafka_describe_topics($0, &pointers, pointers.count, options, queue)
        }
        guard isSupported != 0 else { throw KafkaError(code: .unsupportedFeature) }
        let event = try answer()
        var count = 0
        let topics = linkd_kafka_described_topics(event, &count)
        var ids: [String: String] = [:]
        for topic in UnsafeBufferPointer(start: topics, count: count) {
            guard let topic, let name = linkd_kafka_described_name(topic), let id = linkd_kafka_described_id(topic)
            else { continue }
            let text = String(cString: id)
            if text != Self.zeroID { ids[String(cString: name)] = text }
        }
        return ids
    }

    private static func copy(_ text: UnsafeBufferPointer<CChar>) -> UnsafeMutablePointer<CChar> {
        let copy = UnsafeMutablePointer<CChar>.allocate(capacity: text.count)
        for index in text.indices { (copy + index).initialize(to: text[index]) }
        return copy
    }
}

extension ClusterMetadata {
    /// Fetches metadata from a broker.
    ///
    /// `topic` is a topic handle, or nil for all topics of the cluster.
    init(from handle: ClientHandle, topic: OpaquePointer?, timeoutMilliseconds: Int32) throws(KafkaError) {
        var native: UnsafePointer<rd_kafka_metadata>?
        let code = handle.call(.metadata) { client in
            rd_kafka_metadata(client, topic == nil ? 1 : 0, topic, &native, timeoutMilliseconds)
        }
        try KafkaError.check(code)
        guard let native else { throw KafkaError(code: .unknown) }
        defer { rd_kafka_metadata_destroy(native) }
        self.init(native.pointee)
    }

    private init(_ native: rd_kafka_metadata) {
        let brokers = UnsafeBufferPointer(start: native.brokers, count: Int(native.broker_cnt)).map {
            BrokerDescription(id: $0.id, host: String(cString: $0.host), port: $0.port)
        }
        let topics = UnsafeBufferPointer(start: native.topics, count: Int(native.topic_cnt)).map(TopicDescription.init)
        self.init(brokers: brokers, topics: topics)
    }
}

extension TopicDescription {
    fileprivate init(_ native: rd_kafka_metadata_topic) {
        let partitions = UnsafeBufferPointer(start: native.partitions, count: Int(native.partition_cnt)).map {
            PartitionDescription($0)
        }
        self.init(
            name: String(cString: native.topic), partitions: partitions.sorted { $0.id < $1.id },
            error: KafkaError(native.err))
    }
}

extension PartitionDescription {
    fileprivate init(_ native: rd_kafka_metadata_partition) {
        self.init(
            id: native.id, leader: native.leader,
            replicas: Array(UnsafeBufferPointer(start: native.replicas, count: Int(native.replica_cnt))),
            inSyncReplicas: Array(UnsafeBufferPointer(start: native.isrs, count: Int(native.isr_cnt))),
            error: KafkaError(native.err))
    }
}
