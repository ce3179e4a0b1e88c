internal import ByteStorage
internal import KafkaClient
internal import LinkDecider

// Creation and destruction of clients, and opening of topics.
extension Lane where Processing: ~Copyable {
    func makeProducer() {
        let made = attempt(.makeProducer) { () throws(KafkaError) in try environment.makeProducer() }
        guard let made else { return }
        producer = made.value
        opened.removeAll()
        machine.producerMade()
    }

    func dropProducer() {
        producer?.close()
        producer = nil
        work.forgetOutputs()
        machine.producerDropped(now: environment.now())
    }

    func initTransactions(_ milliseconds: Int) {
        guard let producer else { return }
        let done = attempt(.initTransactions) { () throws(KafkaError) in
            try producer.initTransactions(timeoutMilliseconds: Int32(milliseconds))
        }
        handle(producer.takeEvents(), .producer)
        if done == nil { return }
        if producer.isFencingUnsupported && !environment.isMock {
            machine.end(Self.oldBroker)
        } else {
            machine.transactionsInitialized()
        }
    }

    /// Opens the output topics and the dead-letter topics of all known inputs.
    ///
    /// An input that a regular expression finds may have no dead-letter topic that can be used. Only the partitions of
    /// that input wait for it.
    func openTopics() {
        guard let producer else { return }
        let inputs = topics.inputs + machine.partitions.names.map(\.topic)
        let names = (topics.outputs.names + inputs.map(topics.deadLetterTopic)).unique
        var missing: [String: KafkaErrorCode] = [:]
        for name in names {
            do {
                let (handle, partitions) = try producer.open(name, timeoutMilliseconds: 5_000)
                opened[name] = OpenTopic(
                    handle: handle, partitions: max(1, partitions), messageLimit: environment.messageLimit(of: name))
            } catch {
                handle(producer.takeEvents(), .producer)
                let isUnusable = error.code.isOfMissingTopic || error.code == .topicAuthorizationFailed
                if machine.isReady, isUnusable, !topics.known.contains(name) {
                    // Records that are in the transaction keep their topic until it ends.
                    if opened[name] != nil, machine.transaction != .none { continue }
                    missing[name] = error.code
                    continue
                }
                openFailed(name, error)
                return
            }
        }
        for name in missing.keys { opened[name] = nil }
        work.outputs.use(topics.outputs.names.compactMap { opened[$0] })
        useDeadLetterTopics()
        let waiting = machine.partitions.names.map(\.topic).filter { missing[topics.deadLetterTopic(of: $0)] != nil }
        let now = environment.now()
        machine.topicsOpened(except: Set(waiting), now: now)
        if missing != lacking.topics || now.saturatingSubtract(lacking.saidAt) > 300_000_000_000 {
            lacking = (missing, now)
            for name in missing.keys.sorted() { shared.log.log(Self.missingLine(name, missing[name], lane: number)) }
        }
    }

    private static func missingLine(_ name: String, _ code: KafkaErrorCode?, lane: Int) -> LogEntry {
        let advice =
            switch code {
            case .topicAuthorizationFailed: RightsText.advice
            case .invalidTopic: WorkerExit.topicNameAdvice
            default: "create it with `linkd topics create`; it is looked for every 10 s"
            }
        return LogEntry(
            .error, "topic.missing", lane: lane, "an input has no dead-letter topic, so its records wait",
            ["topic": .text(name), "advice": .text(advice)])
    }

    private func openFailed(_ name: String, _ error: KafkaError) {
        if error.code.isOfMissingTopic && !machine.isReady {
            machine.end(.missingTopic(name, error.code))
        } else {
            machine.failed(.openTopics, error, now: environment.now())
        }
    }

    private static var oldBroker: WorkerExit {
        WorkerExit(
            .configuration, "a broker is older than Kafka 2.5 and cannot fence an outdated group member",
            advice: "upgrade the brokers, or start with --guarantee at-least-once")
    }

    /// Stores the open dead-letter topics by the topic indices of records.
    func useDeadLetterTopics() {
        guard let consumer else { return }
        for name in Set(machine.partitions.names.map(\.topic)) {
            let index = Int(consumer.topicIndex(of: name))
            while work.deadLetterTopics.count <= index { work.deadLetterTopics.append(nil) }
            work.deadLetterTopics[index] = opened[topics.deadLetterTopic(of: name)]
        }
    }

