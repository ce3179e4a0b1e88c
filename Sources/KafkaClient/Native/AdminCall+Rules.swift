internal import CRdKafka

extension AdminCall {
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
}
