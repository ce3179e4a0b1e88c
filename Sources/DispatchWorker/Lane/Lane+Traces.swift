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
