internal import ByteStorage
internal import LinkCoordinator
internal import LinkIngest

/// The candidate's side of a lane's processor: its resolvers, the comparison, and the counts of the open transaction.
///
/// The counts of a record are kept apart until the next one, because a record that is a dead letter counts nothing.
/// Those of a transaction are added to the totals when it is committed.
final class CanaryRun {
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
    private var record: (decided: UInt64, compared: UInt64, differences: [CanaryTotals.Route]) = (0, 0, [])
    /// The counts of the records before it in the open transaction.
    private var uncommitted: CanaryTotals
    private var total: CanaryTotals

    /// Creates the candidate's side.
    ///
    /// `decisionLimit` is the maximum size of a decision in bytes.
    init(_ plan: CanaryPlan, decisionLimit: Int) {
        self.plan = plan
        self.decisionLimit = decisionLimit
        (uncommitted, total) = (plan.totals, plan.totals)
        resolvers = .allocate(capacity: RequestRoot.maxCount)
        views = .allocate(capacity: RequestRoot.maxCount)
    }

    deinit {
        resolvers.deinitialize(count: resolverCount)
        resolvers.deallocate()
        views.deallocate()
    }

    /// Uses a newer plan.
    ///
    /// The totals begin at zero if it has another candidate or another served table.
    func use(_ plan: CanaryPlan) {
        self.plan = plan
        if total.hasTables(of: plan.totals) { return }
        withdraw()
        (uncommitted, total) = (plan.totals, plan.totals)
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
        _ number: Int, _ reader: inout EventReader, isOver: Bool, head: UnsafePointer<DecisionHead>?,
        into out: inout OutputArena
    ) throws(ReadingFailure) -> DecisionSummary {
        record.decided &+= 1
        return try resolve(number, &reader, isOver: isOver, head: head, into: &out)
    }

    /// Compares the served table's decision for the selected device with the candidate's.
    func compare(
        _ decision: ByteView, _ number: Int, _ reader: inout EventReader, head: UnsafePointer<DecisionHead>?
    ) {
        record.compared &+= 1
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
        let witness = head.map { "\($0.pointee.source.string)-\($0.pointee.index)" } ?? ""
        record.differences.append(
            CanaryTotals.Route(name: text.route ?? CanaryTotals.withoutRoute, count: 1, witness: witness))
    }

    private func resolve(
        _ number: Int, _ reader: inout EventReader, isOver: Bool, head: UnsafePointer<DecisionHead>?,
        into out: inout OutputArena
    ) throws(ReadingFailure) -> DecisionSummary {
        #if DEBUG
        if let head { TestCrash.crashInCandidate(at: head.pointee.source) }
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

    // MARK: Counts

    /// Begins a record, and counts the one before for the open transaction.
    func beginRecord() {
        uncommitted.decided &+= record.decided
        uncommitted.compared &+= record.compared
        for route in record.differences { uncommitted.countDifferences(of: route) }
        withdraw()
    }

    /// Removes the counts of the last record.
    func withdraw() {
        record.decided = 0
        record.compared = 0
        if !record.differences.isEmpty { record.differences.removeAll(keepingCapacity: true) }
    }

    /// Ends the transaction, and returns the totals of all committed ones.
    func ended(isCommitted: Bool) -> CanaryTotals {
        beginRecord()
        if isCommitted { total.add(uncommitted) }
        uncommitted = plan.totals
        return total
    }
}
