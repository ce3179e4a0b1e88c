/// An event of a client instance other than records and results.
package enum ClientEvent: Sendable, Equatable {
    /// A log line of librdkafka.
    case log(LogLine)
    /// The statistics document (JSON), which arrives every `statistics.interval.ms`.
    case statistics([UInt8])
    /// An error of the instance, such as all brokers down or a failed authentication.
    case error(KafkaError)
}

/// One log line of librdkafka.
package struct LogLine: Sendable, Equatable {
    /// The severity as in syslog: 0 emergency … 3 error, 4 warning, 5 notice, 6 info, 7 debug.
    package var level: Int32
    /// The part of the library that logs, such as `FAIL`.
    package var facility: String
    /// The text, which names the thread and the broker.
    package var text: String

    /// Creates a line.
    package init(level: Int32, facility: String, text: String) {
        self.level = level
        self.facility = facility
        self.text = text
    }
}
