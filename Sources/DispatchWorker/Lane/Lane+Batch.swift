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
            for event in events { machine.heard(event, now: after) }
        }
        // The producer's log must be read also when nothing is produced.
        hear(consumer.takeEvents(), .consumer)
        if let producer { hear(producer.takeEvents(), .producer) }
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
            for event in events { machine.heard(event, now: now) }
        }
        hear(consumer.takeEvents(), .consumer)
        if let producer { hear(producer.takeEvents(), .producer) }
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
