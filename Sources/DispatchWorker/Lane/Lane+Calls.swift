internal import KafkaClient

// Creation and destruction of clients, and opening of topics.
extension Lane where Processing: ~Copyable {
    func performLifecycle(_ action: LaneAction) {
        switch action {
        case .makeProducer: makeProducer()
        case .initTransactions(let milliseconds): initTransactions(milliseconds)
        case .openTopics: openTopics()
        case .dropProducer:
            producer?.close()
            producer = nil
            work.forgetOutputs()
            machine.producerDropped(now: environment.now())
        case .subscribe: subscribe()
        case .abandon: abandonConsumer()
        case .findHolders: findHolders()
        case .close: closeConsumer()
        default: break
        }
    }

    private func makeProducer() {
        let took = attempt(.makeProducer) { () throws(KafkaError) in producer = try environment.makeProducer() }
        if took == nil { return }
        opened.removeAll()
        machine.producerMade()
    }

    private func initTransactions(_ milliseconds: Int) {
        guard let producer else { return }
        let took = attempt(.initTransactions) { () throws(KafkaError) in
            try producer.initTransactions(timeoutMilliseconds: Int32(milliseconds))
        }
        handle(producer.takeEvents(), .producer)
        if took == nil { return }
        if producer.isFencingUnsupported && !environment.isMock {
            machine.end(Self.oldBroker)
        } else {
            machine.transactionsInitialized()
        }
    }

    /// Opens the output topic and the dead-letter topics of all known inputs.
    private func openTopics() {
        guard let producer else { return }
        var names = [topics.output]
        for input in topics.inputs + machine.partitions.names.map(\.topic) {
            let name = topics.deadLetterTopic(of: input)
            if !names.contains(name) { names.append(name) }
        }
        for name in names {
            do {
                let (handle, partitions) = try producer.open(name, timeoutMilliseconds: 5_000)
                opened[name] = OpenTopic(
                    handle: handle, partitions: max(1, partitions), messageLimit: environment.messageLimit(of: name))
            } catch {
                handle(producer.takeEvents(), .producer)
                openFailed(name, error)
                return
            }
        }
        if let output = opened[topics.output] { work.outputs.use(output) }
        useDeadLetterTopics()
        machine.topicsOpened(now: environment.now())
    }

