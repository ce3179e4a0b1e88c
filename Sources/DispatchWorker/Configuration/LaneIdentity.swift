/// The names that identify a lane to brokers.
///
/// With a stable instance name, a restarted worker takes over its predecessor's transaction and group membership at
/// once. Without one, the name is new at every start, and membership is not static.
package struct LaneIdentity: Sendable, Equatable {
    /// The lane's number, starting at 0.
    package let lane: Int
    /// The consumer group.
    package let group: String
    /// The instance's name: the configured one, or the host name and eight random digits.
    package let instance: String
    /// A Boolean value that indicates whether the instance name is configured and therefore survives restarts.
    package let isStable: Bool

    /// Creates a lane's identity.
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

    /// `client.id`, at most 64 bytes.
    ///
    /// librdkafka up to 2.4 does not handle longer ones correctly (issue 4689).
    package var clientID: String {
        let suffix = "-\(lane)"
        let name = String(decoding: "linkd-\(instance)".utf8.prefix(64 - suffix.utf8.count), as: UTF8.self)
        return name + suffix
    }

    /// `<instance>.<lane>`, the name of the lane in dead letters.
    package var name: String { "\(instance).\(lane)" }
}
