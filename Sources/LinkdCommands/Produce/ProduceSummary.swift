internal import ByteStorage
internal import KafkaClient
internal import RouteTools
internal import StrictJSON

/// The result of `linkd produce`.
struct ProduceSummary {
    /// A Boolean value that indicates whether nothing was sent on purpose.
    var isDryRun = false
    /// The number of entries, without skipped ones.
    var read = 0
    /// The number of entries that `--skip` has skipped.
    var skipped = 0
    /// The number of records that were passed to the client, or that would be sent in a dry run.
    var sent = 0
    /// The number of records that a broker has acknowledged.
    var delivered = 0
    /// The number of records that are certainly not stored.
    var failed = 0
    /// The number of records that a broker can have stored although no answer says so.
    var possiblyStored = 0
    /// The number of lines that could not be read and were not sent.
    var unreadable = 0
    /// The number of events that `--check` has rejected.
    var rejected = 0
    /// The number of records without a key, whose order is not kept.
    var withoutKey = 0
    /// The number of sent records that delete a device, or nil for events.
    var deleted: Int?
    /// The number of the entry at which the next run goes on, from 1.
    var next = 1
    /// The duration in seconds.
    var seconds = 0.0
    /// The entries before `next` that are certainly not stored.
    var notStoredEntries: [ClosedRange<Int>] = []
    /// The entries that a broker can have stored although no answer says so.
    var possiblyStoredEntries: [ClosedRange<Int>] = []
    /// The number of decisions by outcome and reason, with `--check`.
    var outcomes: [LinkCheck.Count]?

    /// The summary as one line of JSON.
    var json: String {
        return JSONText.object { json in
            json.number("read", Int64(read))
            json.number("skipped", Int64(skipped))
            if isDryRun {
                json.number("would_send", Int64(sent))
            } else {
                json.number("sent", Int64(sent))
                json.number("delivered", Int64(delivered))
                json.number("failed", Int64(failed))
                json.number("possibly_stored", Int64(possiblyStored))
            }
            json.number("unreadable", Int64(unreadable))
            json.number("rejected", Int64(rejected))
            if let deleted { json.number("deleted", Int64(deleted)) }
            json.number("without_key", Int64(withoutKey))
            json.number("next", Int64(next))
            json.decimal("seconds", seconds)
            if !isDryRun {
                json.matrix("not_stored_entries", notStoredEntries.map { [$0.lowerBound, $0.upperBound] })
                json.matrix("possibly_stored_entries", possiblyStoredEntries.map { [$0.lowerBound, $0.upperBound] })
            }
            if let outcomes {
                json.objects("outcomes", of: outcomes) { json, item in
                    json.text("outcome", item.outcome)
                    json.text("reason", item.reason)
                    json.number("count", Int64(item.count))
                }
            }
        }
    }

    /// The summary for people, in which some counts are missing if they are zero.
    var text: String {
        var parts = ["read \(read)"]
        if skipped > 0 { parts.append("skipped \(skipped)") }
        if isDryRun {
            parts.append("would send \(sent)")
        } else {
            parts += ["sent \(sent)", "delivered \(delivered)", "failed \(failed)"]
            if possiblyStored > 0 { parts.append("possibly stored \(possiblyStored)") }
        }
        parts.append("unreadable \(unreadable)")
        if rejected > 0 { parts.append("rejected \(rejected)") }
        parts.append(deleted.map { "deleted \($0)" } ?? "without key \(withoutKey)")
        return parts.joined(separator: ", ") + ", in \(Decimals.text(seconds)) s"
    }
}

/// The entries that a run of `linkd produce` did not store, and the entry at which the next run goes on.
struct ProduceOutcome: Equatable {
    /// The number of entries for `--skip`, so that the next run sends no entry that is stored or possibly stored.
    var skip: Int
    /// The entries before the next run's that are certainly not stored.
    var notStored: [ClosedRange<Int>] = []
    /// The entries that a broker can have stored although no answer says so.
    var possiblyStored: [ClosedRange<Int>] = []
    /// The number of records that are certainly not stored.
    var notStoredCount = 0
    /// The number of records that a broker can have stored although no answer says so.
    var possiblyStoredCount = 0

    /// Creates the outcome of a run.
    ///
    /// The next run goes on after the last entry that is stored or possibly stored, if no later one is stored. An entry
    /// that a broker refused because of the entry itself, such as its size, is not tried again.
    ///
    /// - Parameters:
    ///   - read: The number of entries, including skipped ones.
    ///   - requested: The number of entries to skip. A signal can come before all of them are read.
    ///   - lastDelivered: The number of the last stored entry, or 0.
    ///   - undelivered: The records without an acknowledgment.
    init(read: Int, skip requested: Int = 0, lastDelivered: Int, undelivered: [UndeliveredRecord]) {
        let unknown = undelivered.filter(\.mayBeStored).map { Int($0.number) }.sorted()
        let missing = undelivered.filter { !$0.mayBeStored }.sorted { $0.number < $1.number }
        let stored = max(lastDelivered, unknown.last ?? 0)
        let next = missing.first { Int($0.number) > stored && !$0.code.isRecordLevel }
        skip = next.map { Int($0.number) - 1 } ?? max(read, requested)
        let before = missing.map { Int($0.number) }.filter { $0 <= skip }
        notStored = before.reduce(into: []) { $0.extend(to: $1) }
        possiblyStored = unknown.reduce(into: []) { $0.extend(to: $1) }
        notStoredCount = missing.count
        possiblyStoredCount = unknown.count
    }

