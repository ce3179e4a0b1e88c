package import KafkaClient
package import LinkDecider
package import LinkIngest

/// The configuration of a worker: validated settings, with their units in the names.
///
/// The settings table checks the bounds, so they are not checked again.
package struct WorkerConfiguration: Sendable {
    /// `bootstrap`: the initial brokers, as `host:port`.
    package var bootstrap: [String]
    /// `input`: the topics that events are read from.
    package var input: InputTopics = .topics(["link-events"])
    /// `output` and `output.applications`: the topics that decisions are written to.
    package var outputs = OutputTopics("link-decisions")
    /// `dlq.topic`: the name of an input's dead-letter topic, with `{input}` in place of the input's name.
    package var deadLetterTemplate = "{input}.dlq"
    /// `dlq.headers`: the headers that dead letters have for other tools.
    package var deadLetterHeaders = HeaderProfile.native
    /// `dlq.max.ratio`: the largest share of dead letters among the last 1,000 records of a partition.
    ///
    /// 0 turns the limit off.
    package var deadLetterMaxRatio = 0.95
    /// `dlq.excess`: the reaction to a partition that exceeds `dlq.max.ratio`.
    package var deadLetterExcess = ExcessPolicy.slow
    /// `dlq.max.rate`: the dead letters per second of a slowed partition.
    package var deadLetterMaxRate = 100
    /// `dlq.max.consecutive`: the largest number of consecutive dead letters in one partition that does not end the
    /// worker.
    ///
    /// 0 turns the limit off.
    package var deadLetterMaxConsecutive = 0
    /// The source of tokens for OAUTHBEARER, or nil.
    package var tokens: TokenSource?
    /// `group`: the consumer group.
    package var group = "linkd"
    /// `instance`: a name that survives restarts (static membership), or nil.
    package var instance: String?
    /// `lanes`: the number of threads, each with its own consumer and producer.
    package var lanes = 1
    /// `guarantee`: the effect that a crash may have on an outcome.
    package var guarantee = Guarantee.exactlyOnce
    /// `from`: the start of a partition without a committed offset.
    package var from = StartPolicy.earliest
    /// `data.loss`: the reaction when the next records no longer exist.
    package var dataLoss = DataLossPolicy.stop
    /// `assignor`: the group's assignment strategy.
    package var assignor = Assignor.range
    /// `commit.*`: the limits that end a transaction.
    package var commit = CommitLimits()
    /// `batch.records`: the maximum number of records of one poll.
    package var batchRecords = 1_000
    /// `stop.after`: the number of input records, over all lanes, after which the worker ends.
    ///
    /// 0 means never.
    package var stopAfter: Int64 = 0
    /// `report`: the format of the closing report, or nil for none.
    package var report: ReportFormat?
    /// `start.timeout` in milliseconds.
    package var startTimeoutMilliseconds = 30_000
    /// `shutdown.grace` in milliseconds.
    package var shutdownGraceMilliseconds = 30_000
    /// `state.dir`: the directory of files that outlive the process, or nil for none.
    package var stateDirectory: String?
    /// `devices.topic`: the topic of the registry of devices, or nil for no registry.
    package var devicesTopic: String?
    /// `tables.topic`: the topic of the archive of configurations, or nil for no archive.
    package var tablesTopic: String?
    /// `devices.members`: the facts that the registry stores, joins, and publishes.
    package var deviceMembers = DeviceMembers.standard
    /// `devices.max`: the largest number of devices in the registry.
    package var maxDevices = 20_000_000
    /// `http.max.loop.age` in milliseconds.
    package var maxLoopAgeMilliseconds = 60_000
    /// `http.max.stall` in milliseconds.
    package var maxStallMilliseconds = 120_000
    /// `trace.log`: a Boolean value that indicates whether the times of sampled records are logged.
    package var logsTraces = false
    /// `librdkafka` and the `KAFKA_…` variables: librdkafka properties that override the worker's own, in order.
    ///
    /// A key may begin with `consumer.` or `producer.`. The settings table rejects the keys in
    /// `ClientSettings.refused`.
    package var clientProperties: [ClientProperty] = []
    /// The version that `--version` prints.
    ///
    /// Logs, the report, and dead letters contain it.
    package var version = "0"
    /// A Boolean value that indicates whether the broker is librdkafka's mock cluster (`linkd demo`), whose request
    /// versions are not checked.
    package var isMockBroker = false

    /// Creates a configuration with the defaults of the settings table.
    package init(bootstrap: [String]) { self.bootstrap = bootstrap }
}

/// The input topics.
package enum InputTopics: Sendable, Equatable {
    /// These topics.
    case topics([String])
    /// All topics that match a regular expression, which begins with `^`.
    case pattern(String)
}

/// The effect that a crash may have on an outcome.
package enum Guarantee: String, Sendable, CaseIterable {
    /// Every record has exactly one outcome. Output and offsets are committed in one transaction.
    case exactlyOnce = "exactly-once"
    /// Every record has an outcome, possibly twice. Offsets are committed after delivery.
    case atLeastOnce = "at-least-once"
}

/// The start of a partition without a committed offset.
package enum StartPolicy: String, Sendable, CaseIterable {
    /// The first record.
    case earliest
    /// The end.
    case latest
    /// No start: the worker exits with 78.
    case fail
}

/// The reaction when the committed offset is outside the partition's range.
package enum DataLossPolicy: String, Sendable, CaseIterable {
    /// The worker exits with 65.
    case stop
    /// Consumption continues at the first record that exists.
    case earliest
    /// Consumption continues at the end.
    case latest
}

/// The reaction to a partition whose dead letters exceed `dlq.max.ratio`.
package enum ExcessPolicy: String, Sendable, CaseIterable {
    /// The dead letters of the partition are slowed to `dlq.max.rate`.
    case slow
    /// The worker exits with 81.
    case stop
}

/// The group's assignment strategy.
package enum Assignor: String, Sendable, CaseIterable {
    /// The range assignor with the eager protocol, the default. librdkafka's cooperative protocol has known defects up
    /// to 2.10.
    case range
    /// The cooperative-sticky assignor with the cooperative protocol.
    case cooperativeSticky = "cooperative-sticky"
}

/// The limits that end a transaction (`commit.*`).
///
/// The first limit that is reached applies.
package struct CommitLimits: Sendable, Equatable {
    /// `commit.interval` in milliseconds.
    ///
    /// Nil is `auto`: ten times the measured commit time, within 50 to 500 ms.
    package var intervalMilliseconds: Int? = 100
    /// `commit.records`: the maximum number of input records.
    package var records = 50_000
    /// `commit.bytes`: the maximum size of the outputs.
    package var bytes = 32 << 20
    /// `commit.idle` in milliseconds: the idle time at the end of all partitions after which a transaction is
    /// committed.
    package var idleMilliseconds = 10

    /// Creates the default limits.
    package init() {}
}

/// The format of the closing report (`report`).
package enum ReportFormat: String, Sendable, CaseIterable {
    /// Plain text.
    case text
    /// One JSON object.
    case json
}
