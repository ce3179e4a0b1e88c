internal import Foundation

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

/// Figures of a benchmark, of which some have bounds.
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
        ConsoleTail.say(line)
    }

    /// Prints a failure.
    mutating func fail(_ text: String) {
        exceeded += 1
        ConsoleTail.say("FAILED: \(text)")
    }
}
