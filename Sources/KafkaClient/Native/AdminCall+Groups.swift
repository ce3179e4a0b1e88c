internal import CRdKafka

extension AdminCall {
    /// Describes a consumer group, which does not join it.
    func group(_ name: String) throws(KafkaError) -> GroupDescription {
        // librdkafka copies the name.
        name.withCString { name in
            var names: [UnsafePointer<CChar>?] = [name]
            handle.callWithoutWaiting { rd_kafka_DescribeConsumerGroups($0, &names, names.count, options, queue) }
        }
        let event = try answer()
        var count = 0
        let results = rd_kafka_DescribeConsumerGroups_result_groups(event, &count)
        guard count > 0, let group = results?.pointee else { throw KafkaError(code: .unknown) }
        if let native = rd_kafka_ConsumerGroupDescription_error(group),
            let error = KafkaError(rd_kafka_error_code(native), text: rd_kafka_error_string(native))
        {
            throw error
        }
        let state = rd_kafka_ConsumerGroupDescription_state(group)
        return GroupDescription(
            name: name, state: String(cString: rd_kafka_consumer_group_state_name(state)),
            members: rd_kafka_ConsumerGroupDescription_member_count(group))
    }
}
