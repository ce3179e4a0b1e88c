@testable import KafkaClient
import ByteStorage
import Synchronization
import TestSupport
import Testing

@testable import DispatchWorker

/// A reader of the registry whose brokers say something wrong for a moment.
@Suite(.timeLimit(.minutes(2))) struct RegistryReaderTests {
    /// An error that a broker answers, although the topic has all of its records.
    enum Error: CaseIterable, CustomTestStringConvertible {
        case outOfRange, outOfRangeAndNoEnds, unknownTopic

        var testDescription: String { "\(self)" }

        func apply(to cluster: MockCluster) {
            switch self {
            case .outOfRange: cluster.push(errors: [.offsetOutOfRange], forRequest: 1)
            case .outOfRangeAndNoEnds:
                cluster.push(errors: [.topicAuthorizationFailed], forRequest: 2)
                cluster.push(errors: [.offsetOutOfRange], forRequest: 1)
            case .unknownTopic: cluster.setError(ofTopic: "devices", .unknownTopicOrPartition)
            }
        }
    }

    /// The reports of a registry.
    private final class Reports: Sendable {
        let log = Mutex("")
        let failure = Mutex<String?>(nil)
    }

    private func write(_ ids: [String], to cluster: MockCluster) throws {
        let producer = try KafkaProducer(["bootstrap.servers": cluster.bootstrapServers, "linger.ms": "0"])
        defer { producer.close() }
        let topic = try producer.topic("devices")
        for id in ids {
            try Array(id.utf8).withUnsafeBufferPointer { id in
                try producer.produce(topic, partition: 0, key: ByteView(id), value: ByteView(#"{"app":"1"}"#))
            }
        }
        try producer.flush(timeoutMilliseconds: 10_000)
    }

    @Test("A registry goes on if a broker misses a topic or its records for a moment", arguments: Error.allCases)
    func momentaryError(_ error: Error) async throws {
        try await onThread { try check(error) }
    }

    @Test("A registry is not restored while the brokers do not tell its present ends")
    func noEnds() async throws {
        try await onThread {
            let cluster = try MockCluster()
            try cluster.createTopic("devices", partitions: 1)
            try write(["a", "b"], to: cluster)
            // The first answers are the ends at the start.
            let answers = (0..<1_000).map { $0 < 2 ? KafkaErrorCode.none : KafkaErrorCode.topicAuthorizationFailed }
            cluster.push(errors: answers, forRequest: 2)
            let folder = try TemporaryFolder()
            let (registry, reports) = try start(cluster, folder)
            defer { registry.stop() }
            #expect(becomesTrue(withinSeconds: 30) { registry.view?.devices == 2 })
            var questions = 0
            let exit = registry.waitUntilRestored {
                questions += 1
                return questions > 10
            }
            #expect(exit == nil)
            #expect(registry.view?.isRestored == false)
            #expect(reports.log.withLock { !$0.contains("devices.restored") })
        }
    }

    /// Starts a registry whose state is in a folder.
    private func start(_ cluster: MockCluster, _ folder: TemporaryFolder) throws -> (RegistryCopy, Reports) {
        var configuration = WorkerConfiguration(bootstrap: [cluster.bootstrapServers])
        configuration.isMockBroker = true
        configuration.stateDirectory = folder.path("")
        let reports = Reports()
        let log = Log(level: .info, format: .json) { line in reports.log.withLock { $0 += line } }
        let registry = RegistryCopy(
            configuration, LaneIdentity(group: "g", instance: "w", isStable: false, lane: 0), log: log)
        let exit = registry.start("devices", RegistryFacts(partitions: [0])) { exit in
            reports.failure.withLock { $0 = exit.reason }
        }
        #expect(exit == nil)
        return (registry, reports)
    }

    private func check(_ error: Error) throws {
        let cluster = try MockCluster()
        try cluster.createTopic("devices", partitions: 1)
        try write(["a", "b"], to: cluster)
        let folder = try TemporaryFolder()
        let (registry, reports) = try start(cluster, folder)
        defer { registry.stop() }
        #expect(registry.waitUntilRestored { false } == nil)
        error.apply(to: cluster)
        if error == .unknownTopic {
            #expect(becomesTrue(withinSeconds: 30) { reports.log.withLock { $0.contains("devices.missing") } })
            cluster.setError(ofTopic: "devices", .none)
        }
        try write(["c"], to: cluster)
        let written = SystemClock.monotonicNanoseconds()
        // The reader asks about the topic again, too.
        let isRead = becomesTrue(withinSeconds: 30) {
            let view = registry.view ?? RegistryView()
            return reports.failure.withLock { $0 } != nil || view.devices == 3 && view.currentAt ?? 0 > written
        }
        #expect(isRead && reports.failure.withLock { $0 } == nil)
    }
}
