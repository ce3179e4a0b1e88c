internal import KafkaClient

// Rebalances, and the way back to committed offsets.
extension Lane where Processing: ~Copyable {
    /// Answers a rebalance, inside the poll or close that brought it.
    func rebalance(_ event: RebalanceEvent) {
        heartbeat.enter(.rebalance, now: environment.now())
        defer { heartbeat.leave() }
        switch event {
        case .assign(let partitions): assign(partitions)
        case .revoke(let partitions): revoke(partitions)
        case .lost(let partitions): give(partitions, isLost: true)
        case .failed(let error):
            machine.failed(
                .consume, KafkaError(code: error.code, text: error.text, isRetriable: true),
                now: environment.now())
        }
    }

    private func assign(_ partitions: [TopicPartition]) {
        var starts: [(partition: TopicPartition, topic: Int32, start: StartPosition, origin: StartPosition?)] = []
        for result in committedOffsets(of: partitions) {
            guard let consumer, let found = start(result, consumer) else { continue }
            starts.append(
                (result.partition, consumer.topicIndex(of: result.partition.topic), found.start, found.origin))
        }
        machine.assigned(starts, now: environment.now())
        if starts.contains(where: { opened[topics.deadLetterTopic(of: $0.partition.topic)] == nil }) {
            machine.topicsNeeded()
        } else {
            useDeadLetterTopics()
        }
        let added = starts.map { PartitionOffset($0.partition, offset: $0.start.seek) }
        _ = attempt(.consume) { () throws(KafkaError) in try consumer?.take(added, all: added) }
    }

    /// Asks until it is answered: only the answer tells "nothing committed" from "out of range".
    ///
    /// Nothing is owned when
    /// the lane must end meanwhile.
    private func committedOffsets(of partitions: [TopicPartition]) -> [PartitionResult] {
        guard let consumer, !partitions.isEmpty else { return [] }
        while !shared.isDraining && machine.fate == nil {
            heartbeat.enter(.committed, now: environment.now())
            do throws(KafkaError) {
                let results = try consumer.committed(partitions, timeoutMilliseconds: 10_000)
                if let failed = results.compactMap(\.error).first { throw failed }
                return results
            } catch {
                deniedInCallback(error)
                environment.sleep(milliseconds: 100)
            }
        }
        return []
    }

    /// Only what no waiting can cure ends the lane from inside a callback.
    private func deniedInCallback(_ error: KafkaError) {
        switch KafkaErrorClass(error) {
        case .authorization, .fencedInstance: machine.failed(.fetchCommitted, error, now: environment.now())
        default: break
        }
    }

    private func start(
        _ result: PartitionResult, _ consumer: Environment.Consumer
    ) -> (start: StartPosition, origin: StartPosition?)? {
        if let offset = result.offset { return (StartPosition(at: NextOffset(told: offset)), nil) }
        if machine.policy.from == .fail {
            machine.end(
                WorkerExit(
                    .configuration, "nothing is committed for \(result.partition) and from is fail",
                    advice: "start once with --from earliest or --from latest"), now: environment.now())
            return nil
        }
        if let origin = machine.origin(nil) { return (origin, origin) }
        while !shared.isDraining {
            do {
                let ends = try consumer.watermarks(of: result.partition, timeoutMilliseconds: 5_000)
                return machine.origin(ends).map { ($0, $0) }
            } catch {
                environment.sleep(milliseconds: 100)
            }
        }
        return nil
    }

    /// Commits what is pending while the partitions are still ours, then gives them up.
    private func revoke(_ partitions: [TopicPartition]) {
        machine.revoking(now: environment.now())
        while let action = machine.nextInRevocation(now: environment.now()) {
            perform(action, now: environment.now())
        }
        give(partitions, isLost: false)
    }

    private func give(_ partitions: [TopicPartition], isLost: Bool) {
        machine.revoked(partitions, isLost: isLost, now: environment.now())
        _ = attempt(.consume) { () throws(KafkaError) in try consumer?.give(partitions) }
    }

    func performRewind(_ action: LaneAction) {
        guard let consumer else { return }
        switch action {
        case .fetchCommitted(let partitions): fetchCommitted(consumer, partitions)
        case .seek(let offsets): seek(consumer, offsets)
        case .reassign(let offsets):
            let all = machine.partitions.slots.map { PartitionOffset($0.partition, offset: $0.next.value) }
            let isDone = attempt(.fetchCommitted) { () throws(KafkaError) in
                try consumer.reassign(offsets, all: all)
            }
            if isDone { machine.reassigned(now: environment.now()) }
        case .findEnds(let partition): findEnds(consumer, partition)
        default: break
        }
    }

    private func fetchCommitted(_ consumer: Environment.Consumer, _ partitions: [TopicPartition]) {
        var results: [PartitionResult] = []
        let took = watched(.committed, .fetchCommitted) { () throws(KafkaError) in
            results = try consumer.committed(partitions, timeoutMilliseconds: 10_000)
        }
        if took != nil { machine.located(results, now: environment.now()) }
    }

    private func seek(_ consumer: Environment.Consumer, _ offsets: [PartitionOffset]) {
        do {
            let failed = try consumer.seek(offsets).filter { $0.error != nil }.map(\.partition)
            machine.sought(failed: failed, now: environment.now())
        } catch {
            machine.sought(failed: offsets.map(\.partition), now: environment.now())
        }
    }

    private func findEnds(_ consumer: Environment.Consumer, _ partition: TopicPartition) {
        var ends: Watermarks?
        let isFound = attempt(.fetchCommitted) { () throws(KafkaError) in
            ends = try consumer.watermarks(of: partition, timeoutMilliseconds: 5_000)
        }
        if isFound, let ends { machine.endsFound(partition, ends, now: environment.now()) }
    }
}
