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
