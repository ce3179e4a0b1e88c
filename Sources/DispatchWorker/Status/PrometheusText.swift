/// The page `/metrics`.
package enum PrometheusPage {
    /// The media type of the text format.
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// Returns all metrics of a worker.
    package static func text(_ snapshot: WorkerSnapshot) -> [UInt8] {
        var text = PrometheusText()
        for metric in MetricCatalog.all { metric.write(snapshot, to: &text) }
        return text.bytes
    }
}

/// The description of a metric.
package struct MetricDescription: Sendable {
    /// The kind of a metric.
    package enum Kind: String, Sendable {
        /// A number that only increases while the process runs.
        case counter
        /// A number that increases and decreases.
        case gauge
        /// The distribution of values over buckets.
        case histogram
        /// Quantiles of values.
        case summary
    }

    package let name: String
    package let kind: Kind
    /// The names of the labels, without `le`.
    package let labels: [String]
    /// A description for people.
    package let help: String
}

/// A page of metrics in the Prometheus text format 0.0.4.
///
/// Numbers have no exponent, and no value is NaN or infinite.
package struct PrometheusText: Sendable {
    /// The maximum length of a label's value in bytes, beyond which it is cut.
    ///
    /// It is larger than names of topics, tables, and brokers, so that two series never get the same labels.
    package static let labelLimit = 512

    /// The text so far.
    package private(set) var bytes: [UInt8] = []
    private var metric: MetricDescription?
    private var isDescribed = false

    /// Begins a metric, to which the following samples belong.
    ///
    /// It has no line before its first sample.
    mutating func begin(_ metric: MetricDescription) {
        self.metric = metric
        isDescribed = false
    }

    /// Adds a sample with the values of the metric's labels.
    package mutating func add(_ labels: [String], _ value: UInt64) {
        begin("", labels)
        end(value)
    }

    /// Adds a sample that is not negative.
    package mutating func add(_ labels: [String], _ value: Int64) { add(labels, UInt64(max(0, value))) }

    /// Adds a sample that is 1 or 0.
    package mutating func add(_ labels: [String], _ value: Bool) { add(labels, value ? 1 as UInt64 : 0) }

    /// Adds a sample in seconds from nanoseconds.
    package mutating func add(_ labels: [String] = [], nanoseconds: UInt64) {
        begin("", labels)
        bytes += Self.seconds(nanoseconds).utf8
        bytes.append(UInt8(ascii: "\n"))
    }

    /// Adds a sample in seconds.
    ///
    /// A negative number and NaN become 0.
    package mutating func add(_ labels: [String] = [], seconds: Double) {
        add(labels, nanoseconds: seconds > 0 ? UInt64(min(seconds, 1e10) * 1e9) : 0)
    }

    /// Adds the buckets, the sum, and the count of a histogram.
    package mutating func add(_ labels: [String], _ values: HistogramValues, isTime: Bool) {
        var count: UInt64 = 0
        for (index, bucket) in values.buckets.enumerated() {
            count &+= bucket
            let bound = index < values.bounds.count ? Self.text(values.bounds[index], isTime: isTime) : "+Inf"
            begin("_bucket", labels, bound: bound)
            end(count)
        }
        begin("_sum", labels)
        bytes += Self.text(values.sum, isTime: isTime).utf8
        bytes.append(UInt8(ascii: "\n"))
        begin("_count", labels)
        end(count)
    }

    private static func text(_ value: UInt64, isTime: Bool) -> String { isTime ? seconds(value) : String(value) }

    /// Returns nanoseconds as a decimal number of seconds without zeros at its end.
    static func seconds(_ nanoseconds: UInt64) -> String {
        let (whole, fraction) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        if fraction == 0 { return String(whole) }
        let digits = String(fraction)
        var text = "\(whole)." + String(repeating: "0", count: 9 - digits.count) + digits
        while text.utf8.last == UInt8(ascii: "0") { text.removeLast() }
        return text
    }

    private mutating func begin(_ suffix: String, _ values: [String], bound: String? = nil) {
        guard let metric else { return }
        if !isDescribed {
            bytes += "# HELP \(metric.name) \(Self.escapedHelp(metric.help))\n".utf8
            bytes += "# TYPE \(metric.name) \(metric.kind.rawValue)\n".utf8
            isDescribed = true
        }
        bytes += metric.name.utf8
        bytes += suffix.utf8
        var separator = UInt8(ascii: "{")
        for (name, value) in zip(metric.labels, values) {
            bytes.append(separator)
            appendLabel(name, value)
            separator = UInt8(ascii: ",")
        }
        if let bound {
            bytes.append(separator)
            appendLabel("le", bound)
            separator = UInt8(ascii: ",")
        }
        if separator == UInt8(ascii: ",") { bytes.append(UInt8(ascii: "}")) }
        bytes.append(UInt8(ascii: " "))
    }

    private mutating func end(_ value: UInt64) {
        bytes += String(value).utf8
        bytes.append(UInt8(ascii: "\n"))
    }

    private mutating func appendLabel(_ name: String, _ value: String) {
        bytes += name.utf8
        bytes += "=\"".utf8
        var rest = Self.labelLimit
        for scalar in value.unicodeScalars {
            rest -= UTF8.width(scalar)
            if rest < 0 { break }
            append(scalar)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Appends a scalar of a label's value.
    ///
    /// A control character becomes U+FFFD, so that the page is harmless in a terminal.
    private mutating func append(_ scalar: Unicode.Scalar) {
        switch scalar {
        case "\\": bytes += "\\\\".utf8
        case "\"": bytes += "\\\"".utf8
        case "\n": bytes += "\\n".utf8
        case "\0"..."\u{1F}", "\u{7F}"..."\u{9F}": bytes += "\u{FFFD}".utf8
        default: bytes += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
        }
    }

    private static func escapedHelp(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
    }
}
