@testable import DispatchWorker
import LinkDecider
@testable import KafkaClient
import TestSupport
import Testing

/// A watchdog that ends a process because a call does not return.
///
/// Each test runs in its own process.
@Suite(.serialized) struct WatchdogExitTests {
    /// Runs a watchdog with a call of lane 3 that lasts for some seconds and with two brokers.
    ///
    /// Calls count as hung after 6 s.
    @Sendable private static func hang(seconds: Int, isWhole: Bool) throws {
        let cluster = try MockCluster(brokers: 2)
        try cluster.createTopic("out", partitions: 1)
        try cluster.setCoordinator(of: "group", key: "g", broker: 2)
        if !isWhole { try cluster.setDown(broker: 2) }
        var configuration = WorkerConfiguration(bootstrap: [cluster.bootstrapServers])
        configuration.group = "g"
        configuration.outputs = OutputTopics("out")
        configuration.clientProperties = [
            ClientProperty("transaction.timeout.ms", "1000"), ClientProperty("socket.timeout.ms", "1000"),
        ]
        let identity = LaneIdentity(group: "g", instance: "w", isStable: false, lane: 3)
        let calls = CallWatch()
        let watchdog = Watchdog(
            shared: WorkerShared(stopAfter: 0, log: Log(level: .info, format: .text)), watches: [(3, calls)],
            reachability: Reachability(
                ClientSettings.adminConfiguration(configuration, identity),
                member: ClientSettings.memberConfiguration(configuration, identity), topic: "out"),
            configuration: configuration, handlesSignals: false)
        watchdog.start()
        calls.during(.flush) { SystemClock.sleep(milliseconds: seconds * 1_000) }
        watchdog.stop()
    }

    private static func text(_ result: ExitTest.Result?) -> String {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    }

    @Test("A call that does not return ends the process with 75, and the log names the call and its lane")
    func hung() async {
        let result = await #expect(processExitsWith: .exitCode(75), observing: [\.standardErrorContent]) {
            try await onThread { try WatchdogExitTests.hang(seconds: 120, isWhole: true) }
        }
        let text = Self.text(result)
        #expect(text.contains("lane 3  a call of the client library does not return  call=flush ms=6"))
        #expect(text.contains("flush does not return  code=75"))
    }

    @Test("The same call does not end the process while the group's coordinator is unreachable")
    func outage() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            try await onThread { try WatchdogExitTests.hang(seconds: 14, isWhole: false) }
        }
        #expect(!Self.text(result).contains("does not return"))
    }
}
