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
