/// What a client instance says of itself, beside records and answers.
package enum ClientEvent: Sendable, Equatable {
    /// A log line of librdkafka.
    case log(LogLine)
    /// The statistics document (JSON), every `statistics.interval.ms`.
    case statistics([UInt8])
    /// An error of the instance, such as all brokers down or a failed authentication.
    case error(KafkaError)
}

/// One log line of librdkafka.
package struct LogLine: Sendable, Equatable {
    /// Severity as syslog's: 0 emergency … 3 error, 4 warning, 5 notice, 6 info, 7 debug.
    package var level: Int32
    /// What part of the library speaks, such as `FAIL`.
    package var facility: String
    /// The text, with the thread and broker that it is about.
    package var text: String

    /// Makes a line.
    package init(level: Int32, facility: String, text: String) {
        self.level = level
        self.facility = facility
        self.text = text
    }
}
