internal import KafkaClient

// Polling and processing of batches.
extension Lane where Processing: ~Copyable {
    func poll(_ milliseconds: Int, _ maximum: Int) {
        guard let consumer else { return }
        let outcome = consumer.poll(max: maximum, timeoutMilliseconds: Int32(milliseconds))
        let now = environment.now()
        let events = consumer.events
        if outcome.rebalanced {
            consumer.releaseBatch()
        } else if outcome.records > 0 {
            reserved = shared.stop.reserve(upTo: outcome.records)
            batchStart = 0
            if machine.policy.logsTraces { work.received = environment.wallMilliseconds() }
            shared.meter.received(now: now)
        }
        refreshTables()
        machine.polled(outcome, isKeepAlive: false, now: now)
        if !outcome.rebalanced {
            // After a full batch there are more records to fetch.
            if outcome.records < maximum { updateEnds(consumer) }
            for event in events { handle(event, consumer, now: now) }
        }
        handleClientEvents(consumer)
    }

    /// Takes the newest tables between two batches, also while no records arrive.
    private func refreshTables() {
        let number = work.processing.refresh()
        if number == tables { return }
        tables = number
        hasNews = true
    }

    /// Updates the end offsets of the partitions from the last fetches, without a request to a broker.
    private func updateEnds(_ consumer: Environment.Consumer) {
        for index in machine.partitions.slots.indices {
            guard let ends = consumer.cachedWatermarks(of: machine.partitions.slots[index].partition) else { continue }
            machine.partitions.setEnd(at: index, ends.high)
        }
    }

    /// Passes an event to the machine.
    ///
    /// A fatal event is passed with the consumer's fatal error, which names the cause.
    private func handle(_ event: ConsumerEvent, _ consumer: Environment.Consumer, now: UInt64) {
        var event = event
        if event.kind == .fatal { event.error = consumer.fatalError ?? event.error }
        machine.handle(event, now: now)
    }

    /// Polls to keep the group membership alive and releases the records.
    func pollToKeepAlive() {
        guard let consumer else { return }
        let outcome = consumer.poll(max: 1, timeoutMilliseconds: 0)
        let now = environment.now()
        let events = consumer.events
        consumer.releaseBatch()
        machine.polled(outcome, isKeepAlive: true, now: now)
        if !outcome.rebalanced {
            for event in events { handle(event, consumer, now: now) }
        }
        handleClientEvents(consumer)
    }

    /// Handles the events of the consumer and the producer.
    ///
    /// The producer's log is drained even while nothing is produced.
    private func handleClientEvents(_ consumer: Environment.Consumer) {
        // A fatal error is not always reported as an event. Without this check, the lane would poll a failed consumer
        // forever.
        if machine.exit == nil, let error = consumer.fatalError {
            machine.failed(.consume, error, now: environment.now())
        }
        handle(consumer.takeEvents(), .consumer)
        if let producer { handle(producer.takeEvents(), .producer) }
    }

    func process(_ records: Int, _ until: UInt64) {
        guard let consumer else { return }
        if reserved == 0 {
            // `stop.after` is reached. The rest of the batch is not processed.
            machine.dropBatch()
            return
        }
        let began = environment.now()
        let result = work.run(
            consumer, from: batchStart, maxRecords: min(records, reserved), until: until, clock: environment,
            partitions: &machine.partitions, isolation: machine.isolation)
        batchStart += result.messages
        reserved -= result.records
        let now = environment.now()
        metrics.observe(.batchRecords, UInt64(result.records))
        metrics.observe(.resolveSeconds, now.saturatingSubtract(began))
        machine.processed(result, now: now)
        if batchStart >= consumer.records.count { releaseReservation() }
    }

    /// Releases the reserved quota of records that did not arrive or were duplicates.
    func releaseReservation() {
        shared.stop.release(reserved)
        reserved = 0
    }
}
