import DispatchWorker
import Foundation
import KafkaClient
import StrictJSON
import TestSupport
import Testing

/// Workers whose registry is away, open, full, or another one, on a real broker.
@Suite(
    .enabled(if: BrokerEnvironment.hasBroker, "no broker: KAFKA_BOOTSTRAP_SERVERS is not set"), .serialized,
    .timeLimit(.minutes(5)))
struct RegistryCaseTests {
    @Test("A worker decides nothing before it has read the registry")
    func restored() async throws {
        try await onThread {
            let run = try RegistryCase()
            defer { run.close() }
            try run.write(RegistryCase.devices(0..<10_000))
            try run.send((9_980..<10_000).map { "d\($0)" })
            let gate = run.folder.url.appending(path: "gate")
            let worker = try run.worker(["--lanes", "1"], environment: ["LINKD_TEST_DEVICES_GATE": gate.path])
            defer { worker.clear() }
            try worker.start()
            try run.wait(for: "the worker to restore") { worker.count(of: "devices.restoring") == 1 }
            // Another worker does the same work without a registry. When it is done, one that does not wait is too.
            let other = try run.run(["--stop-after", "20"], group: "other", output: run.topics.second, registry: false)
            #expect(other.status == 0, "\(other.errors)")
            #expect(try run.topics.committed().allSatisfy { $0 == 0 })
            #expect(try run.topics.read(run.topics.output).isEmpty)
            #expect(try !worker.isAssigned(lanes: 1))
            #expect(worker.count(of: "devices.restored") == 0)
            try Data().write(to: gate)
            try run.wait(for: "the decisions") { try run.topics.committed().reduce(0, +) == 20 }
            try worker.stop()
            #expect(try run.facts().allSatisfy { $0.app == Int($0.device.dropFirst()) })
            #expect(try run.facts().count == 20)
        }
    }

    @Test("A worker whose input is a regular expression reads the registry, which the expression matches too")
    func besidePattern() async throws {
        try await onThread {
            let run = try RegistryCase()
            defer { run.close() }
            try run.write(RegistryCase.devices(0..<20))
            try run.send((0..<20).map { "d\($0)" })
            let pattern = "^(\(run.topics.input)|\(run.topics.devices))$"
            let result = try run.run(["--input", pattern, "--stop-after", "20"])
            #expect(result.status == 0, "\(result.errors)")
            #expect(try run.facts().count == 20)
            #expect(try run.facts().allSatisfy { $0.app == Int($0.device.dropFirst()) })
        }
    }

    @Test("A device is known after a start, also if its record was compacted away while the worker read the registry")
    func compactedMeanwhile() async throws {
        try await onThread {
            let run = try RegistryCase(RunTopics.compactedSoon)
            defer { run.close() }
            let count = 60_000
            try run.write(RegistryCase.devices(0..<count, app: 1))
            let gate = run.folder.url.appending(path: "gate")
            let worker = try run.worker(["--lanes", "1"], environment: ["LINKD_TEST_DEVICES_GATE": gate.path])
            defer { worker.clear() }
            try worker.start()
            try run.wait(for: "the worker to restore") { worker.count(of: "devices.restoring") == 1 }
            // The worker knows the end of the topic now. What follows is behind it.
            let filler = try RegistryFiller(run.topics)
            try filler.write()
            try run.write(RegistryCase.devices(0..<count, app: 2))
            let old = RegistryCase.record("", 1).value
            try run.wait(for: "the old versions to be compacted away") {
                try filler.write()
                return try run.topics.read(run.topics.devices).allSatisfy { $0.value != old }
            }
            filler.close()
            try Data().write(to: gate)
            try run.wait(for: "the end of the restore") { worker.count(of: "devices.restored") == 1 }
            try worker.stop()
            #expect(try worker.number("devices", of: "devices.restored") ?? 0 >= count)
        }
    }

