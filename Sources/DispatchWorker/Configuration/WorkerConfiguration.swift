/// What a worker is told: the rows of the settings table that concern it, checked and with their units.
///
/// Bounds are checked by the settings table; a value of this type is trusted.
package struct WorkerConfiguration: Sendable {
    /// `bootstrap`: brokers to begin with, as `host:port`.
    package var bootstrap: [String]
    /// `input`: where events come from.
    package var input: InputTopics = .topics(["link-events"])
    /// `output`: where decisions go.
    package var output = "link-decisions"
    /// `dlq.topic`: name of an input's dead-letter topic, with `{input}` in place of the input's name.
    package var deadLetterTemplate = "{input}.dlq"
    /// `dlq.max.ratio`: share of dead letters among a lane's last 1,000 records that ends the worker; 0 is off.
    package var deadLetterMaxRatio = 0.0
    /// `dlq.max.consecutive`: dead letters in a row of one partition that end the worker; 0 is off.
    package var deadLetterMaxConsecutive = 0
    /// `group`: the consumer group.
    package var group = "linkd"
    /// `instance`: a name that stays over restarts (static membership), or nil.
    package var instance: String?
    /// `lanes`: threads, each with a consumer and a producer of its own.
    package var lanes = 1
    /// `guarantee`: what a crash may do to an outcome.
    package var guarantee = Guarantee.exactlyOnce
    /// `from`: where a partition without a committed offset starts.
    package var from = StartPolicy.earliest
    /// `data.loss`: what to do when the records that come next are gone.
    package var dataLoss = DataLossPolicy.stop
    /// `assignor`: the group's assignment strategy.
    package var assignor = Assignor.range
    /// `commit.*`: when a transaction ends.
    package var commit = CommitLimits()
    /// `batch.records`: records taken at once.
    package var batchRecords = 1_000
    /// `stop.after`: input records of all lanes after which the worker ends; 0 is never.
    package var stopAfter: Int64 = 0
    /// `report`: how the closing report is written, or nil for none.
    package var report: ReportFormat?
    /// `start.timeout` in milliseconds.
    package var startTimeoutMilliseconds = 30_000
    /// `shutdown.grace` in milliseconds.
    package var shutdownGraceMilliseconds = 30_000
    /// `limits.record.bytes`: a longer value is not parsed.
    package var recordBytesLimit = 1 << 20
    /// `limits.decision.bytes`: a longer decision is not sent.
    package var decisionBytesLimit = 1_000_000
    /// `limits.output.bytes`: decisions of one record that are longer together are not sent.
    package var outputBytesLimit = 8 << 20
    /// `log.level`: the least severe level that is written.
    package var logLevel = LogLevel.info
    /// `log.format`: how log lines are written.
    package var logFormat = LogFormat.text
    /// `librdkafka` and the `KAFKA_…` variables: librdkafka's properties that override the worker's own, in order.
    ///
    /// A key may begin with `consumer.` or `producer.`; keys that `ClientSettings.refused` names are refused before.
    package var clientProperties: [ClientProperty] = []
    /// What `--version` says; goes into logs, the report and dead letters.
    package var version = "0"
    /// Whether the broker is librdkafka's mock, whose versions are not checked (`linkd demo`).
    package var isMockBroker = false

    /// Makes a configuration with the defaults of the settings table.
    package init(bootstrap: [String]) { self.bootstrap = bootstrap }
}

/// The topics to read.
package enum InputTopics: Sendable, Equatable {
    /// These topics.
    case topics([String])
    /// All topics that match a regular expression; it begins with `^`.
    case pattern(String)
}

/// What a crash may do to an outcome.
package enum Guarantee: String, Sendable, CaseIterable {
    /// Every record has exactly one outcome: output and offsets in one transaction.
    case exactlyOnce = "exactly-once"
    /// Every record has an outcome, perhaps twice: offsets are committed after delivery.
    case atLeastOnce = "at-least-once"
}

/// Where a partition without a committed offset starts.
package enum StartPolicy: String, Sendable, CaseIterable {
    /// At its first record.
    case earliest
    /// At its end.
    case latest
    /// Nowhere: the worker ends with 78.
    case fail
}

/// What to do when the committed offset is out of the partition's range.
package enum DataLossPolicy: String, Sendable, CaseIterable {
    /// End with 65.
    case stop
    /// Go on at the first record there is.
    case earliest
    /// Go on at the end.
    case latest
}

/// The group's assignment strategy.
package enum Assignor: String, Sendable, CaseIterable {
    /// Eager, the default: librdkafka's cooperative protocol has known faults up to 2.10.
    case range
    /// Cooperative.
    case cooperativeSticky = "cooperative-sticky"
}

/// When a transaction ends (`commit.*`); the first limit that is reached counts.
package struct CommitLimits: Sendable, Equatable {
    /// `commit.interval` in milliseconds; nil is `auto`, ten times the measured commit within 50 to 500 ms.
    package var intervalMilliseconds: Int? = 100
    /// `commit.records`: input records.
    package var records = 50_000
    /// `commit.bytes`: bytes of outputs.
    package var bytes = 32 << 20
    /// `commit.idle` in milliseconds: how long nothing came when all partitions are at their end.
    package var idleMilliseconds = 10

    /// Makes the default limits.
    package init() {}
}

/// How the closing report is written (`report`).
package enum ReportFormat: String, Sendable, CaseIterable {
    /// In words.
    case text
    /// As one JSON object.
    case json
}
