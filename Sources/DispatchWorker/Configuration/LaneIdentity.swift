/// The names under which a lane is known to brokers.
///
/// With a stable instance name a restart takes over its predecessor's transaction and group membership at once;
/// without one the name is new at every start and nothing is static.
package struct LaneIdentity: Sendable, Equatable {
    /// The lane's number, from 0.
    package let lane: Int
    /// The consumer group.
    package let group: String
    /// The instance's name: the given one, or host name and eight random digits.
    package let instance: String
    /// Whether the instance was named by its operator.
    package let isStable: Bool

    /// Makes a lane's identity.
    package init(group: String, instance: String, isStable: Bool, lane: Int) {
        self.group = group
        self.instance = instance
        self.isStable = isStable
        self.lane = lane
    }

    /// `transactional.id`.
    package var transactionalID: String { "linkd.\(group).\(instance).\(lane)" }

    /// `group.instance.id`, or nil without static membership.
    package var groupInstanceID: String? { isStable ? "\(instance).\(lane)" : nil }

    /// `client.id`: at most 64 bytes, since librdkafka 2.4 and before misbehave with long ones (#4689).
    package var clientID: String {
        let suffix = "-\(lane)"
        let name = String(decoding: "linkd-\(instance)".utf8.prefix(64 - suffix.utf8.count), as: UTF8.self)
        return name + suffix
    }

    /// `<instance>.<lane>`, as dead letters name their maker.
    package var maker: String { "\(instance).\(lane)" }
}
