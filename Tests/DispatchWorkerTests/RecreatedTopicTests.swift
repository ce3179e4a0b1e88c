@testable import DispatchWorker
import Foundation
@testable import KafkaClient
import TestSupport
import Testing
import ByteStorage

extension ProxyTests {
    /// Topics that are deleted and created again while a worker cannot see it.
    @Suite(.serialized) struct RecreatedTopicTests {
        let bootstrap = BrokerEnvironment.bootstrapServers ?? ""

        /// The way in which a worker is kept from seeing the topic.
        enum Blindness: CaseIterable {
            /// The process is stopped (SIGSTOP).
            case stopped
            /// The network loses no connection and delivers nothing for a while.
            case silentNetwork
            /// All connections are lost.
            case lostConnections
            /// The worker ends and starts again. A member that did not know of the deletion has committed again.
            case restarted
            /// The worker can see everything.
            case none
        }

        /// A way to create the input again: the number of records in the old and in the new topic.
        struct Recreation: Sendable, CustomStringConvertible {
            var blindness: Blindness
            var new: Int
            var dataLoss: String
            var description: String { "\(blindness), 60 records then \(new), data.loss \(dataLoss)" }
        }

        static let old = 60
        static let partitions: Int32 = 3

        /// Half of the records have a decision for a device of their own, and the others become dead letters.
        static func event(_ index: Int, _ name: String) -> (key: String?, value: [UInt8]?, headers: [RecordHeader]) {
            let value =
                index % 2 == 0
                ? #"{"link":"shop:///p/new","device":{"id":"\#(name)-\#(index)"}}"# : "\(name)-\(index)"
            return ("k-\(index % 20)", Array(value.utf8), [])
        }

        /// Returns the names of the records that have an outcome, once for each outcome.
        static func outcomes(
            _ run: BrokerRun, _ name: String, isolation: String = "read_committed"
        ) throws -> [String] {
            let decided = try run.read(run.output, isolation: isolation).compactMap(\.keyText)
            let dead = try run.read(run.deadLetters, isolation: isolation).compactMap(\.valueText)
            return (decided + dead).filter { $0.hasPrefix(name + "-") }.sorted()
        }

        static func expected(_ count: Int, _ name: String) -> [String] { (0..<count).map { "\(name)-\($0)" }.sorted() }

        static func produce(_ count: Int, _ name: String, _ run: BrokerRun) throws {
            try run.produce(count: count, partitions: partitions) { event($0, name) }
        }

        static func waitForOutcomes(_ count: Int, _ name: String, _ run: BrokerRun) throws {
            let isDone = try becomesTrue(withinSeconds: 60) {
                SystemClock.sleep(milliseconds: 100)
                return try outcomes(run, name).count >= count
            }
            #expect(isDone, "not all records have an outcome")
            #expect(try outcomes(run, name) == expected(count, name))
        }

        /// Deletes topics and creates them again.
        static func recreate(_ names: [String], _ run: BrokerRun, settings: [String: String] = [:]) throws {
            let admin = try KafkaAdmin(["bootstrap.servers": run.bootstrap])
            defer { admin.close() }
            for error in try admin.delete(topics: names, timeoutMilliseconds: 20_000).compactMap(\.error) {
                throw error
            }
            // The new topics exist once the old ones are gone.
            let isCreated = try becomesTrue(withinSeconds: 20) {
                try admin.create(
                    topics: names.map { TopicSpecification(name: $0, partitions: partitions, settings: settings) },
                    timeoutMilliseconds: 20_000
                ).allSatisfy { $0.error == nil }
            }
            #expect(isCreated)
            // A busy broker describes the new topics before it replaces the logs, and until then it acknowledges
            // records in the old logs, which are lost with them.
            let client = try KafkaConsumer(["bootstrap.servers": run.bootstrap, "group.id": run.group]) { _, _ in }
            defer { client.abandon() }
            let isEmpty = try becomesTrue(withinSeconds: 60) {
                try admin.describe(topics: names, timeoutMilliseconds: 5_000).allSatisfy { topic in
                    topic.partitions.count == Int(partitions) && topic.partitions.allSatisfy { $0.leader >= 0 }
                        && (0..<partitions).allSatisfy { number in
                            let partition = TopicPartition(topic: topic.name, partition: number)
                            return (try? client.watermarks(of: partition, timeoutMilliseconds: 5_000))?.high == 0
                        }
                }
            }
            #expect(isEmpty, "the broker has not replaced the logs of \(names)")
        }

