internal import ByteStorage
internal import LinkDecider
internal import LinkIngest
internal import StrictJSON

/// A record for which configurations are compared.
struct BisectSubject {
    /// The record of the event.
    var record: InspectedRecord
    /// The place of the decision.
    var place: DecisionPlace
    /// The time to which the expiry of the event is compared, in milliseconds since 1970, or -1 for none.
    var time: Int64 = -1
    /// The facts that the registry had about the device, or nil for no registry.
    var devices: (any KnownDevices)?

    /// The members of a decision that do not say what opens.
    private static let ignored: Set<String> = [
        "decision", "supersedes", "event", "device", "user", "application", "table", "variant", "via", "context",
        "facts", "notes",
    ]

    /// Returns the result of a configuration.
    func result(_ configuration: DeciderConfiguration) -> BisectResult {
        var decider = Decider(configuration, devices: devices)
        (decider.onlyItem, decider.onlyDevice) = (place.item, place.index)
        return record.withViews { record in
            var arena = OutputArena(chunkBytes: 1 << 16)
            var made: [UInt8]?
            let cause = decider.decide(
                value: record.value ?? .empty, key: record.key, headers: record.headers, time: time, into: &arena
            ) { _, decision, _ in
                made = decision.array
            }
            if let cause { return BisectResult(decision: nil, essence: "dead letter \(cause.reason.rawValue)") }
            guard let made else { return BisectResult(decision: nil, essence: "no decision") }
            return BisectResult(decision: made, essence: Self.essence(made))
        }
    }

    /// Returns the part of a decision that says what opens.
    static func essence(_ decision: [UInt8]) -> String {
        let json = try? JSONValue.parse(decision, maxDepth: DecisionTape.depth)
        return JSONValue(.object((json?.object ?? []).filter { !ignored.contains($0.name) })).text
    }
}

/// The result of one configuration for a record.
struct BisectResult: Equatable {
    /// The decision in JSON, or nil for a dead letter.
    var decision: [UInt8]?
    /// The part of the decision that says what opens.
    var essence: String

    static func == (a: BisectResult, b: BisectResult) -> Bool { a.essence == b.essence }
}

/// A decision about which `linkd bisect` is asked.
struct BisectDecision {
    var result: BisectResult
    /// The time of the decision's record, in milliseconds since 1970.
    var time: Int64
    /// The hash of the configuration that gives its bytes, or nil if none of the archive does.
    var configuration: String?
}

/// The search for the changes of what opens for a record, over all configurations of an archive.
struct BisectSearch {
    /// The beginning of the use of a configuration.
    struct Step {
        /// The time at which it went live, in milliseconds since 1970.
        var time: Int64
        var entry: ConfigurationArchive.Entry
        var result: BisectResult
    }

    /// A step with another result than the step before it.
    struct Change {
        var before: Step
        var after: Step
        /// The edits that together cause the change.
        ///
        /// If `isProved` is true, the change needs each of them.
        var edits: [ConfigurationEdits.Edit]
        /// A Boolean value that indicates whether the edits alone were shown to cause the change.
        var isProved: Bool
    }

    /// The limit of configurations that are tried to find the edits of one change.
    private static let maxTries = 2_000

    private var reader: ArchiveReader
    private let subject: BisectSubject
    /// The uses in the order of their beginnings, without configurations that cannot be used.
    private(set) var steps: [Step] = []
    /// The reasons why configurations cannot be used.
    private(set) var problems: [String] = []

    /// Evaluates all configurations that workers have used.
    init(
        _ reader: ArchiveReader, _ subject: BisectSubject, progress: (_ done: Int, _ all: Int) -> Void = { _, _ in }
    ) throws(CommandFailure) {
        self.reader = reader
        self.subject = subject
        let entries = reader.archive.entries.filter { $0.uses.contains { $0.program == .worker } }
        try self.reader.fetch(entries.map(\.configuration))
        for (index, entry) in entries.enumerated() {
            progress(index, entries.count)
            do throws(CommandFailure) {
                let result = subject.result(try self.reader.load(entry).decider)
                for use in entry.uses where use.program == .worker {
                    steps.append(Step(time: use.first, entry: entry, result: result))
                }
            } catch {
                guard error.code == .badData else { throw error }
                problems.append(error.reason)
            }
        }
        for hash in reader.archive.damaged.keys.sorted() {
            problems.append("the configuration \(hash.prefix(8)) is damaged: its document is missing in the archive")
        }
        steps.sort { ($0.time, $0.entry.hash) < ($1.time, $1.entry.hash) }
    }

    /// Returns the changes in the order of their times.
    mutating func changes() throws(CommandFailure) -> [Change] {
        var result: [Change] = []
        for (before, after) in zip(steps, steps.dropFirst()) where before.result != after.result {
            result.append(try change(before, after))
        }
        return result
    }

    private mutating func change(_ before: Step, _ after: Step) throws(CommandFailure) -> Change {
        let (first, second) = (try reader.load(before.entry), try reader.load(after.entry))
        let edits = ConfigurationEdits(
            from: ConfigurationDocuments(first, reader), to: ConfigurationDocuments(second, reader))
        let subject = subject
        var tries = 0
        let found = Self.minimal(Array(edits.list.indices)) { chosen in
            tries += 1
            guard tries <= Self.maxTries else { return false }
            return edits.decider(with: Set(chosen)).map { subject.result($0) == after.result } ?? false
        }
        return Change(
            before: before, after: after, edits: (found ?? Array(edits.list.indices)).map { edits.list[$0] },
            isProved: found != nil && tries <= Self.maxTries)
    }

    /// Returns a part of a list that passes a test and needs each of its elements to pass it, or nil if the list does
    /// not pass it.
    ///
    /// The list is cut into more and more pieces, and each piece, or everything but a piece, takes its place if it
    /// passes: the algorithm ddmin of Zeller and Hildebrandt.
    static func minimal(_ list: [Int], _ passes: ([Int]) -> Bool) -> [Int]? {
        guard passes(list) else { return nil }
        var rest = list
        var pieces = 2
        while rest.count > 1 {
            let size = (rest.count + pieces - 1) / pieces
            let parts = stride(from: 0, to: rest.count, by: size).map { Array(rest[$0..<min(rest.count, $0 + size)]) }
            if let part = parts.first(where: passes) {
                (rest, pieces) = (part, 2)
                continue
            }
            let others = parts.lazy.map { part in rest.filter { !part.contains($0) } }
            if parts.count > 2, let other = others.first(where: { !$0.isEmpty && passes($0) }) {
                (rest, pieces) = (other, max(2, pieces - 1))
                continue
            }
            if pieces >= rest.count { break }
            pieces = min(rest.count, pieces * 2)
        }
        return rest
    }
}