    func subscribe() {
        let done = attempt(.subscribe) { () throws(KafkaError) in
            if consumer == nil {
                consumer = try environment.makeConsumer { [unowned self] event in rebalance(event) }
            }
            if let consumer { try environment.subscribe(consumer) }
        }
        if done != nil { machine.subscribed(now: environment.now()) }
    }

    /// Destroys a consumer whose instance name another member may have.
    func abandonConsumer() {
        if let consumer {
            noteMember(consumer)
            consumer.abandon()
        }
        consumer = nil
        // The offsets and topics belong to the old membership.
        group = nil
        work.deadLetterTopics.removeAll()
        releaseReservation()
        machine.abandoned(now: environment.now())
    }

    func findHolders() {
        let found = attempt(.findHolders) { () throws(KafkaError) in
            try environment.instanceHolders(timeoutMilliseconds: 2_000)
        }
        if let found { machine.holdersFound(found.value, now: environment.now()) }
    }

    func closeConsumer() {
        // The close may never end, and the report needs the last commit.
        publishLast(environment.now())
        if let consumer {
            do {
                try consumer.close()
            } catch {
                shared.log.log(
                    LogEntry(.warning, "librdkafka", lane: number, "closing the consumer failed: \(error.description)"))
            }
        }
        consumer = nil
        machine.closed()
    }
}

// The calls that position partitions and answer rebalances.
extension Lane where Processing: ~Copyable {
    func fetchCommitted(_ partitions: [TopicPartition]) {
        guard let consumer else { return }
        let results = attempt(.fetchCommitted) { () throws(KafkaError) in
            try consumer.committed(partitions, timeoutMilliseconds: 5_000)
        }
        if let results { machine.committedOffsetsFetched(results.value, now: environment.now()) }
    }

    func findEnds(_ partition: TopicPartition) {
        guard let consumer else { return }
        let ends = attempt(.findEnds) { () throws(KafkaError) in
            try consumer.watermarks(of: partition, timeoutMilliseconds: 1_000)
        }
        if let ends { machine.endsFound(partition, ends.value) }
    }

    func identify(_ topics: [String]) {
        // An id is never necessary, so that no error is one of the lane.
        guard let consumer else { return }
        let ids = try? consumer.topicIDs(of: topics, timeoutMilliseconds: 1_000)
        machine.identified(topics, ids ?? [:], now: environment.now())
    }

    func seek(_ offsets: [PartitionOffset]) {
        guard let consumer else { return }
        let failed = failures(of: offsets.map(\.partition)) { () throws(KafkaError) in try consumer.seek(offsets) }
        machine.seekFinished(offsets, failed: failed)
    }

    func pause(_ partitions: [TopicPartition]) {
        guard let consumer else { return }
        let failed = failures(of: partitions) { () throws(KafkaError) in try consumer.pause(partitions) }
        machine.pauseFinished(partitions, failed: failed, now: environment.now())
    }

    func resume(_ partitions: [TopicPartition]) {
        guard let consumer else { return }
        let failed = failures(of: partitions) { () throws(KafkaError) in try consumer.resume(partitions) }
        machine.resumeFinished(partitions, failed: failed, now: environment.now())
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

    func reassign(_ offsets: [PartitionOffset], _ all: [PartitionOffset]) {
        guard let consumer else { return }
        let done = attempt(.reassign) { () throws(KafkaError) in try consumer.reassign(offsets, all: all) }
        if done != nil { machine.reassigned(offsets) }
    }

    func assign(_ added: [PartitionOffset], _ all: [PartitionOffset]) {
        guard let consumer else { return }
        attempt(.assign) { () throws(KafkaError) in try consumer.assign(added, all: all) }
        machine.assigned(now: environment.now())
        if added.contains(where: { opened[topics.deadLetterTopic(of: $0.partition.topic)] == nil }) {
            machine.topicsNeeded()
        } else {
            useDeadLetterTopics()
        }
    }

    func unassign(_ partitions: [TopicPartition]) {
        guard let consumer else { return }
        attempt(.unassign) { () throws(KafkaError) in try consumer.unassign(partitions) }
        machine.unassigned()
    }
}

// The producer's calls from begin to commit or abort.
extension Lane where Processing: ~Copyable {
    func begin() {
        guard let producer else { return }
        producer.forgetErrors()
        let drops = producer.coordinatorDrops
        guard attempt(.begin, { () throws(KafkaError) in try producer.begin() }) != nil else { return }
        machine.begun(coordinatorDrops: drops, now: environment.now())
    }

