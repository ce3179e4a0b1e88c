package import KafkaClient

// The unmet needs of a lane, for the watchdog.
extension LaneMachine {
    /// The needs that the library did not meet in time and that still exist.
    ///
    /// They are derived from the lane's next actions. A need ends when its last cause ends, such as a partition that is
    /// revoked or a member that leaves.
    package var needs: [ClientNeed] { unanswered.isEmpty ? [] : ClientNeed.allCases.filter(isUnmet) }

    private func isUnmet(_ need: ClientNeed) -> Bool { unanswered.contains(need) && isNeeded(need) }

    private func isNeeded(_ need: ClientNeed) -> Bool {
        guard isMember, exit == nil else { return false }
        switch need {
        case .committedOffsets:
            if case .fetchingCommitted = callback { return true }
            return !isDraining && partitions.slots.contains { $0.positionState == .stale }
        case .committing: if case .committingOffsets = transaction { return true } else { return false }
        case .membership: return !isDraining
        }
    }

    /// Records that a request of this kind was answered in time, or that it was not.
    mutating func recordRequest(_ need: ClientNeed, isAnswered: Bool) {
        if isAnswered { unanswered.remove(need) } else { unanswered.insert(need) }
    }

    /// Removes needs that no longer exist, so that a later one counts as a new need.
    mutating func removeObsoleteNeeds() {
        if !unanswered.isEmpty { unanswered.formIntersection(needs) }
    }

    /// Updates the needs after a failed call.
    ///
    /// An error that arrives in time is an answer.
    mutating func recordNeed(_ call: LaneCall, _ error: KafkaError) {
        switch call {
        case .fetchCommitted: recordRequest(.committedOffsets, isAnswered: error.code != .timedOut)
        case .commitOffsets: recordRequest(.committing, isAnswered: error.code != .timedOut)
        default: break
        }
    }
}
