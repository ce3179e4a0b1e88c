internal import Foundation
internal import TestSupport

/// The median, minimum, and maximum of the values from several rounds.
struct Spread {
    let median: Double
    let least: Double
    let greatest: Double

    init(_ values: [Double]) {
        let sorted = values.sorted()
        median = sorted.isEmpty ? .nan : sorted[sorted.count / 2]
        least = sorted.first ?? .nan
        greatest = sorted.last ?? .nan
    }

    func text(_ digits: Int) -> String {
        String(format: "%.\(digits)f (%.\(digits)f to %.\(digits)f)", median, least, greatest)
    }

    var json: String { String(format: "{\"median\":%.3f,\"min\":%.3f,\"max\":%.3f}", median, least, greatest) }
}

/// The output of figures, as aligned text or as JSON lines.
struct Report {
    let json: Bool

    /// Prints a figure, with the ratio to its baseline if there is one.
    ///
    /// - Parameters:
    ///   - name: The name of the measurement.
    ///   - unit: The unit of the values.
    ///   - values: The values, one for each round.
    ///   - baseline: The name and values of the baseline, which is compared round by round.
    ///   - bound: The expected maximum of the ratio.
    func figure(
        _ name: String, unit: String, _ values: [Double], baseline: (name: String, values: [Double])? = nil,
        bound: Double? = nil
    ) {
        let spread = Spread(values)
        let ratio = baseline.map { baseline in Spread(zip(values, baseline.values).map { $0 / $1 }) }
        if json {
            var line = "{\"name\":\"\(name)\",\"unit\":\"\(unit)\",\"value\":\(spread.json)"
            if let baseline, let ratio {
                line += ",\"baseline\":\"\(baseline.name)\",\"baseline_value\":\(Spread(baseline.values).json)"
                line += ",\"ratio\":\(ratio.json)"
            }
            if let bound { line += ",\"bound\":\(bound)" }
            print(line + "}")
            return
        }
        let digits = spread.median < 10 ? 2 : spread.median < 1000 ? 1 : 0
        var line = name.padding(toLength: 34, withPad: " ", startingAt: 0) + "\(spread.text(digits)) \(unit)"
        if let baseline, let ratio {
            line += "   \(baseline.name) \(Spread(baseline.values).text(digits))   ratio \(ratio.text(2))"
            if let bound { line += ratio.median <= bound ? "   within \(bound)" : "   OVER \(bound)" }
        }
        print(line)
    }

    /// Prints a heading, except in JSON output.
    func heading(_ text: String) { if !json { print("\n\(text)") } }
}

/// The execution of other programs.
enum PeerProgram {
    @discardableResult
    static func run(_ path: String, _ arguments: [String]) throws -> String {
        let result = try ChildProcess.run([path] + arguments, seconds: 3_600)
        guard result.status == 0 else {
            throw BenchmarkError(text: "\(path) ended with status \(result.status): \(result.errors)", code: 70)
        }
        return result.output
    }

    /// Returns the numeric value of a member in a line of JSON.
    static func number(_ member: String, in line: some StringProtocol) -> Double? {
        guard let start = line.range(of: "\"\(member)\":") else { return nil }
        return Double(line[start.upperBound...].prefix { "0123456789.eE+-".contains($0) })
    }
}

/// Returns the nanoseconds that a function takes.
func nanoseconds(_ work: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    try work()
    return (ContinuousClock.now - start) / .nanoseconds(1)
}

/// Returns the bytes of a file.
func contents(of path: String) throws -> [UInt8] {
    guard let data = FileManager.default.contents(atPath: path) else {
        throw BenchmarkError(text: "\(path) cannot be read: run from the checkout, or pass another path", code: 78)
    }
    return [UInt8](data)
}

/// Prints a line to standard output at once, also into a file.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

/// Prints a line to standard error.
func note(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }

/// Returns the counts as text, the greatest first.
func text(of counts: [String: Int]) -> String {
    counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
}

/// The bounds of the benchmark `console`.
///
/// The guide of the console states them for 1,000,000 decisions and 10,000 routes. With fewer decisions, the bound of
/// the memory is lower.
struct ConsoleBounds {
    /// The time until a console shows rows, in seconds.
    let firstRows = 3.0
    /// The growth of the memory while decisions arrive, in MB.
    let growth = 10.0
    /// The memory of the process with all rows, in MB.
    let memory: Double
    /// The median of the time of a page with any filter, or of a chart, in milliseconds.
    let page = 200.0
    /// The median of the time of an answer about a link, a matrix, or a route, in milliseconds.
    let answer = 250.0
    /// The time of the map, in milliseconds.
    let map = 1000.0
    /// The time of a comparison, in seconds.
    let comparison = 25.0

    /// Creates the bounds for a number of decisions.
    init(rows: Int) { memory = 100 + 100 * min(1, Double(rows) / 1_000_000) }
}

/// Figures of a benchmark, some with bounds.
struct BoundedFigures {
    /// The number of figures beyond their bounds.
    private(set) var exceeded = 0

    /// Prints the median of values, and if there are several, their 95th percentile and maximum.
    ///
    /// - Parameters:
    ///   - name: The name of the figure.
    ///   - values: The values.
    ///   - unit: The unit of the values.
    ///   - bound: The bound of the median.
    mutating func figure(_ name: String, _ values: [Double], unit: String, bound: Double? = nil) {
        let sorted = values.sorted()
        let median = Spread(values).median
        var line = name.padding(toLength: 52, withPad: " ", startingAt: 0) + String(format: "%9.1f %@", median, unit)
        if let last = sorted.last, sorted.count > 1 {
            line += String(format: ", 95 %% within %.1f, at most %.1f", sorted[(sorted.count * 95 - 1) / 100], last)
        }
        if let bound {
            // A value that is not a number is beyond each bound.
            let isWithin = median <= bound
            line += String(format: isWithin ? "   within %.0f" : "   BEYOND %.0f", bound)
            if !isWithin { exceeded += 1 }
        }
        say(line)
    }

    /// Prints a failure.
    mutating func fail(_ text: String) {
        exceeded += 1
        say("FAILED: \(text)")
    }
}
