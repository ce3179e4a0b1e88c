internal import ByteStorage
package import LinkCoordinator
internal import LinkIngest

/// The candidate's decisions for one record.
package struct CandidateCounts: Sendable {
    /// A decision of the candidate that differs from the one of the served table.
    package struct Difference: Sendable {
        /// The route of the served table's decision, or nil if it has none.
        package let route: String?
        /// The position: `topic-partition-offset-index`.
        package let position: String
    }

    /// The number of decisions that the candidate made.
    package var decided: UInt64 = 0
    /// The number of decisions that were compared.
    package var compared: UInt64 = 0
    /// The compared decisions that differ.
    package var differences: [Difference] = []
}

/// The candidate's side of a decider: its resolvers, the comparison, and the counts of the last record.
final class CandidateRun {
    /// The candidate's reading of a view of the request.
    private struct View: BitwiseCopyable {
        /// The opening of the message without a link at the pointers of the served table, or nil if no link of a link
        /// platform can be at a pointer.
        var opening: MessageOpening?
        /// A Boolean value that indicates whether the candidate has resolved the request for a device.
        var isResolved: Bool
    }

    private var plan: CanaryPlan
    private let decisionLimit: Int
    private var hash = SHA256()
    private let resolvers: UnsafeMutablePointer<Resolver>
    private var resolverCount = 0
    private let views: UnsafeMutablePointer<View>
    private var arena = OutputArena(chunkBytes: 16 << 10)
    /// The counts of the last record.
    var counts = CandidateCounts()

    /// Creates the candidate's side.
    ///
    /// `decisionLimit` is the maximum size of a decision in bytes.
    init(_ plan: CanaryPlan, decisionLimit: Int) {
        self.plan = plan
        self.decisionLimit = decisionLimit
        resolvers = .allocate(capacity: RequestRoot.maxCount)
        views = .allocate(capacity: RequestRoot.maxCount)
    }

    deinit {
        resolvers.deinitialize(count: resolverCount)
        resolvers.deallocate()
        views.deallocate()
    }

    /// Uses a newer plan.
    func use(_ plan: CanaryPlan) { self.plan = plan }

    /// Returns the counts of the last record, which are then zero.
    func takeCounts() -> CandidateCounts {
        defer { clearCounts() }
        return counts
    }

    /// Forgets the counts of the last record.
    func clearCounts() {
        counts.decided = 0
        counts.compared = 0
        if !counts.differences.isEmpty { counts.differences.removeAll(keepingCapacity: true) }
    }

    // MARK: Decisions

    /// Returns the part of the canary for a device whose table was chosen.
    func part(of device: ByteView, table: TableHandle?) -> CanaryPlan.Part {
        table == plan.base.compiled.handle ? plan.part(of: device, using: &hash) : .served
    }

    /// Begins a view of the request.
    func beginView(_ number: Int, opening: MessageOpening?) {
        while resolverCount <= number {
            (resolvers + resolverCount).initialize(to: Resolver())
            resolverCount += 1
        }
        views[number] = View(opening: opening, isResolved: false)
    }

    /// Decides with the candidate for the selected device.
    func decide(
        _ number: Int, _ reader: inout EventReader, isOver: Bool, head: UnsafePointer<DecisionHead>,
        into out: inout OutputArena
    ) throws(ReadingFailure) -> DecisionSummary {
        counts.decided &+= 1
        return try resolve(number, &reader, isOver: isOver, head: head, into: &out)
    }

    /// Compares the served table's decision for the selected device with the candidate's.
    func compare(
        _ decision: ByteView, _ number: Int, _ reader: inout EventReader, head: UnsafePointer<DecisionHead>
    ) {
        counts.compared &+= 1
        arena.reset()
        arena.recordLimit = decisionLimit
        arena.begin()
        let summary = try? resolve(number, &reader, isOver: false, head: head, into: &arena)
        let text = DecisionText(decision)
        // A decision that cannot be produced is a difference.
        if let summary, summary.reason != .internalError, !arena.overflowed,
            text.isSame(as: DecisionText(arena.finish()))
        {
            return
        }
        counts.differences.append(
            CandidateCounts.Difference(
                route: text.route, position: "\(head.pointee.source.string)-\(head.pointee.index)"))
    }

    private func resolve(
        _ number: Int, _ reader: inout EventReader, isOver: Bool, head: UnsafePointer<DecisionHead>,
        into out: inout OutputArena
    ) throws(ReadingFailure) -> DecisionSummary {
        #if DEBUG
        TestCrash.crashInCandidate(at: head.pointee.source)
        #endif
        let request = UnsafePointer(reader.eventPointer.pointer(to: \.request).unsafelyUnwrapped)
        let facts = UnsafePointer(reader.devicePointer.pointer(to: \.facts).unsafelyUnwrapped)
        let table = plan.candidate.compiled.handle
        if isOver { return resolvers[number].expire(request, facts, table: table, head: head, into: &out) }
        let isNext = views[number].isResolved
        views[number].isResolved = true
        guard let opening = views[number].opening else {
            return isNext
                ? resolvers[number].resolveNext(facts, head: head, into: &out)
                : resolvers[number].resolve(request, facts, table: table, head: head, into: &out)
        }
        // The request has the link at the pointers of the served table, which the candidate can have elsewhere.
        let served = reader.opening
        defer { reader.opening = served }
        reader.opening = opening
        if isNext { return resolvers[number].resolveNext(facts, head: head, into: &out) }
        let link = try resolvers[number].pointerLink(request, table: table, keepsReadings: false)
        if !link.isEmpty { reader.openLink(link) }
        views[number].opening = reader.opening
        return resolvers[number].resolve(request, facts, table: table, head: head, keepsReadings: true, into: &out)
    }
}