    func produce() {
        guard let producer else { return }
        guard let error = work.outputs.offer(to: producer) else {
            work.outputsAccepted()
            if !work.tally.traces.isEmpty { work.tally.traces.produced(at: environment.wallMilliseconds()) }
            producer.poll(timeoutMilliseconds: 0)
            machine.produced()
            return
        }
        if error.code == .queueFull {
            metrics[.queueFull] &+= 1
            machine.queueFull(true)
            return
        }
        // An error of the client itself has no flags. It invalidates the transaction, but not the producer.
        let marked = KafkaError(code: error.code, text: error.text, isAbortable: true)
        machine.failed(.produce, producer.fatalError ?? marked, now: environment.now())
    }

    func sendOffsets(_ offsets: [PartitionOffset], _ isRepeat: Bool, _ milliseconds: Int?) {
        guard let producer else { return }
        if !isRepeat || group == nil { group = consumer?.groupMetadata() }
        guard let group else {
            let error = KafkaError(code: .unknownMember, isAbortable: true)
            machine.failed(.sendOffsets, error, now: environment.now())
            return
        }
        let sent = attempt(.sendOffsets) { () throws(KafkaError) in
            try producer.sendOffsets(offsets, group, timeoutMilliseconds: milliseconds.map { Int32($0) })
        }
        if let sent { machine.offsetsSent(milliseconds: sent.milliseconds, now: environment.now()) }
    }

    func commit(_ milliseconds: Int?) {
        guard let producer else { return }
        publishBeforeCommit()
        let done = attempt(.commit) { () throws(KafkaError) in
            try producer.commit(timeoutMilliseconds: milliseconds.map { Int32($0) })
        }
        if let done { committed(producer, milliseconds: done.milliseconds) }
    }

    private func committed(_ producer: Environment.Producer, milliseconds: Int) {
        let now = environment.now()
        lastCommit = LaneCommit(at: now, milliseconds: milliseconds)
        if let content = machine.transaction.open?.content {
            metrics.observe(.transactionRecords, UInt64(content.records))
            metrics.observe(.transactionSeconds, now.saturatingSubtract(content.beganAt))
        }
        let wall = environment.wallMilliseconds()
        report(work.tally.traces, committedAt: wall)
        metrics.add(&work.tally, wallMilliseconds: wall)
        canary = work.processing.ended(isCommitted: true)
        work.forgetOutputs()
        let records = machine.committed(coordinatorDrops: producer.coordinatorDrops, now: now)
        shared.meter.committed(now: now)
        if shared.stop.commit(records) { shared.drain() }
    }

    func flush(_ milliseconds: Int) {
        guard let producer else { return }
        let left = attempt(.flush) { () throws(KafkaError) in
            try producer.flush(timeoutMilliseconds: Int32(milliseconds))
        }
        guard let left else { return }
        machine.flushed(undelivered: left.value, failure: producer.deliveryError, now: environment.now())
    }

    func commitOffsets(_ offsets: [PartitionOffset], _ milliseconds: Int) {
        guard let producer else { return }
        publishBeforeCommit()
        let done = attempt(.commitOffsets) { () throws(KafkaError) in
            try consumer?.commit(offsets, timeoutMilliseconds: Int32(milliseconds))
        }
        if let done { committed(producer, milliseconds: done.milliseconds) }
    }

    func abort() {
        guard let producer, attempt(.abort, { () throws(KafkaError) in try producer.abort() }) != nil else { return }
        let refusal = producer.refusal?.code
        producer.forgetErrors()
        work.forgetOutputs()
        machine.aborted(refusal: refusal, coordinatorDrops: producer.coordinatorDrops, now: environment.now())
    }
}