    @Test("A registry that is written all the time is restored, although the brokers' answers take their time")
    func writtenAllTheTime() async throws {
        try await onThread {
            let run = try RegistryCase(partitions: 1)
            defer { run.close() }
            try run.write(RegistryCase.devices(0..<1_000, app: 1))
            try run.send(["d0"])
            let filler = try RegistryFiller(run.topics)
            // A broker answers the question for the ends after the fetch before it, for which it waits for a record.
            let worker = try run.worker(["--lanes", "1", "-X", "fetch.wait.max.ms=500"])
            defer { worker.clear() }
            try worker.start()
            try run.wait(for: "the decision") {
                try filler.write()
                SystemClock.sleep(milliseconds: 200)
                return try run.topics.committed().reduce(0, +) == 1
            }
            filler.close()
            try worker.stop()
            #expect(try run.facts().map(\.app) == [1] && worker.count(of: "devices.restored") == 1)
        }
    }

    @Test("A worker that is killed while it restores the registry continues with what it has written")
    func killedMeanwhile() async throws {
        try await onThread {
            let run = try RegistryCase(partitions: 1)
            defer { run.close() }
            let count = 300_000
            try run.write(RegistryCase.devices(0..<count))
            let worker = try run.worker(["--lanes", "1"])
            defer { worker.clear() }
            try worker.start()
            // A batch has 256,000 devices, in transactions of 4,000.
            let data = run.folder.url.appending(path: "state/devices/data.mdb").path
            try run.wait(for: "the first transactions") {
                let size = try? FileManager.default.attributesOfItem(atPath: data)[.size] as? Int
                return size ?? 0 > 2 << 20
            }
            try worker.kill()
            #expect(worker.count(of: "devices.restored") == 0)
            try run.write(RegistryCase.deletions(0..<count / 2))
            try run.send(["d0", "d\(count - 1)"])
            try worker.start()
            try run.wait(for: "the decisions") { try run.topics.committed().reduce(0, +) == 2 }
            try worker.stop()
            let continued = try worker.number("devices", of: "devices.restoring") ?? 0
            #expect(continued > 0 && continued < count && worker.count(of: "devices.dropped") == 0)
            #expect(try worker.number("devices", of: "devices.restored") == count / 2)
            #expect(try run.facts().map { $0.app ?? -1 }.sorted() == [-1, count - 1])
        }
    }

    @Test("A worker starts with an open transaction in its registry, whose records and those behind it do not count")
    func openTransaction() async throws {
        try await onThread {
            let run = try RegistryCase()
            defer { run.close() }
            try run.write(RegistryCase.devices(0..<100, app: 1))
            let hanging = try HangingProducer(run.topics)
            defer { hanging.close() }
            try hanging.write(RegistryCase.devices(0..<100, app: 2))
            // These are committed, and behind the open transaction.
            try run.write(RegistryCase.devices(50..<100, app: 3))
            try run.send((40..<60).map { "d\($0)" })
            let first = try run.run(["--stop-after", "20"])
            #expect(first.status == 0, "\(first.errors)")
            #expect(try run.facts().map(\.app) == Array(repeating: 1, count: 20))
            try hanging.commit()
            try run.send((40..<60).map { "d\($0)" })
            let second = try run.run(["--stop-after", "20"])
            #expect(second.status == 0, "\(second.errors)")
            let apps = try run.facts().map(\.app)
            #expect(apps.count { $0 == 1 } == 20 && apps.count { $0 == 2 } == 10 && apps.count { $0 == 3 } == 10)
        }
    }

    @Test(
        "A worker goes on while a transaction in its registry is open for longer than the topic keeps deletions",
        .enabled(if: LongTests.areWanted, "long test: LINKD_TEST_LONG is not 1"))
    func longTransaction() async throws {
        try await onThread {
            let run = try RegistryCase(["delete.retention.ms": "1000"])
            defer { run.close() }
            try run.write(RegistryCase.devices(0..<100, app: 1))
            try run.send(["d0"])
            let worker = try run.worker(["--lanes", "1"])
            defer { worker.clear() }
            try worker.start()
            try run.wait(for: "the decision") { try run.topics.committed().reduce(0, +) == 1 }
            // The reader asks for the ends of the topic every 5 seconds, and the limit is at least a minute.
            SystemClock.sleep(milliseconds: 6_000)
            let hanging = try HangingProducer(run.topics)
            defer { hanging.close() }
            try hanging.write(RegistryCase.devices(0..<100, app: 2))
            SystemClock.sleep(milliseconds: 75_000)
            try run.send(["d1"])
            try run.wait(for: "the next decision") { try run.topics.committed().reduce(0, +) == 2 }
            try worker.stop()
            #expect(try run.facts().map(\.app) == [1, 1])
        }
    }

