package import KafkaClient

// The unmet needs of a lane, for the watchdog.
extension LaneMachine {
    /// The needs that the library did not meet in time and that still exist.
    ///
    /// They are derived from the lane's next actions. A need ends when its last cause ends, such as a partition that is
    /// revoked or a member that leaves.
    package var needs: [ClientNeed] { unanswered.isEmpty ? [] : ClientNeed.allCases.filter(isLacking) }

    private func isLacking(_ need: ClientNeed) -> Bool { unanswered.contains(need) && isAsking(for: need) }

    private func isAsking(for need: ClientNeed) -> Bool {
        guard isMember, fate == nil else { return false }
        switch need {
        case .committedOffsets:
            if case .locating = callback { return true }
            return !isDraining && partitions.slots.contains { $0.place == .stale }
        case .committing: if case .storing = transaction { return true } else { return false }
        case .membership: return !isDraining
        }
    }

    /// Records whether a request of this kind was answered in time.
    mutating func asked(_ need: ClientNeed, isAnswered: Bool) {
        if isAnswered { unanswered.remove(need) } else { unanswered.insert(need) }
    }

    /// Removes needs that no longer exist, so that a later one starts anew.
    mutating func forgetNeeds() {
        if !unanswered.isEmpty { unanswered.formIntersection(needs) }
    }

    /// Updates the needs after a failed call.
    ///
    /// An error that arrives in time is an answer.
    mutating func noteNeed(_ call: LaneCall, _ error: KafkaError) {
        switch call {
        case .fetchCommitted: asked(.committedOffsets, isAnswered: error.code != .timedOut)
        case .storeOffsets: asked(.committing, isAnswered: error.code != .timedOut)
        default: break
        }
    }
}
