internal import ByteStorage

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
    /// A list of `name=topic`, with different names of a number of bytes in a range.
    case topicsByName(count: ClosedRange<Int>, bytes: ClosedRange<Int>)

    /// The words for a type.
    struct Words {
        /// The name of the type in help texts and the reference.
        let name: String
        /// The placeholder for the value in help texts.
        let placeholder: String
        /// The bounds in help texts and the reference, or an empty text.
        let bounds: String
        /// The expected value, for error messages.
        let expectation: String

        init(_ name: String, _ placeholder: String, bounds: String = "", _ expectation: String) {
            self.name = name
            self.placeholder = placeholder
            self.bounds = bounds
            self.expectation = expectation
        }
    }

    /// The name of the type in help texts and the reference.
    var name: String { words.name }
    /// The placeholder for the value in help texts.
    var placeholder: String { words.placeholder }
    /// The bounds in help texts and the reference, or an empty text.
    var bounds: String { words.bounds }
    /// The expected value, for error messages.
    var expectation: String { words.expectation }

    private var words: Words {
        switch self {
        case .text(let bytes):
            return Words("text", "TEXT", bounds: "\(bytes.text) bytes", "a text of \(bytes.text) bytes")
        case .name(let bytes):
            let bounds = "\(bytes.text) of `A-Za-z0-9._-`"
            return Words("name", "NAME", bounds: bounds, "a name of \(bytes.text) characters of `A-Za-z0-9._-`")
        case .topic:
            let expectation = "a topic name of 1..249 characters of `A-Za-z0-9._-`"
            return Words("topic", "TOPIC", bounds: "1..249 of `A-Za-z0-9._-`", expectation)
        case .topicTemplate:
            let bounds = "a topic name in which `{input}` stands for the input topic"
            return Words("topic template", "TEMPLATE", bounds: bounds, bounds)
        case .topics(let count):
            return Words(
                "list of topics, or a regular expression", "TOPIC", bounds: "\(count.text), valid topic names",
                "\(count.text) topic names, or a regular expression that begins with ^")
        case .address:
            return Words(
                "host:port", "HOST:PORT", bounds: "port 0..65535",
                "an address of the form host:port, [IPv6 address]:port, or :port for all interfaces")
        case .addresses(let count):
            let expectation = "\(count.text) addresses of the form host:port"
            return Words("list of host:port", "HOST:PORT", bounds: count.text, expectation)
        case .integer(let range): return Words("integer", "N", bounds: range.text, "an integer in \(range.text)")
        case .decimal(let range, let places):
            let bounds =
                range.text { FixedPoint.text($0, places: places) } + ", at most \(places) decimal places"
            return Words("decimal number", "N", bounds: bounds, "a number such as 0.5, in \(bounds)")
        case .size(let range):
            let bounds = range.text(Sizes.text)
            return Words("size", "SIZE", bounds: bounds, "a size such as 1048576, 64KiB, or 1MiB, in \(bounds)")
        case .duration(let range):
            let bounds = range.text(Durations.text)
            return Words("duration", "DURATION", bounds: bounds, "a duration such as 250ms, 30s, or 5m, in \(bounds)")
        case .durationOrAuto(let range):
            let bounds = range.text(Durations.text)
            let expectation = "`auto` or a duration such as 250ms, in \(bounds)"
            return Words("duration or `auto`", "DURATION", bounds: bounds, expectation)
        case .time:
            return Words(
                "time, or duration before now", "TIME",
                "a time such as 2026-11-20T10:00:00Z, 16:30, or yesterday, or a duration before now such as 1d2h")
        case .choice(let choices):
            let list = choices.joined(separator: ", ")
            return Words(list, choices.joined(separator: "|"), "one of \(list)")
        case .boolean: return Words("true, false", "true|false", "true or false")
        case .directory: return Words("directory", "DIRECTORY", "a directory")
        case .file: return Words("file", "FILE", "a file")
        case .files(let count): return Words("list of files", "FILE", bounds: count.text, "\(count.text) files")
        case .texts(let count, let bytes):
            let bounds = "\(count.text) of \(bytes.text) bytes"
            return Words("list of texts", "NAME", bounds: bounds, "\(count.text) texts of \(bytes.text) bytes each")
        case .pairs(let count):
            let expectation = "\(count.text) pairs of the form key=value"
            return Words("list of key=value", "KEY=VALUE", bounds: count.text, expectation)
        case .topicsByName(let count, let bytes):
            let bounds = "\(count.text) different names of \(bytes.text) bytes, valid topic names"
            return Words("list of name=topic", "NAME=TOPIC", bounds: bounds, "name=topic: \(bounds)")
        }
    }

    /// A Boolean value that indicates whether the value consists of paths of files.
    var isFile: Bool {
        switch self {
        case .file, .files: true
        default: false
        }
    }

    /// A Boolean value that indicates whether the value is a list.
    var isList: Bool {
        switch self {
        case .topics, .addresses, .files, .texts, .pairs, .topicsByName: true
        default: false
        }
    }
}