    /// Returns the number of records of `limit` that the next run sends, if this run has passed `sent` to the client.
    ///
    /// The records of the listed entries are not among them.
    func rest(of limit: Int, sent: Int) -> Int {
        let again = notStoredCount - notStored.reduce(0) { $0 + $1.count }
        return max(0, limit - (sent - again))
    }
}

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

    /// Returns a noun and ranges, with only the number of the ranges above the limit.
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

extension [ClosedRange<Int>] {
    /// Adds a number that is larger than all others.
    mutating func extend(to number: Int) {
        if let last, last.upperBound + 1 == number {
            self[count - 1] = last.lowerBound...number
        } else {
            append(number...number)
        }
    }
}

/// Ranges of the numbers of entries, which are added in ascending order.
struct EntryRanges {
    /// The limit of ranges, beyond which entries are only counted.
    static let limit = 500

    private(set) var ranges: [ClosedRange<Int>] = []
    /// The number of entries.
    private(set) var count = 0
    /// The number of entries that are only counted.
    private(set) var uncounted = 0

    /// Adds an entry.
    mutating func add(_ entry: Int) {
        count += 1
        if uncounted == 0, ranges.count < Self.limit || ranges.last?.upperBound == entry - 1 {
            ranges.extend(to: entry)
        } else {
            uncounted += 1
        }
    }
}

/// The file of `--rejects`: the bad lines of the inputs as they were, to be corrected and sent.
///
/// Lines of another header are in another file, such as `bad.csv.2`, or the next number whose file does not exist.
final class RejectFile {
    private let path: String
    private var descriptor: Int32
    private var preamble: [UInt8]?
    private var buffer: [UInt8] = []
    /// The files with lines, in order.
    private(set) var files: [String] = []
    /// The number of lines that are too long for a file.
    private(set) var omitted = 0

    /// Creates the file.
    ///
    /// A file that exists is never changed, and ends with exit code 64.
    init(_ path: String) throws(CommandFailure) {
        self.path = path
        descriptor = try Self.create(path)
    }

    deinit {
        if descriptor >= 0 { Platform.close(descriptor) }
    }

    private static func create(_ path: String) throws(CommandFailure) -> Int32 {
        guard !Platform.exists(path), path != "-" else {
            throw CommandFailure(
                .usage, "--rejects: \(Escaping.visible(path)) \(path == "-" ? "is not a file" : "exists")",
                advice: "name a file that does not exist, because its lines would be lost")
        }
        switch Platform.createFile(path) {
        case .success(let descriptor): return descriptor
        case .failure(let error): throw failure(path, error)
        }
    }

    private static func failure(_ path: String, _ error: SystemError) -> CommandFailure {
        CommandFailure(
            .configuration, "--rejects: \(Escaping.visible(path)) cannot be written: \(error.text)",
            advice: "name a file in a directory that this user can write to and that has space")
    }

    /// Writes a bad line, after the lines that the reader of its input needs first.
    func write(_ line: ByteView, preamble: [UInt8]) throws(CommandFailure) {
        guard line.count <= EventInput.limit else {
            omitted += 1
            return
        }
        if self.preamble != preamble {
            var name = path
            if self.preamble != nil {
                try flush()
                Platform.close(descriptor)
                descriptor = -1
                // A file of an earlier command keeps its name.
                var number = files.count + 1
                while Platform.exists("\(path).\(number)") { number += 1 }
                name = "\(path).\(number)"
                descriptor = try Self.create(name)
            }
            files.append(name)
            self.preamble = preamble
            buffer += preamble
        }
        buffer.append(contentsOf: line.buffer)
        buffer.append(UInt8(ascii: "\n"))
        if buffer.count >= 1 << 16 { try flush() }
    }

    /// Writes what is buffered.
    private func flush() throws(CommandFailure) {
        guard !buffer.isEmpty, descriptor >= 0 else { return }
        let isWritten = buffer.withUnsafeBytes { Platform.write(descriptor, $0) }
        buffer.removeAll(keepingCapacity: buffer.count <= 1 << 20)
        guard isWritten else { throw Self.failure(files.last ?? path, SystemError.last) }
    }

    /// Ends the last file, and removes it if it has no line.
    func finish() throws(CommandFailure) {
        try flush()
        if descriptor >= 0 { Platform.close(descriptor) }
        descriptor = -1
        if files.isEmpty { Platform.remove(path) }
    }
}