    @Test("A device stays deleted when the topic no longer has its deletion")
    func compactedAway() async throws {
        try await onThread {
            let run = try RegistryCase(RunTopics.compactedSoon.merging(["delete.retention.ms": "1000"]) { $1 })
            defer { run.close() }
            try run.write(RegistryCase.devices(0..<20, app: 1))
            try run.send(["d0"])
            let first = try run.run(["--stop-after", "1"])
            #expect(first.status == 0, "\(first.errors)")
            #expect(try run.facts().map(\.app) == [1])
            try run.write(RegistryCase.deletions(0..<1))
            let filler = try RegistryFiller(run.topics)
            defer { filler.close() }
            try run.wait(for: "the deletion to be compacted away") {
                try filler.write()
                return try run.topics.read(run.topics.devices).allSatisfy { $0.key != Array("d0".utf8) }
            }
            try run.send(["d0", "d1"])
            let second = try run.run(["--stop-after", "2"])
            #expect(second.status == 0, "\(second.errors)")
            #expect(second.errors.contains(#""event":"devices.dropped""#) && second.errors.contains(#""stale""#))
            let facts = try run.facts().filter { $0.device == "d0" }.map(\.app)
            #expect(facts.count == 2 && facts.contains(nil))
            #expect(try run.facts().filter { $0.device == "d1" }.map(\.app) == [1])
        }
    }

    @Test("A malformed record changes nothing, except that a worker that was not running does not know its device")
    func malformed() async throws {
        try await onThread {
            let run = try RegistryCase(RunTopics.compactedSoon)
            defer { run.close() }
            try run.write(RegistryCase.devices(0..<3, app: 1))
            try run.send(["d0"])
            let first = try run.run(["--stop-after", "1"])
            #expect(first.status == 0, "\(first.errors)")
            // The value, and the deletion, that are compacted away are not what the copy has.
            let worker = try run.worker(["--lanes", "1"])
            defer { worker.clear() }
            try run.write([("d0", 2), ("d1", nil)])
            try run.writeMalformed(["d0", "d1"])
            let filler = try RegistryFiller(run.topics)
            try run.wait(for: "the value and the deletion to be compacted away") {
                try filler.write()
                let ids = try run.topics.read(run.topics.devices).compactMap(\.key)
                return ["d0", "d1"].allSatisfy { id in ids.count { $0 == Array(id.utf8) } == 1 }
            }
            filler.close()
            try worker.start()
            try run.send(["d0", "d1", "d2"])
            try run.wait(for: "the decisions") { try run.topics.committed().reduce(0, +) == 4 }
            let behind = try run.facts().filter { $0.device != "d2" }.map(\.app)
            #expect(behind.count == 3 && behind.filter { $0 != nil } == [1])
            // A running worker keeps what it has.
            try run.writeMalformed(["d2"])
            try run.wait(for: "the record to be read") { worker.count(of: "devices.malformed") == 3 }
            try run.send(["d2"])
            try run.wait(for: "the decision") { try run.topics.committed().reduce(0, +) == 5 }
            try worker.stop()
            #expect(try run.facts().filter { $0.device == "d2" }.map(\.app) == [1, 1])
        }
    }