/// The encoded text of a decision, with the position of its member `table`.
///
/// `table` follows members whose values are strings, and `route` follows `table`.
struct DecisionText {
    private let text: ByteView
    /// The positions of the value of `table` with its quotation marks, or an empty range at the end without one.
    private let table: Range<Int>

    /// Finds the members of a decision.
    init(_ decision: ByteView) {
        text = decision
        table = Self.table(in: decision)
    }

    /// The id of the route, or nil if the decision has none.
    var route: String? {
        let member = ByteView(",\"route\":")
        let rest = text.dropFirst(table.upperBound)
        guard rest.count > member.count, rest.slice(0, member.count) == member,
            let end = Self.endOfString(in: rest, at: member.count)
        else { return nil }
        return rest.slice(member.count + 1, end - 1).string
    }

    /// Returns a Boolean value that indicates whether two decisions are equal apart from the table's name.
    func isSame(as other: DecisionText) -> Bool {
        text.slice(0, table.lowerBound) == other.text.slice(0, other.table.lowerBound)
            && text.dropFirst(table.upperBound) == other.text.dropFirst(other.table.upperBound)
    }

    private static func table(in text: ByteView) -> Range<Int> {
        let name = ByteView("\"table\"")
        var index = 1
        while let nameEnd = endOfString(in: text, at: index), let end = endOfString(in: text, at: nameEnd + 1) {
            if text.slice(index, nameEnd) == name { return nameEnd + 1..<end }
            index = end + 1
        }
        return text.count..<text.count
    }

    /// Returns the position after a string, or nil if there is none at `start`.
    private static func endOfString(in text: ByteView, at start: Int) -> Int? {
        guard start < text.count, text[start] == UInt8(ascii: "\"") else { return nil }
        var index = start + 1
        while index < text.count {
            switch text[index] {
            case UInt8(ascii: "\""): return index + 1
            case UInt8(ascii: "\\"): index += 2
            default: index += 1
            }
        }
        return nil
    }
}

/// A candidate for a served table, and the shares of devices for which it decides and is compared.
///
/// A hash of the device's id and the table's id decides to which share a device belongs. All workers therefore agree
/// without any state, and a device stays in its share while the percentage grows.
package struct CanaryPlan: Sendable {
    /// The part of a canary for a device.
    package enum Part: Sendable {
        /// The served table decides.
        case served
        /// The served table decides, and its decision is compared with the candidate's.
        case compared
        /// The candidate decides.
        case candidate
    }

    /// The number of buckets, which is 100 percent.
    package static let bucketCount = 10_000

    /// The served table with the candidate's id.
    package let base: RouteTable
    package let candidate: RouteTable
    /// The share of devices for which the candidate decides, in hundredths of a percent.
    package let percent: Int
    /// The share of the other devices that are compared, in hundredths of a percent.
    package let compare: Int

    /// The beginning of the hashed text: the table's id and a zero byte.
    private let prefix: [UInt8]

    /// Creates a plan.
    ///
    /// Both tables must have the same id.
    package init(base: RouteTable, candidate: RouteTable, percent: Int, compare: Int) {
        self.base = base
        self.candidate = candidate
        self.percent = percent
        self.compare = compare
        prefix = Self.prefix(ofTable: candidate.id)
    }

    /// Returns the part of the canary for a device.
    func part(of device: ByteView, using hash: inout SHA256) -> Part {
        if percent >= Self.bucketCount { return .candidate }
        if percent == 0 && compare == 0 { return .served }
        let buckets = Self.buckets(of: device, prefix: prefix, using: &hash)
        if buckets.decision < percent { return .candidate }
        return buckets.comparison < compare ? .compared : .served
    }

    /// Returns the buckets of a device, from 0 to 9,999: one for the decision, and one for the comparison.
    ///
    /// They are the first and the second eight bytes of the SHA-256 of the table's id, a zero byte, and the device's
    /// id.
    package static func buckets(of device: [UInt8], table: String) -> (decision: Int, comparison: Int) {
        var hash = SHA256()
        return device.withUnsafeBufferPointer {
            buckets(of: ByteView($0), prefix: prefix(ofTable: table), using: &hash)
        }
    }

    private static func prefix(ofTable id: String) -> [UInt8] { Array(id.utf8) + [0] }

    private static func buckets(
        of device: ByteView, prefix: [UInt8], using hash: inout SHA256
    ) -> (decision: Int, comparison: Int) {
        prefix.withUnsafeBufferPointer { hash.add(ByteView($0)) }
        hash.add(device)
        let words = hash.finish()
        func bucket(_ high: UInt32, _ low: UInt32) -> Int {
            Int((UInt64(high) << 32 | UInt64(low)) % UInt64(bucketCount))
        }
        return (bucket(words[0], words[1]), bucket(words[2], words[3]))
    }
}