        /// Commits the offsets of the old topic again, with their metadata.
        static func copyOffsets(_ run: BrokerRun, _ body: () throws -> Void) throws {
            let consumer = try KafkaConsumer(["bootstrap.servers": run.bootstrap, "group.id": run.group]) { _, _ in }
            defer { consumer.abandon() }
            let names = (0..<partitions).map { TopicPartition(topic: run.input, partition: $0) }
            let before = try consumer.committed(names, timeoutMilliseconds: 20_000).compactMap { result in
                result.offset.map { PartitionOffset(result.partition, offset: $0, metadata: result.metadata) }
            }
            #expect(before.count == names.count && before.allSatisfy { !$0.metadata.isEmpty })
            try body()
            try consumer.commit(before, timeoutMilliseconds: 20_000)
        }

        /// Runs `body` while the worker is blind.
        private func whileBlind(
            _ blindness: Blindness, _ worker: inout WorkerUnderTest, _ proxy: inout KafkaProxy, _ run: BrokerRun,
            _ body: () throws -> Void
        ) throws {
            switch blindness {
            case .stopped:
                worker.signal(SIGSTOP)
                try body()
                SystemClock.sleep(milliseconds: 1_200)
                worker.signal(SIGCONT)
            case .silentNetwork:
                proxy.hold(true)
                try body()
                SystemClock.sleep(milliseconds: 1_500)
                proxy.hold(false)
            case .lostConnections:
                proxy.close()
                try body()
                proxy = try Self.proxy()
            case .restarted:
                worker.signal(SIGTERM)
                #expect(worker.waitForEnd(seconds: 60) == 0)
                try Self.copyOffsets(run, body)
                worker = try WorkerUnderTest(run, bootstrap: proxy.bootstrapServers, dataLoss: worker.dataLoss)
            case .none: try body()
            }
        }

        private static func proxy() throws -> KafkaProxy {
            let ports = try #require(BrokerEnvironment.proxied)
            return try KafkaProxy(port: ports.proxy, target: ports.listener)
        }

        @Test(
            "The input is created again with as many, fewer, or more records: the loss is told, and none is skipped",
            arguments: [
                Recreation(blindness: .stopped, new: 60, dataLoss: "stop"),
                Recreation(blindness: .stopped, new: 20, dataLoss: "earliest"),
                Recreation(blindness: .stopped, new: 120, dataLoss: "earliest"),
                Recreation(blindness: .silentNetwork, new: 120, dataLoss: "stop"),
                Recreation(blindness: .silentNetwork, new: 60, dataLoss: "earliest"),
                Recreation(blindness: .lostConnections, new: 120, dataLoss: "earliest"),
                Recreation(blindness: .lostConnections, new: 20, dataLoss: "stop"),
                Recreation(blindness: .restarted, new: 60, dataLoss: "stop"),
                Recreation(blindness: .restarted, new: 120, dataLoss: "earliest"),
            ])
        func input(recreation: Recreation) async throws {
            try await onThread { [self] in
                let run = try BrokerRun("recreated", bootstrap: bootstrap, partitions: Self.partitions)
                var proxy = try Self.proxy()
                defer { proxy.close() }
                try Self.produce(Self.old, "old", run)
                var worker = try WorkerUnderTest(run, bootstrap: proxy.bootstrapServers, dataLoss: recreation.dataLoss)
                try Self.waitForOutcomes(Self.old, "old", run)
                try whileBlind(recreation.blindness, &worker, &proxy, run) {
                    try Self.recreate([run.input], run)
                    try Self.produce(recreation.new, "new", run)
                }
                if recreation.dataLoss == "stop" {
                    #expect(worker.waitForEnd(seconds: 60) == 65, "\(worker.text)")
                    #expect(try Self.outcomes(run, "new") == [])
                } else {
                    try Self.waitForOutcomes(recreation.new, "new", run)
                    worker.signal(SIGTERM)
                    #expect(worker.waitForEnd(seconds: 60) == 0, "\(worker.text)")
                    #expect(try Self.outcomes(run, "new") == Self.expected(recreation.new, "new"))
                }
                #expect(worker.text.contains("was deleted and created again"), "\(worker.text)")
            }
        }

