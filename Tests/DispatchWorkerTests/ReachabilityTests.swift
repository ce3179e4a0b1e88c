import DispatchWorker
import KafkaClient
import TestSupport
import Testing

/// A cluster is there when everything answers that a call may need, and not before.
@Suite(.serialized) struct ReachabilityTests {
    private static let group = "probe"

    /// A cluster of three brokers whose second one coordinates the group, and what asks for it.
    private static func world() throws -> (cluster: MockCluster, reachability: Reachability) {
        let cluster = try MockCluster(brokers: 3)
        try cluster.createTopic("out", partitions: 1)
        try cluster.setCoordinator(of: "group", key: group, broker: 2)
        var configuration = WorkerConfiguration(bootstrap: [cluster.bootstrapServers])
        configuration.group = group
        configuration.output = "out"
        let identity = LaneIdentity(group: group, instance: "w", isStable: false, lane: 0)
        return (
            cluster,
            Reachability(
                ClientSettings.adminConfiguration(configuration, identity),
                member: ClientSettings.memberConfiguration(configuration, identity), topic: "out")
        )
    }

    /// Waits until the cluster counts as there, or as away.
    private static func becomes(_ isReachable: Bool, _ reachability: Reachability) -> Bool {
        waits(seconds: 60) {
            SystemClock.sleep(milliseconds: 50)
            return reachability.isReachable(now: SystemClock.monotonicNanoseconds()) == isReachable
        }
    }

    /// The group's coordinator, and with 2.0.2 a broker that leads and coordinates nothing: the mock cluster of 2.16
    /// lets nobody see that such a broker is away.
    private static let awayBrokers: [Int32] = LibraryInfo.isAtLeast(2, 1, 0) ? [2] : [2, 3]

    @Test("A cluster one of whose brokers does not answer is not reachable, whichever it is", arguments: awayBrokers)
    func partialOutage(broker: Int32) async throws {
        try await onThread {
            let (cluster, reachability) = try Self.world()
            defer { reachability.want(false) }
            #expect(!reachability.isReachable(now: SystemClock.monotonicNanoseconds()))
            reachability.want(true)
            #expect(Self.becomes(true, reachability))
            try cluster.setDown(broker: broker)
            #expect(Self.becomes(false, reachability))
            try cluster.setUp(broker: broker)
            #expect(Self.becomes(true, reachability))
            // A mock cluster cannot tell its settings, so that nothing is asked of a broker that coordinates nothing.
            if broker != 2 { return }
            try cluster.setRoundTripTime(ofBroker: broker, milliseconds: 3_600_000)
            #expect(Self.becomes(false, reachability))
        }
    }

    @Test("A group without a coordinator is not reachable, though every broker answers")
    func lostCoordinator() async throws {
        try await onThread {
            let (cluster, reachability) = try Self.world()
            defer { reachability.want(false) }
            reachability.want(true)
            #expect(Self.becomes(true, reachability))
            let findCoordinator: Int16 = 10
            let offsetFetch: Int16 = 9
            for request in [findCoordinator, offsetFetch] {
                cluster.push(
                    errors: Array(repeating: .coordinatorNotAvailable, count: 2_000), forRequest: request)
            }
            #expect(Self.becomes(false, reachability))
            for request in [findCoordinator, offsetFetch] { cluster.clearErrors(forRequest: request) }
            #expect(Self.becomes(true, reachability))
        }
    }
}