    @Test("A full disk ends a worker with exit code 75, and the next one decides each event once")
    func fullDisk() async throws {
        try await onThread {
            let run = try RegistryCase()
            defer { run.close() }
            try run.write(RegistryCase.devices(0..<40_000))
            try run.send((0..<200).map { "d\($0)" })
            // 1 MiB, which is less than the copy needs.
            let limited = ["bash", "-c", #"trap "" XFSZ; ulimit -f 1024; exec "$@""#, "-"]
            let full = try run.run(["--stop-after", "200"], prefix: limited)
            #expect(full.status == 75, "\(full.errors)")
            #expect(full.errors.contains("is full"), "\(full.errors)")
            #expect(try run.topics.read(run.topics.output).isEmpty)
            let other = try run.run(["--stop-after", "200"])
            #expect(other.status == 0, "\(other.errors)")
            let facts = try run.facts()
            #expect(facts.map(\.app) == facts.map { Int($0.device.dropFirst()) })
            #expect(Set(facts.map(\.device)).count == 200 && facts.count == 200)
        }
    }

    @Test("Devices that the registry deletes later do not count for devices.max, up to twice as many")
    func maxDevices() async throws {
        try await onThread {
            // With one partition, the deletions come after all devices, and not in the same batch.
            let run = try RegistryCase(partitions: 1)
            defer { run.close() }
            try run.write(RegistryCase.devices(0..<18_000) + RegistryCase.deletions(0..<8_000))
            try run.send(["d0", "d17999"])
            func result(_ limit: Int) throws -> ChildProcess.Result {
                try run.run(["--stop-after", "2", "--devices-max", String(limit)], directory: "state-\(limit)")
            }
            let atOnce = try result(4_000)
            #expect(atOnce.status == 78 && atOnce.errors.contains("more than 8000 devices before"), "\(atOnce.errors)")
            let atEnd = try result(9_999)
            #expect(atEnd.status == 78 && atEnd.errors.contains("more than 9999 devices"), "\(atEnd.errors)")
            #expect(try run.topics.read(run.topics.output).isEmpty)
            let enough = try result(10_000)
            #expect(enough.status == 0, "\(enough.errors)")
            #expect(try run.facts().map { $0.app ?? -1 }.sorted() == [-1, 17999])
        }
    }

    @Test("A worker does not mix devices of a registry that was created again with those of its copy")
    func createdAgain() async throws {
        try await onThread {
            let run = try RegistryCase()
            defer { run.close() }
            func decide(_ version: Int, devices: Range<Int>) throws -> [Int?] {
                try run.write(RegistryCase.devices(devices, app: version))
                try run.send(["d0"])
                var result = try run.run(["--stop-after", "1"])
                // Without ids of topics, the worker finds another record than before, and reads all at the next start.
                if result.status == 75 { result = try run.run(["--stop-after", "1"]) }
                #expect(result.status == 0, "\(result.errors)")
                return try run.facts().map(\.app)
            }
            #expect(try decide(1, devices: 0..<200) == [1])
            // The topic that is created again has more records in each partition, and no device 0.
            try run.topics.deleteRegistry()
            try run.topics.createRegistry()
            #expect(try decide(2, devices: 200..<800).sorted { ($0 ?? 0) < ($1 ?? 0) } == [nil, 1])
        }
    }

    @Test(
        "A worker whose registry is created again while it runs ends with exit code 75, and then reads all again",
        arguments: [true, false])
    func createdAgainMeanwhile(isStopped: Bool) async throws {
        try await onThread {
            let run = try RegistryCase()
            defer { run.close() }
            try run.write(RegistryCase.devices(0..<200, app: 1))
            try run.send(["d0"])
            let worker = try run.worker(["--lanes", "1"])
            defer { worker.clear() }
            try worker.start()
            try run.wait(for: "the decision") { try run.topics.committed().reduce(0, +) == 1 }
            // A process that is stopped sees neither that the topic is away nor a lost connection.
            if isStopped { worker.signal(SIGSTOP) }
            try run.topics.deleteRegistry()
            if !isStopped {
                try run.wait(for: "the worker to miss the topic") { worker.count(of: "devices.missing") > 0 }
            }
            try run.topics.createRegistry()
            try run.write(RegistryCase.devices(200..<800, app: 2))
            if isStopped {
                SystemClock.sleep(milliseconds: 1_200)
                worker.signal(SIGCONT)
            }
            #expect(try worker.waitForEnd(seconds: 60) == 75, "\(worker.lastLines)")
            #expect(try run.facts().map(\.app) == [1])
            try run.send(["d0", "d200"])
            var result = try run.run(["--stop-after", "2"])
            if result.status == 75 { result = try run.run(["--stop-after", "2"]) }
            #expect(result.status == 0, "\(result.errors)")
            #expect(try run.facts().map(\.app).sorted { ($0 ?? 0) < ($1 ?? 0) } == [nil, 1, 2])
        }
    }
}