        @Test(
            "After the output and the dead-letter topic are created again, every later record has its outcome there",
            arguments: [Blindness.stopped, .silentNetwork, .lostConnections, .none])
        func outputs(blindness: Blindness) async throws {
            try await onThread { [self] in
                let run = try BrokerRun("outputs", bootstrap: bootstrap, partitions: Self.partitions)
                var proxy = try Self.proxy()
                defer { proxy.close() }
                try Self.produce(Self.old, "old", run)
                var worker = try WorkerUnderTest(run, bootstrap: proxy.bootstrapServers, dataLoss: "stop")
                try Self.waitForOutcomes(Self.old, "old", run)
                try whileBlind(blindness, &worker, &proxy, run) {
                    try Self.recreate([run.output, run.deadLetters], run)
                    try Self.produce(Self.old, "new", run)
                }
                try Self.waitForOutcomes(Self.old, "new", run)
                worker.signal(SIGTERM)
                #expect(worker.waitForEnd(seconds: 60) == 0, "\(worker.text)")
                #expect(try Self.outcomes(run, "new") == Self.expected(Self.old, "new"))
            }
        }

        /// A worker in a process of its own, which can be stopped with a signal.
        final class WorkerUnderTest {
            let dataLoss: String
            private let process = Process()
            private let log: URL
            private let ended = DispatchSemaphore(value: 0)

            init(_ run: BrokerRun, bootstrap: String, dataLoss: String, arguments: [String] = []) throws {
                self.dataLoss = dataLoss
                log = FileManager.default.temporaryDirectory.appending(path: "recreated-\(UUID().uuidString)")
                try Data().write(to: log)
                process.executableURL = URL(fileURLWithPath: BuiltProgram.linkd)
                process.arguments =
                    [
                        "worker", "--bootstrap", bootstrap, "--input", run.input, "--output", run.output,
                        "--group", run.group, "--table", Checkout.root.appending(path: "config/routes/shop.json").path,
                        "--lanes", "1", "--data-loss", dataLoss, "--log-format", "json",
                    ] + arguments
                let file = try FileHandle(forWritingTo: log)
                process.standardInput = FileHandle.nullDevice
                process.standardOutput = FileHandle.nullDevice
                process.standardError = file
                let ended = ended
                process.terminationHandler = { _ in ended.signal() }
                try process.start()
                try file.close()
            }

            deinit {
                if process.isRunning { kill(process.processIdentifier, SIGKILL) }
                try? FileManager.default.removeItem(at: log)
            }

            /// The log.
            var text: String { (try? String(contentsOf: log, encoding: .utf8)) ?? "" }

            /// Returns the exit code, or nil if the process does not end in time.
            func waitForEnd(seconds: Double) -> Int32? {
                ended.wait(timeout: .now() + seconds) == .success ? process.terminationStatus : nil
            }

            func signal(_ number: Int32) { kill(process.processIdentifier, number) }
        }
    }
}
