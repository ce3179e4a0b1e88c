internal import RouteTools

/// The lines of the entries of all inputs.
///
/// Entries are numbered from 1 over all inputs in their order. Blank lines and headers have no number.
struct LineMap {
    /// The limit of runs of lines without a gap, after which entries have no known line.
    static let limit = 1_000_000
    /// The limit of ranges in a text.
    private static let rangesInText = 500

    private struct Run {
        var entry: Int
        var file: Int
        var line: Int
    }

    /// A range of lines of a file.
    struct Lines: Equatable {
        /// The name of the file.
        var file: String
        /// The first and the last line.
        var lines: ClosedRange<Int>
    }

    private var files: [String] = []
    private var runs: [Run] = []
    private var last = Run(entry: 0, file: -1, line: 0)
    private var isComplete = true

    /// Begins the next file.
    mutating func begin(_ file: String) { files.append(file) }

    /// Adds the next entry of the current file.
    mutating func add(line: Int) {
        let file = files.count - 1
        let isNext = last.file == file && line == last.line + 1
        last = Run(entry: last.entry + 1, file: file, line: line)
        if isNext { return }
        isComplete = isComplete && runs.count < Self.limit
        if isComplete { runs.append(last) }
    }

    /// Removes the last entry, which is to be read again by the next run.
    mutating func removeLast() {
        last.entry -= 1
        last.line -= 1
        guard let run = runs.last, run.entry > last.entry else { return }
        runs.removeLast()
        last.file = -1
    }

    /// The number of entries.
    var count: Int { last.entry }

    /// Returns the lines of a range of entries, or nil if they are not known.
    func lines(of entries: ClosedRange<Int>) -> [Lines]? {
        guard isComplete, entries.lowerBound >= 1, entries.upperBound <= count else { return nil }
        var result: [Lines] = []
        var entry = entries.lowerBound
        var index = run(of: entry)
        while entry <= entries.upperBound {
            let end = index + 1 < runs.count ? runs[index + 1].entry - 1 : count
            let to = min(end, entries.upperBound)
            let delta = runs[index].line - runs[index].entry
            result.append(Lines(file: files[runs[index].file], lines: entry + delta...to + delta))
            entry = to + 1
            index += 1
        }
        return result
    }

    /// Returns a text such as `a.jsonl, lines 12-40, 77`, with at most 500 ranges.
    func text(of entries: [ClosedRange<Int>]) -> String {
        var known: [Lines] = []
        for range in entries {
            guard let lines = lines(of: range) else { return Self.text("entries", entries, count: 0) }
            known += lines
        }
        var parts: [String] = []
        var rest = known[...]
        while let first = rest.first, known.count - rest.count < Self.rangesInText {
            let ranges = rest.prefix { $0.file == first.file }.map(\.lines)
            let isOne = ranges.count == 1 && ranges[0].count == 1
            let noun = Escaping.visible(first.file) + (isOne ? ", line" : ", lines")
            parts.append(Self.text(noun, ranges, count: known.count - rest.count))
            rest = rest.dropFirst(ranges.count)
        }
        return parts.joined(separator: "; ")
    }

    /// Returns a noun and ranges, of which those above the limit are counted.
    ///
    /// - Parameter count: The number of ranges in the text so far.
    private static func text(_ noun: String, _ ranges: [ClosedRange<Int>], count: Int) -> String {
        let shown = ranges.prefix(rangesInText - count).map(text).joined(separator: ", ")
        let rest = ranges.count - (rangesInText - count)
        return "\(noun) \(shown)" + (rest > 0 ? ", and \(Counts.text(rest, "range")) more" : "")
    }

    private static func text(_ range: ClosedRange<Int>) -> String {
        range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound)-\(range.upperBound)"
    }

    /// Returns the index of the last run that begins at the entry or before it.
    private func run(of entry: Int) -> Int {
        var low = 0
        var high = runs.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if runs[middle].entry <= entry { low = middle } else { high = middle }
        }
        return low
    }
}
