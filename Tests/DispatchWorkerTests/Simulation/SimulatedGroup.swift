@testable import KafkaClient

/// A consumer group.
///
/// With the eager protocol, all members give up their partitions before a new assignment. With the cooperative one,
/// only partitions that move are revoked.
struct SimulatedGroup {
    struct Member {
        var instance: String?
        var lastHeartbeat: UInt64
        var hasRejoined = false
        var assignment: [TopicPartition] = []
        /// The partitions that the member consumes, in a cooperative group.
        var holding: [TopicPartition] = []
        /// The time of the last poll.
        var lastPoll: UInt64
        /// The generation that the member has received.
        var knownGeneration = -1
    }

    var partitions: [TopicPartition] = []
    var isCooperative = false
    var generation = 0
    var isStable = false
    var members: [Int: Member] = [:]
    /// The members that another one with the same instance name has replaced.
    private(set) var fenced: Set<Int> = []
    /// The last member that was replaced, and the member that replaced it.
    private var replaced: (id: Int, member: Member, by: Int)?
    let sessionTimeout: UInt64 = 6_000_000_000
    let maxPollInterval: UInt64 = 60_000_000_000
    private var nextMember = 1

    /// Adds a member.
    ///
    /// A member with an instance name replaces its predecessor without a rebalance.
    mutating func join(instance: String?, now: UInt64) -> Int {
        let id = nextMember
        nextMember += 1
        if let instance, isStable, let old = members.first(where: { $0.value.instance == instance }) {
            members[old.key] = nil
            fenced.insert(old.key)
            replaced = (old.key, old.value, id)
            members[id] = Member(
                instance: instance, lastHeartbeat: now, assignment: old.value.assignment, lastPoll: now)
            return id
        }
        if let instance {
            let old = members.filter { $0.value.instance == instance }
            fenced.formUnion(old.keys)
            if let old = old.first { replaced = (old.key, old.value, id) }
            members = members.filter { $0.value.instance != instance }
        }
        members[id] = Member(instance: instance, lastHeartbeat: now, hasRejoined: true, lastPoll: now)
        rebalance(except: id)
        return id
    }

    /// Goes back to the last member that was replaced and fences the one that replaced it, as a coordinator does that
    /// could not write the replacement.
    ///
    /// Returns a Boolean value that indicates whether there was one.
    mutating func revert(now: UInt64) -> Bool {
        guard let replaced, members[replaced.by] != nil else { return false }
        members[replaced.by] = nil
        fenced.insert(replaced.by)
        fenced.remove(replaced.id)
        members[replaced.id] = replaced.member
        members[replaced.id]?.lastHeartbeat = now
        members[replaced.id]?.lastPoll = now
        self.replaced = nil
        rebalance(except: nil)
        return true
    }

    /// Returns the ids of the members that have an instance name.
    func holders(of instance: String?) -> [Int] {
        members.filter { $0.value.instance == instance }.keys.sorted()
    }

    mutating func leave(_ id: Int) {
        guard members[id] != nil else { return }
        members[id] = nil
        rebalance(except: nil)
    }

    mutating func heartbeat(_ id: Int, now: UInt64) { members[id]?.lastHeartbeat = now }

    mutating func expire(now: UInt64) {
        guard members.values.contains(where: { isGone($0, now) }) else { return }
        let gone = members.filter { isGone($0.value, now) }.keys
        for id in gone { members[id] = nil }
        if !gone.isEmpty { rebalance(except: nil) }
    }

    private func isGone(_ member: Member, _ now: UInt64) -> Bool {
        now - member.lastHeartbeat > sessionTimeout || now - member.lastPoll > maxPollInterval
    }

    mutating func polled(_ id: Int, now: UInt64) { members[id]?.lastPoll = now }

    /// Requires all members to join again.
    mutating func rebalance(except joined: Int?) {
        isStable = false
        if isCooperative {
            for id in members.keys { members[id]?.hasRejoined = true }
            completeIfReady()
            return
        }
        for (id, member) in members where id != joined { members[id]?.hasRejoined = member.assignment.isEmpty }
        completeIfReady()
    }

    /// Records that a member has given up its partitions.
    mutating func rejoin(_ id: Int) {
        members[id]?.hasRejoined = true
        members[id]?.assignment = []
        completeIfReady()
    }

    private mutating func completeIfReady() {
        guard !members.isEmpty, members.values.allSatisfy(\.hasRejoined) else { return }
        generation += 1
        isStable = true
        let ids = members.keys.sorted()
        for (index, id) in ids.enumerated() {
            let low = index * partitions.count / ids.count
            let high = (index + 1) * partitions.count / ids.count
            members[id]?.assignment = Array(partitions[low..<high])
            members[id]?.hasRejoined = false
        }
    }

    /// Returns the partitions that a member of a cooperative group must revoke, and those that it can be assigned
    /// because no other member holds them.
    func moves(of id: Int, holding: [TopicPartition]) -> (revoked: [TopicPartition], assigned: [TopicPartition]) {
        let target = members[id]?.assignment ?? []
        let held = Set(members.filter { $0.key != id }.flatMap(\.value.holding))
        return (
            holding.filter { !target.contains($0) }.sorted(),
            target.filter { !holding.contains($0) && !held.contains($0) }
        )
    }
}
