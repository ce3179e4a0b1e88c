internal import CRdKafka

/// The context that passes a rebalance from librdkafka's callback to the consumer's handler, on the polling thread.
final class RebalanceContext {
    /// The consumer's instance, which is set after its creation.
    var handle: ClientHandle?
    /// The handler of rebalances, which is set after the consumer's creation.
    var handler: ((RebalanceEvent) -> Void)?
    /// The number of callbacks that ran.
    private(set) var count = 0
    /// A Boolean value that indicates whether the handler has called assign, unassign, or one of their incremental
    /// forms.
    var isAnswered = false

    /// The C callback.
    ///
    /// Its opaque pointer is an unretained context, which the consumer keeps alive.
    static let callback:
        @convention(c) (
            OpaquePointer?, rd_kafka_resp_err_t, UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?,
            UnsafeMutableRawPointer?
        ) -> Void = { _, code, list, opaque in
            guard let opaque else { return }
            let context = Unmanaged<RebalanceContext>.fromOpaque(opaque).takeUnretainedValue()
            guard let handle = context.handle else { return }
            handle.watch.during(.rebalanceCallback) { context.rebalance(handle, code: code, list: list) }
        }

    private func rebalance(
        _ client: ClientHandle, code: rd_kafka_resp_err_t,
        list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?
    ) {
        count += 1
        isAnswered = false
        let partitions = list.map { PartitionList.partitions(of: $0) } ?? []
        handler?(event(client, code: code, partitions: partitions))
        if !isAnswered { answer(client, code: code, list: list) }
    }

    private func event(
        _ client: ClientHandle, code: rd_kafka_resp_err_t, partitions: [TopicPartition]
    ) -> RebalanceEvent {
        switch code {
        case RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS: .assign(partitions)
        case RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS:
            client.callWithoutWaiting { rd_kafka_assignment_lost($0) } != 0 ? .lost(partitions) : .revoke(partitions)
        default: .failed(KafkaError(code: KafkaErrorCode(code)))
        }
    }

    /// Answers a rebalance as librdkafka does without a callback, because the group waits for an answer to every
    /// rebalance.
    private func answer(
        _ client: ClientHandle, code: rd_kafka_resp_err_t,
        list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?
    ) {
        let isCooperative = RebalanceProtocol(of: client) == .cooperative
        switch code {
        case RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS where isCooperative:
            _ = KafkaError.adopting(client.call(.incrementalAssign) { rd_kafka_incremental_assign($0, list) })
        case RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS: _ = client.call(.assign) { rd_kafka_assign($0, list) }
        case RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS where isCooperative:
            _ = KafkaError.adopting(client.call(.incrementalUnassign) { rd_kafka_incremental_unassign($0, list) })
        default: _ = client.call(.assign) { rd_kafka_assign($0, nil) }
        }
    }
}

extension RebalanceProtocol {
    /// Creates the protocol of a consumer's group.
    init(of client: ClientHandle) {
        switch client.call(.rebalanceProtocol, { rd_kafka_rebalance_protocol($0) }).map({ String(cString: $0) }) {
        case "COOPERATIVE": self = .cooperative
        case "EAGER": self = .eager
        default: self = .none
        }
    }
}
