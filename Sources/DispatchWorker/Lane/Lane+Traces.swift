internal import KafkaClient
internal import ByteStorage

extension BatchWork where Processing: ~Copyable {
    /// Adds the times of a resolved record to the tally if its trace is sampled.
    @inline(never)
    mutating func sampleTrace<Consumer: LaneConsumer>(
        of record: ConsumedRecord, _ consumer: Consumer, _ topic: ByteView, _ clock: some LaneEnvironment
    ) {
        var headers: [HeaderView] = []
        consumer.headerViews(of: record.index, into: &headers)
        guard let received, let value = headers.first(where: { $0.name.equals("traceparent") })?.value,
            let trace = TraceParent(value), trace.isSampled
        else { return }
        tally.traces.add(
            TraceSample(
                traceID: trace.traceID, topic: topic.string, partition: record.partition, offset: record.offset,
                received: received, resolved: clock.wallMilliseconds()))
    }
}

extension Lane where Processing: ~Copyable {
    /// Logs the times of the sampled records of a committed transaction.
    func report(_ traces: TraceSamples, committedAt: Int64) {
        for (index, sample) in traces.samples.enumerated() {
            var fields = [
                LogField("trace_id", .text(sample.traceID)), LogField("topic", .text(sample.topic)),
                LogField("partition", .number(Int64(sample.partition))), LogField("offset", .number(sample.offset)),
                LogField("received_ms", .number(sample.received)),
            ]
            if let time = sample.resolved { fields.append(LogField("resolved_ms", .number(time))) }
            if let time = sample.produced { fields.append(LogField("produced_ms", .number(time))) }
            fields.append(LogField("committed_ms", .number(committedAt)))
            if index == traces.samples.count - 1, traces.more > 0 {
                fields.append(LogField("more", .count(traces.more)))
            }
            shared.log.log(LogEntry(.info, LogEntry.trace, lane: number, "a sampled record is committed", fields))
        }
    }
}