extension ClosedRange {
    /// The bounds as text, such as `1..64`.
    fileprivate var text: String { "\(lowerBound)..\(upperBound)" }

    /// Returns the bounds as text, each written by a function.
    fileprivate func text(_ write: (Bound) -> String) -> String { "\(write(lowerBound))..\(write(upperBound))" }
}

/// A setting's value, checked against its type and bounds.
enum SettingValue: Equatable, Sendable {
    case text(String)
    case list([String])
    case integer(Int64)
    /// A number in units of the last of its decimal places.
    case decimal(Int64, places: Int)
    case size(Int64)
    case duration(milliseconds: Int64)
    case boolean(Bool)
    case auto
    case pairs([KeyValue])

    /// The value in the form that flags and files accept.
    var description: String {
        switch self {
        case .text(let text): text
        case .list(let items): items.joined(separator: ",")
        case .integer(let number): "\(number)"
        case .decimal(let number, let places): FixedPoint.text(number, places: places)
        case .size(let bytes): Sizes.text(bytes)
        case .duration(let milliseconds): Durations.text(milliseconds)
        case .boolean(let value): value ? "true" : "false"
        case .auto: "auto"
        case .pairs(let pairs): pairs.map { "\($0.key)=\($0.value)" }.joined(separator: ",")
        }
    }
}

/// A key with its value.
struct KeyValue: Equatable, Sendable {
    /// The name.
    var key: String
    var value: String
}

extension ValueType {
    /// Parses texts, and returns nil if they have the wrong type or exceed the bounds.
    ///
    /// - Parameters:
    ///   - texts: The repetitions of a flag, or the elements of a JSON array.
    ///   - splitting: A Boolean value that indicates whether commas separate items within a text.
    func parse(_ texts: [String], splitting: Bool) -> SettingValue? {
        guard isList else { return texts.count == 1 ? parse(texts[0]) : nil }
        let items = splitting ? texts.flatMap { separate($0) } : texts
        switch self {
        case .topics(let count):
            if items.first?.hasPrefix("^") == true { return items.count == 1 ? .list(items) : nil }
            return list(items, count) { Self.isTopic($0) }
        case .addresses(let count): return list(items, count) { Self.isAddress($0) }
        case .files(let count): return list(items, count) { !$0.isEmpty }
        case .texts(let count, let bytes): return list(items, count) { bytes.contains($0.utf8.count) }
        case .pairs(let count):
            let pairs = items.compactMap(Self.pair)
            return pairs.count == items.count && count.contains(pairs.count) ? .pairs(pairs) : nil
        case .topicsByName(let count, let bytes):
            let pairs = items.compactMap(Self.topic)
            let isValid = pairs.allSatisfy { bytes.contains($0.key.utf8.count) && Self.isTopic($0.value) }
            guard isValid, Set(pairs.map(\.key)).count == items.count, count.contains(items.count) else { return nil }
            return .pairs(pairs)
        default: return nil
        }
    }

