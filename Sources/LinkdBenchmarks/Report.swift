internal import Foundation

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
enum Program {
    static func run(_ path: String, _ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw BenchmarkError(text: "\(path) ended with status \(process.terminationStatus)", code: 70)
        }
        return String(decoding: data, as: UTF8.self)
    }

    /// Returns the numeric value of a member in a line of JSON.
    static func number(_ member: String, in line: some StringProtocol) -> Double? {
        guard let start = line.range(of: "\"\(member)\":") else { return nil }
        return Double(line[start.upperBound...].prefix { "0123456789.eE+-".contains($0) })
    }
}

/// Returns the nanoseconds that a function takes.
func nanoseconds(_ work: () throws -> Void) rethrows -> Double {
    let clock = ContinuousClock()
    let start = clock.now
    try work()
    let time = clock.now - start
    return Double(time.components.seconds) * 1e9 + Double(time.components.attoseconds) / 1e9
}
