internal import KafkaClient

// Polls and the batch that they bring.
extension Lane where Processing: ~Copyable {
    func poll(_ milliseconds: Int, _ maximum: Int, now: UInt64) {
        guard let consumer else { return }
        let outcome = consumer.poll(max: maximum, timeoutMilliseconds: Int32(milliseconds))
        let after = environment.now()
        let isVoid = outcome.rebalanced
        let events = consumer.events
        if isVoid {
            consumer.releaseBatch()
        } else if outcome.records > 0 {
            reserved = shared.stop.reserve(outcome.records)
            batchStart = 0
            shared.meter.received(now: after)
        }
        machine.polled(outcome, isDropped: false, now: after)
        if !isVoid {
            for event in events { hear(event, consumer, now: after) }
        }
        hearFatal(consumer)
        // The producer's log must be read also when nothing is produced.
        hear(consumer.takeEvents(), .consumer)
        if let producer { hear(producer.takeEvents(), .producer) }
    }

    /// Passes on an event; "fatal" alone does not tell what happened.
    private func hear(_ event: ConsumerEvent, _ consumer: Environment.Consumer, now: UInt64) {
        var event = event
        if event.kind == .fatal { event.error = consumer.fatalError ?? event.error }
        machine.heard(event, now: now)
    }

    /// Polls for the group's sake.
    func serve() {
        guard let consumer else { return }
        let outcome = consumer.poll(max: 1, timeoutMilliseconds: 0)
        let now = environment.now()
        let events = consumer.events
        consumer.releaseBatch()
        machine.polled(outcome, isDropped: true, now: now)
        if !outcome.rebalanced {
            for event in events { hear(event, consumer, now: now) }
        }
        hearFatal(consumer)
        hear(consumer.takeEvents(), .consumer)
        if let producer { hear(producer.takeEvents(), .producer) }
    }

    /// A fatal error does not always come as an event: without this look the lane would poll a dead consumer for ever.
    private func hearFatal(_ consumer: Environment.Consumer) {
        if machine.fate == nil, let error = consumer.fatalError {
            machine.failed(.consume, error, now: environment.now())
        }
    }

    func process(_ records: Int) {
        guard let consumer else { return }
        if reserved == 0 {
            // `stop.after` is reached: what is left of the batch is not ours to handle.
            machine.batchCut(now: environment.now())
            return
        }
        let result = work.run(
            consumer, from: batchStart, most: min(records, reserved), partitions: &machine.partitions,
            refused: machine.isolation.refused, failures: machine.isolation.failures,
            wallMilliseconds: environment.wallMilliseconds())
        batchStart += result.taken
        reserved -= result.records
        machine.processed(result, now: environment.now())
        if batchStart >= consumer.records.count { returnReservation() }
    }

    /// Gives back the leave for records that did not come or were not new.
    func returnReservation() {
        shared.stop.giveBack(reserved)
        reserved = 0
    }
}
