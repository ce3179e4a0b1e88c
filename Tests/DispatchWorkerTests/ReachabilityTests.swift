@testable import KafkaClient
import TestSupport
import Testing

@testable import DispatchWorker
import LinkDecider

/// The monitor that checks whether all parts of a cluster answer.
@Suite(.serialized) struct ReachabilityTests {
    private static let group = "probe"

    @Test(
        "A partition without a majority of its replicas is not reachable, although its leader answers",
        arguments: [(3, 3, true), (2, 3, true), (1, 3, false), (1, 2, false), (1, 1, true)])
    func replicas(inSync: Int, replicas: Int, isWritable: Bool) {
        let partition = PartitionDescription(
            id: 0, leader: 1, replicas: Array(1...Int32(replicas)), inSyncReplicas: Array(1...Int32(inSync)),
            error: nil)
        #expect(ClusterProbe.isWritable(partition) == isWritable)
    }

    /// Returns a cluster of three brokers whose second one coordinates the group, and a monitor of it.
    private static func clusterAndReachability() throws -> (cluster: MockCluster, reachability: Reachability) {
        let cluster = try MockCluster(brokers: 3)
        try cluster.createTopic("out", partitions: 1)
        try cluster.setCoordinator(of: "group", key: group, broker: 2)
        var configuration = WorkerConfiguration(bootstrap: [cluster.bootstrapServers])
        configuration.group = group
        configuration.outputs = OutputTopics("out")
        let identity = LaneIdentity(group: group, instance: "w", isStable: false, lane: 0)
        return (
            cluster,
            Reachability(
                ClientSettings.adminConfiguration(configuration, identity),
                member: ClientSettings.memberConfiguration(configuration, identity), topic: "out")
        )
    }

    /// Waits until the cluster counts as reachable or unreachable.
    private static func becomes(_ isReachable: Bool, _ reachability: Reachability) -> Bool {
        becomesTrue(withinSeconds: 60) {
            reachability.isReachable(now: SystemClock.monotonicNanoseconds()) == isReachable
        }
    }

    /// The group's coordinator, and with 2.0.2 a broker without any leader or coordinator role.
    ///
    /// The mock cluster of 2.16 hides that such a broker is down.
    private static let awayBrokers: [Int32] = LibraryInfo.isAtLeast(2, 1, 0) ? [2] : [2, 3]

    @Test("A cluster is unreachable if any of its brokers does not answer", arguments: awayBrokers)
    func partialOutage(broker: Int32) async {
        await #expect(processExitsWith: .success) { [broker] in
            try await onThread {
                let (cluster, reachability) = try ReachabilityTests.clusterAndReachability()
                defer { reachability.setMonitoring(false) }
                #expect(!reachability.isReachable(now: SystemClock.monotonicNanoseconds()))
                reachability.setMonitoring(true)
                #expect(ReachabilityTests.becomes(true, reachability))
                try cluster.setDown(broker: broker)
                #expect(ReachabilityTests.becomes(false, reachability))
                try cluster.setUp(broker: broker)
                #expect(ReachabilityTests.becomes(true, reachability))
                // The mock cluster does not return settings, so a broker without a coordinator role receives no
                // request.
                if broker != 2 { return }
                try cluster.setRoundTripTime(ofBroker: broker, milliseconds: 3_600_000)
                #expect(ReachabilityTests.becomes(false, reachability))
            }
        }
    }

    @Test("A cluster is unreachable if the group has no coordinator, even if every broker answers")
    func lostCoordinator() async throws {
        try await onThread {
            let (cluster, reachability) = try Self.clusterAndReachability()
            defer { reachability.setMonitoring(false) }
            reachability.setMonitoring(true)
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
