internal import KafkaClient

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
        case .storeOffsets(let offsets): storeOffsets(producer, offsets)
        case .abort: abort(producer)
        default: break
        }
    }

    private func begin(_ producer: Environment.Producer) {
        producer.forgetErrors()
        let drops = producer.coordinatorDrops
        guard attempt(.begin, { () throws(KafkaError) in try producer.begin() }) else { return }
        machine.begun(coordinatorDrops: drops, now: environment.now())
    }

    private func produce(_ producer: Environment.Producer) {
        guard let error = work.outputs.offer(to: producer) else {
            work.outputsTaken()
            producer.poll(timeoutMilliseconds: 0)
            machine.produced(now: environment.now())
            return
        }
        if error.code == .queueFull {
            machine.queueFull(true)
        } else {
            machine.failed(.produce, producer.fatalError ?? marked(error), now: environment.now())
        }
    }

    /// A refusal by the client itself has no flags; it spoils the transaction, not the producer.
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
        let took = watched(.sendOffsets, .sendOffsets) { () throws(KafkaError) in
            try producer.sendOffsets(offsets, group, timeoutMilliseconds: Int32(milliseconds))
        }
        if let took {
            callBegan = environment.now()
            machine.offsetsSent(milliseconds: took, now: callBegan)
        }
    }

    private func commit(_ producer: Environment.Producer, _ milliseconds: Int) {
        guard
            watched(
                .commit, .commit,
                { () throws(KafkaError) in try producer.commit(timeoutMilliseconds: Int32(milliseconds)) })
                != nil
        else { return }
        committed(coordinatorDrops: producer.coordinatorDrops)
    }

    /// Counts from the first try: a commit that had to be repeated was a slow one.
    private func committed(coordinatorDrops: Int) {
        let now = environment.now()
        let records = machine.content.records
        work.forgetOutputs()
        machine.committed(
            milliseconds: Int((now &- callBegan) / 1_000_000), coordinatorDrops: coordinatorDrops, now: now)
        shared.meter.committed(now: now)
        if shared.stop.commit(records) { shared.drain() }
    }

    private func flush(_ producer: Environment.Producer, _ milliseconds: Int) {
        var left = 0
        guard
            watched(
                .flush, .flush,
                { () throws(KafkaError) in left = try producer.flush(timeoutMilliseconds: Int32(milliseconds)) }) != nil
        else { return }
        callBegan = environment.now()
        machine.flushed(undelivered: left, failure: producer.deliveryError, now: callBegan)
    }

    private func storeOffsets(_ producer: Environment.Producer, _ offsets: [PartitionOffset]) {
        guard
            watched(.commit, .storeOffsets, { () throws(KafkaError) in try consumer?.commit(offsets) }) != nil
        else { return }
        committed(coordinatorDrops: producer.coordinatorDrops)
    }

    private func abort(_ producer: Environment.Producer) {
        guard watched(.abort, .abort, { () throws(KafkaError) in try producer.abort() }) != nil else { return }
        let refusal = producer.refusal?.code
        producer.forgetErrors()
        machine.aborted(refusal: refusal, coordinatorDrops: producer.coordinatorDrops, now: environment.now())
    }
}
