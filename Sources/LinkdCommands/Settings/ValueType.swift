/// What a setting's or a flag's value may be, with its bounds; parsing and the manual both come from here.
indirect enum ValueType: Sendable {
    /// Any text of so many bytes.
    case text(bytes: ClosedRange<Int>)
    /// A name of `A-Za-z0-9._-`, of so many bytes.
    case name(bytes: ClosedRange<Int>)
    /// The name of a topic, as Kafka allows it.
    case topic
    /// The name of a topic in which `{input}` stands for the input's.
    case topicTemplate
    /// Names of topics, or one regular expression that begins with `^`.
    case topics(count: ClosedRange<Int>)
    /// `host:port`, several.
    case addresses(count: ClosedRange<Int>)
    /// A whole number.
    case integer(ClosedRange<Int64>)
    /// A number of bytes.
    case size(ClosedRange<Int64>)
    /// A time span; the bounds are milliseconds.
    case duration(ClosedRange<Int64>)
    /// A time span, or the word `auto`.
    case durationOrAuto(ClosedRange<Int64>)
    /// A point in time, or a duration before now.
    case time
    /// One of these words.
    case choice([String])
    /// `true` or `false`; a flag alone means true.
    case boolean
    /// The path of a file.
    case file
    /// Paths of files.
    case files(count: ClosedRange<Int>)
    /// Several texts, each of so many bytes.
    case texts(count: ClosedRange<Int>, bytes: ClosedRange<Int>)
    /// `key=value`, several.
    case pairs(count: ClosedRange<Int>)

    /// The type in a word or two, for help and manual.
    var name: String {
        switch self {
        case .text: "text"
        case .name: "name"
        case .topic: "topic"
        case .topicTemplate: "topic template"
        case .topics: "list of topics, or a regular expression"
        case .addresses: "list of host:port"
        case .integer: "integer"
        case .size: "size"
        case .duration: "duration"
        case .durationOrAuto: "duration or `auto`"
        case .time: "time, or duration ago"
        case .choice(let words): words.joined(separator: ", ")
        case .boolean: "true, false"
        case .file: "file"
        case .files: "list of files"
        case .texts: "list of texts"
        case .pairs: "list of key=value"
        }
    }

    /// What stands for the value in a help text.
    var placeholder: String {
        switch self {
        case .text: "TEXT"
        case .name: "NAME"
        case .topic, .topics: "TOPIC"
        case .topicTemplate: "TEMPLATE"
        case .addresses: "HOST:PORT"
        case .integer: "N"
        case .size: "SIZE"
        case .duration, .durationOrAuto: "DURATION"
        case .time: "TIME"
        case .choice(let words): words.joined(separator: "|")
        case .boolean: "true|false"
        case .file, .files: "FILE"
        case .texts: "NAME"
        case .pairs: "KEY=VALUE"
        }
    }

    /// The bounds in words, or nothing.
    var bounds: String {
        switch self {
        case .text(let bytes): "\(bytes.lowerBound)..\(bytes.upperBound) bytes"
        case .name(let bytes): "\(bytes.lowerBound)..\(bytes.upperBound) of `A-Za-z0-9._-`"
        case .topic: "1..249 of `A-Za-z0-9._-`"
        case .topicTemplate: "a topic's name, in which `{input}` stands for the input's"
        case .topics(let count): "\(Self.range(count)), names as Kafka's"
        case .addresses(let count), .pairs(let count), .files(let count): Self.range(count)
        case .texts(let count, let bytes): "\(Self.range(count)) of \(bytes.lowerBound)..\(bytes.upperBound) bytes"
        case .integer(let range): "\(range.lowerBound)..\(range.upperBound)"
        case .size(let range): "\(Sizes.text(range.lowerBound))..\(Sizes.text(range.upperBound))"
        case .duration(let range), .durationOrAuto(let range):
            "\(Durations.text(range.lowerBound))..\(Durations.text(range.upperBound))"
        case .time, .choice, .boolean, .file: ""
        }
    }

    /// What was expected, for an error.
    var expectation: String {
        switch self {
        case .choice(let words): "one of \(words.joined(separator: ", "))"
        case .boolean: "true or false"
        case .file: "a file"
        case .time: "a time such as 2026-11-20T10:00:00Z, or a duration ago such as 15m"
        case .duration: "a duration such as 250ms, 30s or 5m, in \(bounds)"
        case .durationOrAuto: "`auto` or a duration such as 250ms, in \(bounds)"
        case .size: "a size such as 1048576, 64KiB or 1MiB, in \(bounds)"
        case .pairs: "key=value, \(bounds) of them"
        case .integer: "a whole number in \(bounds)"
        default: "\(name), \(bounds)"
        }
    }

    /// Whether a value is several.
    var isList: Bool {
        switch self {
        case .topics, .addresses, .files, .texts, .pairs: true
        default: false
        }
    }

    private static func range(_ count: ClosedRange<Int>) -> String { "\(count.lowerBound)..\(count.upperBound)" }
}
