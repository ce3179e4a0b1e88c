internal import KafkaClient

// The calls that position partitions and answer rebalances.
extension Lane where Processing: ~Copyable {
    func performPositioning(_ action: LaneAction) {
        guard let consumer else { return }
        switch action {
        case .fetchCommitted(let partitions): fetchCommitted(consumer, partitions)
        case .seek(let offsets): seek(consumer, offsets)
        case .reassign(let offsets, let all): reassign(consumer, offsets, all)
        case .findEnds(let partition): findEnds(consumer, partition)
        case .pause(let partitions):
            let failed = failures(of: partitions) { () throws(KafkaError) in try consumer.pause(partitions) }
            machine.pauseFinished(partitions, failed: failed, now: environment.now())
        case .resume(let partitions):
            let failed = failures(of: partitions) { () throws(KafkaError) in try consumer.resume(partitions) }
            machine.resumeFinished(partitions, failed: failed, now: environment.now())
        case .assign(let added, let all): assign(consumer, added, all)
        case .unassign(let partitions): unassign(consumer, partitions)
        default: break
        }
    }

    private func fetchCommitted(_ consumer: Environment.Consumer, _ partitions: [TopicPartition]) {
        var results: [PartitionResult] = []
        let took = attempt(.fetchCommitted) { () throws(KafkaError) in
            results = try consumer.committed(partitions, timeoutMilliseconds: 5_000)
        }
        if took != nil { machine.committedOffsetsFetched(results, now: environment.now()) }
    }

    private func findEnds(_ consumer: Environment.Consumer, _ partition: TopicPartition) {
        var ends: Watermarks?
        let took = attempt(.findEnds) { () throws(KafkaError) in
            ends = try consumer.watermarks(of: partition, timeoutMilliseconds: 1_000)
        }
        if took != nil, let ends { machine.endsFound(partition, ends) }
    }

    private func seek(_ consumer: Environment.Consumer, _ offsets: [PartitionOffset]) {
        let failed = failures(of: offsets.map(\.partition)) { () throws(KafkaError) in try consumer.seek(offsets) }
        machine.seekFinished(offsets, failed: failed)
    }

    /// Runs a call for some partitions and returns the results of those for which it failed.
    private func failures(
        of partitions: [TopicPartition], _ body: () throws(KafkaError) -> [PartitionResult]
    ) -> [PartitionResult] {
        do {
            return try body().filter { $0.error != nil }
        } catch {
            return partitions.map { PartitionResult(partition: $0, offset: nil, error: error) }
        }
    }

    private func reassign(
        _ consumer: Environment.Consumer, _ offsets: [PartitionOffset], _ all: [PartitionOffset]
    ) {
        let took = attempt(.reassign) { () throws(KafkaError) in try consumer.reassign(offsets, all: all) }
        if took != nil { machine.reassigned(offsets) }
    }

    private func assign(_ consumer: Environment.Consumer, _ added: [PartitionOffset], _ all: [PartitionOffset]) {
        _ = attempt(.assign) { () throws(KafkaError) in try consumer.assign(added, all: all) }
        machine.assigned(now: environment.now())
        if added.contains(where: { opened[topics.deadLetterTopic(of: $0.partition.topic)] == nil }) {
            machine.topicsNeeded()
        } else {
            useDeadLetterTopics()
        }
    }

    private func unassign(_ consumer: Environment.Consumer, _ partitions: [TopicPartition]) {
        _ = attempt(.unassign) { () throws(KafkaError) in try consumer.unassign(partitions) }
        machine.unassigned()
    }
}