    private func parse(_ text: String) -> SettingValue? {
        switch self {
        case .text(let bytes): return bytes.contains(text.utf8.count) ? .text(text) : nil
        case .name(let bytes): return bytes.contains(text.utf8.count) && Self.isName(text) ? .text(text) : nil
        case .topic: return Self.isTopic(text) ? .text(text) : nil
        case .topicTemplate:
            return Self.isTopic(
                text.split(separator: "{input}", omittingEmptySubsequences: false).joined(separator: "x"))
                ? .text(text) : nil
        case .integer(let range): return number(Quantities.integer(text), range).map { .integer($0) }
        case .decimal(let range, let places):
            return number(FixedPoint.parse(text, places: places), range).map { .decimal($0, places: places) }
        case .address: return Self.isListenAddress(text) ? .text(text) : nil
        case .size(let range): return number(Sizes.parse(text), range).map { .size($0) }
        case .duration(let range): return number(Durations.parse(text), range).map { .duration(milliseconds: $0) }
        case .durationOrAuto(let range):
            if text == "auto" { return .auto }
            return number(Durations.parse(text), range).map { .duration(milliseconds: $0) }
        case .time: return Timestamps.parse(text, now: 0) == nil ? nil : .text(text)
        case .choice(let choices): return choices.contains(text) ? .text(text) : nil
        case .boolean: return text == "true" ? .boolean(true) : text == "false" ? .boolean(false) : nil
        case .directory, .file: return text.isEmpty ? nil : .text(text)
        case .topics, .addresses, .files, .texts, .pairs, .topicsByName: return nil
        }
    }

    private func number(_ value: Int64?, _ range: ClosedRange<Int64>) -> Int64? {
        value.flatMap { range.contains($0) ? $0 : nil }
    }

    private func list(_ items: [String], _ count: ClosedRange<Int>, _ good: (String) -> Bool) -> SettingValue? {
        count.contains(items.count) && items.allSatisfy(good) ? .list(items) : nil
    }

    /// Splits a text with commas into its items.
    ///
    /// A regular expression stays whole. In `key=value` lists a piece without `=` belongs to the value before it,
    /// because values of librdkafka can contain commas (`debug=eos,feature`).
    private func separate(_ text: String) -> [String] {
        if case .topics = self, text.hasPrefix("^") { return [text] }
        let pieces = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard case .pairs = self else { return pieces }
        var items: [String] = []
        for piece in pieces {
            if piece.contains("=") || items.isEmpty {
                items.append(piece)
            } else {
                items[items.count - 1] += "," + piece
            }
        }
        return items
    }

    private static func pair(_ text: String) -> KeyValue? {
        guard let sign = text.firstIndex(of: "="), sign != text.startIndex else { return nil }
        return KeyValue(key: String(text[..<sign]), value: String(text[text.index(after: sign)...]))
    }

    /// Returns a name and its topic, which contains no equal sign.
    private static func topic(_ text: String) -> KeyValue? {
        guard let sign = text.lastIndex(of: "=") else { return nil }
        return KeyValue(key: String(text[..<sign]), value: String(text[text.index(after: sign)...]))
    }

    private static func isName(_ text: String) -> Bool { text.utf8.allSatisfy { $0.isASCIIWord(or: "._-") } }

    /// Returns a Boolean value that indicates whether Kafka accepts a topic's name: 1 to 249 of `A-Za-z0-9._-`, and
    /// neither `.` nor `..`.
    static func isTopic(_ text: String) -> Bool {
        (1...249).contains(text.utf8.count) && isName(text) && text != "." && text != ".."
    }

    private static func isAddress(_ text: String) -> Bool { isAddress(text, ports: 1...65535) && !text.hasPrefix(":") }

    private static func isListenAddress(_ text: String) -> Bool { isAddress(text, ports: 0...65535) }

    private static func isAddress(_ text: String, ports: ClosedRange<Int64>) -> Bool {
        guard let colon = text.lastIndex(of: ":") else { return false }
        let host = text[..<colon]
        let bare = !host.contains(":") || (host.hasPrefix("[") && host.hasSuffix("]"))
        let port = Quantities.integer(text[text.index(after: colon)...]) ?? -1
        return bare && host.utf8.count <= 255 && ports.contains(port)
            && !host.utf8.contains { $0 <= 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "/") }
    }
}
