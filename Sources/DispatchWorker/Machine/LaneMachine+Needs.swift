package import KafkaClient

// Needs of a lane that are not met, for the watch over the client library.
extension LaneMachine {
    /// Things that the lane asked for and was not told in time, and still asks for.
    ///
    /// It follows from what the lane is about to do, so that a need ends with the last one who had it: a partition that
    /// was given away, a member that leaves.
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

    /// A question of this kind was answered, or not in its time.
    mutating func asked(_ need: ClientNeed, isAnswered: Bool) {
        if isAnswered { unanswered.remove(need) } else { unanswered.insert(need) }
    }

    /// Forgets the questions that nobody asks any more: the next one begins anew.
    mutating func forgetNeeds() {
        if !unanswered.isEmpty { unanswered.formIntersection(needs) }
    }

    /// Notes what a failed call says of a need; an error that came in time is an answer.
    mutating func noteNeed(_ call: LaneCall, _ error: KafkaError) {
        switch call {
        case .fetchCommitted: asked(.committedOffsets, isAnswered: error.code != .timedOut)
        case .storeOffsets: asked(.committing, isAnswered: error.code != .timedOut)
        default: break
        }
    }
}
