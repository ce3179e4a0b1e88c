/// A log entry: an event with its message and fields.
///
/// An entry never contains a key, value, header, link, or credential.
package struct LogEntry: Sendable, Equatable {
    /// The name of the event that states why the process ends.
    package static let exit = "exit"
    /// The name of the event that contains the status an operator has requested.
    package static let status = "status"
    /// The name of the event that contains the times of a record with a sampled trace.
    package static let trace = "trace"

    /// The severity.
    package var level: LogLevel
    /// The event's stable name, such as `committed`.
    package var event: String
    /// The lane, or nil for the process.
    package var lane: Int?
    /// The message for people.
    package var message: String
    /// The event's fields, in the order in which they are written.
    package var fields: [LogField]

    /// Creates an entry.
    package init(_ level: LogLevel, _ event: String, lane: Int? = nil, _ message: String, _ fields: [LogField] = []) {
        self.level = level
        self.event = event
        self.lane = lane
        self.message = message
        self.fields = fields
    }
}

/// A named value of a log line.
package struct LogField: Sendable, Equatable {
    /// The name.
    package var name: String
    /// The value.
    package var value: LogValue

    /// Creates a field.
    package init(_ name: String, _ value: LogValue) {
        self.name = name
        self.value = value
    }
}

/// The value of a log field.
package enum LogValue: Sendable, Equatable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    /// Text.
    case text(String)
    /// An integer.
    case number(Int64)
    /// A list of texts.
    case list([String])
    /// A JSON value on one line.
    case json(String)

    /// Creates a text.
    package init(stringLiteral value: String) { self = .text(value) }

    /// Creates a number.
    package init(integerLiteral value: Int64) { self = .number(value) }

    /// Creates a number.
    package static func count(_ value: Int) -> LogValue { .number(Int64(value)) }
}
