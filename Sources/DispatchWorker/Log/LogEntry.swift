internal import ByteStorage
internal import StrictJSON

/// The severity of a log line, most severe first.
package enum LogLevel: UInt8, Sendable, CaseIterable, Comparable {
    case error, warning, info, debug

    /// The name of the level in settings and log lines.
    package var name: String { "\(self)" }

    /// Returns a Boolean value that indicates whether `a` is more severe than `b`.
    package static func < (a: LogLevel, b: LogLevel) -> Bool { a.rawValue < b.rawValue }
}

/// The format of log lines (`log.format`).
package enum LogFormat: String, Sendable, CaseIterable {
    /// Text for people.
    case text
    /// One JSON object per line.
    case json
}

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
    package var fields: LogFields

    /// Creates an entry.
    package init(_ level: LogLevel, _ event: String, lane: Int? = nil, _ message: String, _ fields: LogFields = [:]) {
        self.level = level
        self.event = event
        self.lane = lane
        self.message = message
        self.fields = fields
    }
}

/// The named values of a log line, in the order in which they are written.
///
/// A field without a value is left out.
package struct LogFields: Sendable, Equatable, RandomAccessCollection, ExpressibleByDictionaryLiteral {
    /// A named value.
    package struct Field: Sendable, Equatable {
        package var name: String
        package var value: LogValue
    }

    private var all: [Field] = []

    package init(dictionaryLiteral elements: (String, LogValue?)...) {
        for (name, value) in elements { append(name, value) }
    }

    package var startIndex: Int { 0 }
    package var endIndex: Int { all.count }
    package subscript(index: Int) -> Field { all[index] }

    /// Adds a field unless the value is nil.
    package mutating func append(_ name: String, _ value: LogValue?) {
        if let value { all.append(Field(name: name, value: value)) }
    }

    /// Returns the fields of both.
    package static func + (first: LogFields, second: LogFields) -> LogFields {
        var sum = first
        sum.all += second.all
        return sum
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

/// The formatter of log entries.
///
/// Lines have no line terminator.
package enum LogFormatter {
    /// Returns the formatted line.
    ///
    /// `milliseconds` since 1970 is its time.
    package static func text(of line: LogEntry, milliseconds: Int64, format: LogFormat) -> String {
        switch format {
        case .json: json(line, UTCDateTime.text(milliseconds: milliseconds))
        case .text: plain(line, UTCDateTime.text(milliseconds: milliseconds))
        }
    }

    private static func json(_ line: LogEntry, _ time: String) -> String {
        var result = "{\"time\":\"\(time)\",\"level\":\"\(line.level.name)\",\"event\":\(quoted(line.event))"
        if let lane = line.lane { result += ",\"lane\":\(lane)" }
        result += ",\"message\":\(quoted(line.message))"
        for field in line.fields { result += ",\(quoted(field.name)):\(json(field.value))" }
        return result + "}"
    }

    private static func json(_ value: LogValue) -> String {
        switch value {
        case .text(let text): quoted(text)
        case .number(let number): String(number)
        case .list(let list): "[" + list.map(quoted).joined(separator: ",") + "]"
        // Only strings of the value can contain characters that are escaped.
        case .json(let text): escaped(text)
        }
    }

    private static func plain(_ line: LogEntry, _ time: String) -> String {
        var parts = ["\(time) \(line.level.name)"]
        if let lane = line.lane { parts.append("lane \(lane)") }
        parts.append(escaped(line.message))
        let fields = line.fields.map { "\($0.name)=\(plain($0.value))" }.joined(separator: " ")
        if !fields.isEmpty { parts.append(fields) }
        return parts.joined(separator: "  ")
    }

    private static func plain(_ value: LogValue) -> String {
        switch value {
        case .number(let number): String(number)
        case .list(let list): plain(.text(list.joined(separator: ",")))
        case .json(let text): quoted(text)
        case .text(let text):
            text.isEmpty || text.contains(where: { " =\"".contains($0) }) ? quoted(text) : escaped(text)
        }
    }

    /// Returns the text as a JSON string (RFC 8259, section 7).
    ///
    /// The text format uses the same form for values with spaces.
    package static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            default: append(scalar, to: &result)
            }
        }
        return result + "\""
    }

    /// Returns the text with control characters and marks of the writing direction escaped, so that external text
    /// cannot control a terminal.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars { append(scalar, to: &result) }
        return result
    }

    private static func append(_ scalar: Unicode.Scalar, to result: inout String) {
        switch scalar.value {
        case 0x0A: result += "\\n"
        case 0x0D: result += "\\r"
        case 0x09: result += "\\t"
        case _ where scalar.value < 0x20 || TerminalControl.contains(scalar):
            result += "\\u" + scalar.value.hexadecimal(digits: 4)
        default: result.unicodeScalars.append(scalar)
        }
    }
}

/// Returns a count with its noun, such as `1 record` or `2 records`.
func counted(_ count: Int, _ noun: String) -> String { count == 1 ? "1 \(noun)" : "\(count) \(noun)s" }

extension WorkerExit {
    /// The last line of the log.
    package var line: LogEntry {
        LogEntry(
            .error, LogEntry.exit, reason,
            ["code": .number(Int64(code.rawValue)), "reason": .text(reason), "advice": .text(advice)])
    }
}
