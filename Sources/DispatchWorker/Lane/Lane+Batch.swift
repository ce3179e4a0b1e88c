internal import KafkaClient

// Polls and the batch that they bring.
extension Lane where Processing: ~Copyable {
    func poll(_ milliseconds: Int, _ maximum: Int) {
        guard let consumer else { return }
        let outcome = consumer.poll(max: maximum, timeoutMilliseconds: Int32(milliseconds))
        let now = environment.now()
        let events = consumer.events
        if outcome.rebalanced {
            consumer.releaseBatch()
        } else if outcome.records > 0 {
            reserved = shared.stop.reserve(outcome.records)
            batchStart = 0
            shared.meter.received(now: now)
        }
        machine.polled(outcome, isServe: false, now: now)
        if !outcome.rebalanced {
            // A full batch says that there is more.
            if outcome.records < maximum { seeEnds(consumer) }
            for event in events { hear(event, consumer, now: now) }
        }
        hearClients(consumer)
    }

    /// Looks up where partitions end, as far as fetches have told: nobody is asked.
    private func seeEnds(_ consumer: Environment.Consumer) {
        for index in machine.partitions.slots.indices {
            guard let ends = consumer.cachedWatermarks(of: machine.partitions.slots[index].partition) else { continue }
            machine.partitions.sawEnd(at: index, ends.high)
        }
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
        machine.polled(outcome, isServe: true, now: now)
        if !outcome.rebalanced {
            for event in events { hear(event, consumer, now: now) }
        }
        hearClients(consumer)
    }

    /// Hears what both clients say; the producer's log must be read also when nothing is produced.
    private func hearClients(_ consumer: Environment.Consumer) {
        // A fatal error does not always come as an event: without this look the lane would poll a dead consumer for
        // ever.
        if machine.fate == nil, let error = consumer.fatalError {
            machine.failed(.consume, error, now: environment.now())
        }
        hear(consumer.takeEvents(), .consumer)
        if let producer { hear(producer.takeEvents(), .producer) }
    }

    func process(_ records: Int, _ until: UInt64) {
        guard let consumer else { return }
        if reserved == 0 {
            // `stop.after` is reached: what is left of the batch is not ours to handle.
            machine.dropBatch()
            return
        }
        let result = work.run(
            consumer, from: batchStart, most: min(records, reserved), until: until, clock: environment,
            partitions: &machine.partitions, isolation: machine.isolation)
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
