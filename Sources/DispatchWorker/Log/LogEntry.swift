/// One thing worth telling: what happened, where, and its numbers.
///
/// Never a key, value, header, link or credential.
package struct LogEntry: Sendable, Equatable {
    /// The event that says why the process ends.
    package static let exit = "exit"

    /// How severe it is.
    package var level: LogLevel
    /// The event's stable name, such as `committed`.
    package var event: String
    /// The lane, or nil for the process.
    package var lane: Int?
    /// The same in words.
    package var message: String
    /// The event's own members, in the order in which they are written.
    package var fields: [LogField]

    /// Makes a line.
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

    /// Makes a field.
    package init(_ name: String, _ value: LogValue) {
        self.name = name
        self.value = value
    }
}

/// What a log line's member can hold.
package enum LogValue: Sendable, Equatable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    /// Text.
    case text(String)
    /// A whole number.
    case number(Int64)
    /// Several texts.
    case list([String])

    /// Makes a text.
    package init(stringLiteral value: String) { self = .text(value) }

    /// Makes a number.
    package init(integerLiteral value: Int64) { self = .number(value) }

    /// Makes a number.
    package static func count(_ value: Int) -> LogValue { .number(Int64(value)) }
}
