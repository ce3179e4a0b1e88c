/// The type and the bounds of a setting or flag.
///
/// The parser and the reference both use it.
indirect enum ValueType: Sendable {
    /// A text with a number of bytes in a range.
    case text(bytes: ClosedRange<Int>)
    /// A name of `A-Za-z0-9._-`, with a number of bytes in a range.
    case name(bytes: ClosedRange<Int>)
    /// A topic name that Kafka accepts.
    case topic
    /// A topic name in which `{input}` stands for the name of the input topic.
    case topicTemplate
    /// A list of topic names, or one regular expression that begins with `^`.
    case topics(count: ClosedRange<Int>)
    /// An address to listen on: `host:port`, or `:port` for all interfaces.
    case address
    /// A list of `host:port`.
    case addresses(count: ClosedRange<Int>)
    /// An integer.
    case integer(ClosedRange<Int64>)
    /// A number with decimal places, with bounds in units of the last place.
    case decimal(ClosedRange<Int64>, places: Int)
    /// A number of bytes.
    case size(ClosedRange<Int64>)
    /// A duration, with bounds in milliseconds.
    case duration(ClosedRange<Int64>)
    /// A duration, or `auto`.
    case durationOrAuto(ClosedRange<Int64>)
    /// A point in time, or a duration before now.
    case time
    /// One of several words.
    case choice([String])
    /// `true` or `false`. A flag without a value means true.
    case boolean
    /// The path of a directory.
    case directory
    /// The path of a file.
    case file
    /// A list of file paths.
    case files(count: ClosedRange<Int>)
    /// A list of texts, each with a number of bytes in a range.
    case texts(count: ClosedRange<Int>, bytes: ClosedRange<Int>)
    /// A list of `key=value`.
    case pairs(count: ClosedRange<Int>)

    /// The name of the type in help texts and the reference.
    var name: String {
        switch self {
        case .text: "text"
        case .name: "name"
        case .topic: "topic"
        case .topicTemplate: "topic template"
        case .topics: "list of topics, or a regular expression"
        case .address: "host:port"
        case .addresses: "list of host:port"
        case .integer: "integer"
        case .decimal: "decimal number"
        case .size: "size"
        case .duration: "duration"
        case .durationOrAuto: "duration or `auto`"
        case .time: "time, or duration before now"
        case .choice(let choices): choices.joined(separator: ", ")
        case .boolean: "true, false"
        case .directory: "directory"
        case .file: "file"
        case .files: "list of files"
        case .texts: "list of texts"
        case .pairs: "list of key=value"
        }
    }

    /// The placeholder for the value in help texts.
    var placeholder: String {
        switch self {
        case .text: "TEXT"
        case .name: "NAME"
        case .topic, .topics: "TOPIC"
        case .topicTemplate: "TEMPLATE"
        case .address, .addresses: "HOST:PORT"
        case .integer, .decimal: "N"
        case .size: "SIZE"
        case .duration, .durationOrAuto: "DURATION"
        case .time: "TIME"
        case .choice(let choices): choices.joined(separator: "|")
        case .boolean: "true|false"
        case .directory: "DIRECTORY"
        case .file, .files: "FILE"
        case .texts: "NAME"
        case .pairs: "KEY=VALUE"
        }
    }

    /// The bounds in help texts and the reference, or an empty text.
    var bounds: String {
        switch self {
        case .text(let bytes): "\(bytes.lowerBound)..\(bytes.upperBound) bytes"
        case .name(let bytes): "\(bytes.lowerBound)..\(bytes.upperBound) of `A-Za-z0-9._-`"
        case .topic: "1..249 of `A-Za-z0-9._-`"
        case .topicTemplate: "a topic name in which `{input}` stands for the input topic"
        case .topics(let count): "\(Self.range(count)), valid topic names"
        case .addresses(let count), .pairs(let count), .files(let count): Self.range(count)
        case .texts(let count, let bytes): "\(Self.range(count)) of \(bytes.lowerBound)..\(bytes.upperBound) bytes"
        case .integer(let range): "\(range.lowerBound)..\(range.upperBound)"
        case .decimal(let range, let places):
            "\(FixedPoint.text(range.lowerBound, places: places))..\(FixedPoint.text(range.upperBound, places: places))"
                + ", at most \(places) decimal places"
        case .address: "port 0..65535"
        case .size(let range): "\(Sizes.text(range.lowerBound))..\(Sizes.text(range.upperBound))"
        case .duration(let range), .durationOrAuto(let range):
            "\(Durations.text(range.lowerBound))..\(Durations.text(range.upperBound))"
        case .time, .choice, .boolean, .directory, .file: ""
        }
    }

    /// The expected value, for error messages.
    var expectation: String {
        switch self {
        case .choice(let choices): "one of \(choices.joined(separator: ", "))"
        case .boolean: "true or false"
        case .directory: "a directory"
        case .file: "a file"
        case .time: "a time such as 2026-11-20T10:00:00Z, or a duration before now such as 15m"
        case .duration: "a duration such as 250ms, 30s, or 5m, in \(bounds)"
        case .durationOrAuto: "`auto` or a duration such as 250ms, in \(bounds)"
        case .size: "a size such as 1048576, 64KiB, or 1MiB, in \(bounds)"
        case .pairs: "\(bounds) pairs of the form key=value"
        case .integer: "an integer in \(bounds)"
        case .decimal: "a number such as 0.5, in \(bounds)"
        case .address: "an address of the form host:port, [IPv6 address]:port, or :port for all interfaces"
        case .text(let bytes): "a text of \(Self.range(bytes)) bytes"
        case .name(let bytes): "a name of \(Self.range(bytes)) characters of `A-Za-z0-9._-`"
        case .topic: "a topic name of 1..249 characters of `A-Za-z0-9._-`"
        case .topicTemplate: bounds
        case .topics(let count): "\(Self.range(count)) topic names, or a regular expression that begins with ^"
        case .addresses: "\(bounds) addresses of the form host:port"
        case .files: "\(bounds) files"
        case .texts(let count, let bytes): "\(Self.range(count)) texts of \(Self.range(bytes)) bytes each"
        }
    }

    /// A Boolean value that indicates whether the value is a list.
    var isList: Bool {
        switch self {
        case .topics, .addresses, .files, .texts, .pairs: true
        default: false
        }
    }

    private static func range(_ count: ClosedRange<Int>) -> String { "\(count.lowerBound)..\(count.upperBound)" }
}
