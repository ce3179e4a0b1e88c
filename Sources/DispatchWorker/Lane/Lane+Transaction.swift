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