    private func openFailed(_ name: String, _ error: KafkaError) {
        let isMissing = error.code == .unknownTopicOrPartition || error.code == .unknownTopic
        if isMissing && !machine.isReady {
            machine.end(.missingTopic(name))
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

    private func subscribe() {
        let took = attempt(.subscribe) { () throws(KafkaError) in
            if consumer == nil {
                consumer = try environment.makeConsumer { [unowned self] event in rebalance(event) }
            }
            try consumer?.subscribe()
        }
        if took != nil { machine.subscribed(now: environment.now()) }
    }

    /// Destroys a consumer whose instance name another member may have.
    private func abandonConsumer() {
        if let member = consumer?.memberID { machine.joined(as: member) }
        consumer?.abandon()
        consumer = nil
        // The offsets and topics belong to the old membership.
        group = nil
        work.deadLetterTopics.removeAll()
        releaseReservation()
        machine.abandoned(now: environment.now())
    }

    private func findHolders() {
        var holders: InstanceHolders?
        let took = attempt(.findHolders) { () throws(KafkaError) in
            holders = try environment.instanceHolders(timeoutMilliseconds: 2_000)
        }
        if took != nil, let holders { machine.holdersFound(holders, now: environment.now()) }
    }

    private func closeConsumer() {
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
    func performPositioning(_ action: LaneAction) {
        guard let consumer else { return }
        switch action {
        case .fetchCommitted(let partitions): fetchCommitted(consumer, partitions)
        case .seek(let offsets): seek(consumer, offsets)
        case .reassign(let offsets, let all): reassign(consumer, offsets, all)
        case .findEnds(let partition): findEnds(consumer, partition)
        case .identify(let topics): identify(consumer, topics)
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

    private func identify(_ consumer: Environment.Consumer, _ topics: [String]) {
        // An id is never necessary, so an error does not concern the lane.
        let ids = try? consumer.topicIDs(of: topics, timeoutMilliseconds: 1_000)
        machine.identified(topics, ids ?? [:], now: environment.now())
    }

    private func seek(_ consumer: Environment.Consumer, _ offsets: [PartitionOffset]) {
        let failed = failures(of: offsets.map(\.partition)) { () throws(KafkaError) in try consumer.seek(offsets) }
        machine.seekFinished(offsets, failed: failed)
    }

    /// Runs a call for some partitions, and returns the results of the partitions for which it failed.
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

// The producer's calls from begin to commit or abort.
extension Lane where Processing: ~Copyable {
    func performTransaction(_ action: LaneAction) {
        guard let producer else { return }
        switch action {
        case .begin: begin(producer)
        case .produce: produce(producer)
        case .drainQueue(let milliseconds):
            producer.poll(timeoutMilliseconds: Int32(milliseconds))
            machine.queueFull(false)
        case .sendOffsets(let offsets, let isRepeat, let milliseconds):
            sendOffsets(producer, offsets, isRepeat, milliseconds)
        case .commit(let milliseconds): commit(producer, milliseconds)
        case .flush(let milliseconds): flush(producer, milliseconds)
        case .commitOffsets(let offsets, let milliseconds): commitOffsets(producer, offsets, milliseconds)
        case .abort: abort(producer)
        default: break
        }
    }

    private func begin(_ producer: Environment.Producer) {
        producer.forgetErrors()
        let drops = producer.coordinatorDrops
        guard attempt(.begin, { () throws(KafkaError) in try producer.begin() }) != nil else { return }
        machine.begun(coordinatorDrops: drops, now: environment.now())
    }

    private func produce(_ producer: Environment.Producer) {
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
        } else {
            machine.failed(.produce, producer.fatalError ?? marked(error), now: environment.now())
        }
    }

    /// Returns the error marked as abortable.
    ///
    /// An error of the client itself has no flags. It invalidates the transaction, but not the producer.
    private func marked(_ error: KafkaError) -> KafkaError {
        KafkaError(code: error.code, text: error.text, isAbortable: true)
    }

    private func sendOffsets(
        _ producer: Environment.Producer, _ offsets: [PartitionOffset], _ isRepeat: Bool, _ milliseconds: Int
    ) {
        if !isRepeat || group == nil { group = consumer?.group() }
        guard let group else {
            let error = KafkaError(code: .unknownMember, isAbortable: true)
            machine.failed(.sendOffsets, error, now: environment.now())
            return
        }
        let took = attempt(.sendOffsets) { () throws(KafkaError) in
            try producer.sendOffsets(offsets, group, timeoutMilliseconds: Int32(milliseconds))
        }
        if let took { machine.offsetsSent(milliseconds: took, now: environment.now()) }
    }

    private func commit(_ producer: Environment.Producer, _ milliseconds: Int) {
        let took = attempt(.commit) { () throws(KafkaError) in
            try producer.commit(timeoutMilliseconds: Int32(milliseconds))
        }
        if let took { committed(producer, milliseconds: took) }
    }

    private func committed(_ producer: Environment.Producer, milliseconds: Int) {
        let now = environment.now()
        lastCommit = (now, milliseconds)
        if let content = machine.transaction.content?.content {
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

    private func flush(_ producer: Environment.Producer, _ milliseconds: Int) {
        var left = 0
        let took = attempt(.flush) { () throws(KafkaError) in
            left = try producer.flush(timeoutMilliseconds: Int32(milliseconds))
        }
        if took == nil { return }
        machine.flushed(undelivered: left, failure: producer.deliveryError, now: environment.now())
    }

    private func commitOffsets(_ producer: Environment.Producer, _ offsets: [PartitionOffset], _ milliseconds: Int) {
        let took = attempt(.commitOffsets) { () throws(KafkaError) in
            try consumer?.commit(offsets, timeoutMilliseconds: Int32(milliseconds))
        }
        if let took { committed(producer, milliseconds: took) }
    }

    private func abort(_ producer: Environment.Producer) {
        guard attempt(.abort, { () throws(KafkaError) in try producer.abort() }) != nil else { return }
        let refusal = producer.refusal?.code
        producer.forgetErrors()
        work.forgetOutputs()
        machine.aborted(refusal: refusal, coordinatorDrops: producer.coordinatorDrops, now: environment.now())
    }
}
