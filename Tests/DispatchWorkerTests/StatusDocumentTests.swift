import StrictJSON
import Testing

@testable import DispatchWorker

/// The page `/status`.
@Suite struct StatusDocumentTests {
    private static func parse(_ snapshot: WorkerSnapshot) throws -> JSONValue {
        let text = StatusDocument.json(snapshot)
        #expect(!text.contains("\n"))
        return try JSONValue.parse(Array(text.utf8))
    }

    @Test("The document has its members in their order")
    func members() throws {
        let document = try Self.parse(.sample())
        #expect(
            document.object?.map(\.name) == [
                "version", "librdkafka", "time", "instance", "group", "ready", "not_ready", "draining", "paused",
                "brokers", "group_lag", "devices", "tables", "rates", "canary", "log_dropped", "lanes",
            ])
        #expect(document["time"]?.string == "2027-01-15T08:00:00.123Z")
        #expect(document["not_ready"]?.array?.compactMap(\.string) == ["lane 1: starting"])
        #expect(document["brokers"]?["answered_ms"]?.integer == Int64(1_000))
        let group = try #require(document["group_lag"])
        #expect(group["state"]?.string == "Stable")
        #expect(group["answered_ms"]?.integer == Int64(5_000))
        #expect(group["lag"]?.integer == Int64(47))
        #expect(group["unowned_count"]?.integer == Int64(1))
        #expect(group["unowned"]?.array?.first?["since_ms"]?.integer == Int64(40_000))
        #expect(try Self.parse(WorkerSnapshot(now: 0))["group_lag"]?.isNull == true)
        #expect(document["tables"]?.array?.first?["loaded_ms"]?.integer == Int64(10_000))
        let canary = try #require(document["canary"])
        #expect(canary["table"]?.string == "shop@8+89abcdef")
        #expect(canary["routes"]?.array?.first?["witness"]?.string == "in-0-41-0")
        #expect(StatusDocument.json(.sample()).contains(#""percent":5.000,"compare":1.500,"#))
        #expect(try Self.parse(WorkerSnapshot(now: 0)).object?.map(\.name).contains("canary") == false)
    }

    @Test("The registry of devices has what is left only until it is restored, and no member without it")
    func devices() throws {
        var snapshot = WorkerSnapshot.sample()
        let restored = try #require(try Self.parse(snapshot)["devices"])
        #expect(restored.text == #"{"restored":true,"count":1200,"bytes":81920,"malformed":3,"current_ms":2500}"#)
        snapshot.devices?.restored = 1
        snapshot.devices?.currentAt = nil
        let restoring = try #require(try Self.parse(snapshot)["devices"])
        #expect(restoring["restored"]?.text == "false" && restoring["current_ms"]?.isNull == true)
        #expect(restoring["remaining"]?.integer == Int64(500))
        #expect(restoring["records_per_s"]?.text == "50.000")
        #expect(restoring["left_ms"]?.integer == Int64(10_000))
        #expect(
            try Self.parse(snapshot)["not_ready"]?.array?.last?.string
                == "restoring the registry of devices: 500 offsets left")
        snapshot.devices = nil
        #expect(try Self.parse(snapshot)["devices"] == nil)
    }

    @Test("A lane has its state, ages, partitions, and errors")
    func lanes() throws {
        let lanes = try #require(try Self.parse(.sample())["lanes"]?.array)
        #expect(lanes.count == 2)
        let lane = try #require(lanes.first)
        #expect(lane["state"]?.string == "idle")
        #expect(lane["waits_for"]?.string == "commit_transaction")
        #expect(lane["step_ms"]?.integer == Int64(1_000))
        #expect(lane["rebalancing_ms"]?.integer == Int64(6_000))
        #expect(lane["last_commit_ms"]?.integer == Int64(3_000))
        #expect(lane["commit_ms"]?.integer == Int64(12))
        let partition = try #require(lane["partitions"]?.array?.last)
        #expect(partition["topic"]?.string == "in")
        #expect(partition["lag"]?.integer == Int64(7))
        #expect(partition["unstable"]?.integer == Int64(3))
        #expect(partition["end"]?.integer == Int64(7))
        #expect(partition["stalled"]?.text == "true")
        let error = try #require(lane["last_errors"]?.array?.first)
        #expect(error.object?.map(\.name) == ["event", "code", "message", "age_ms"])
        #expect(error["age_ms"]?.integer == Int64(2_000))
        #expect(lanes[1]["state"]?.string == "starting")
        #expect(lanes[1]["last_commit_ms"]?.isNull == true)
    }

    @Test("A slowed partition has its reasons and an example, and is neither stalled nor a reason against the worker")
    func slowed() throws {
        let machine = SlowedPartitionTests.slowed()
        var snapshot = WorkerSnapshot.sample()
        snapshot.lanes = [LaneView(snapshot: LaneSnapshot(lane: 0, machine: machine, at: snapshot.now), calls: [])]
        let lane = try #require(snapshot.lanes.first)
        snapshot.partitions = lane.snapshot.partitions.map { PartitionLag(lane: 0, $0, nil) }
        #expect(snapshot.partitions.map(\.isSlowed) == [true])
        let partition = try #require(try Self.parse(snapshot)["lanes"]?.array?.first?["partitions"]?.array?.first)
        let slowed = try #require(partition["slowed"])
        #expect(slowed.object?.map(\.name) == ["age_ms", "records", "dead_letters", "reasons", "example"])
        #expect(slowed["reasons"]?.array?.map(\.string) == ["bad_json 100"])
        #expect(slowed["example"]?.string == "in-0-99")
        #expect(slowed["dead_letters"]?.integer == Int64(100))
        snapshot.isReady = true
        #expect(Health.notReady(snapshot) == [])
        #expect(Health.notLive(snapshot, maxLoopAge: 60 * WorkerSnapshot.second) == [])
        let other = try Self.parse(.sample())["lanes"]?.array?.first?["partitions"]?.array?.first
        #expect(other?["slowed"]?.isNull == true)
    }

    @Test("Names from outside stay inside their strings", arguments: ["\"},{\"", "\u{1B}[2J\u{0}", "<script>"])
    func hostile(name: String) throws {
        let document = try Self.parse(.sample(topic: name, name: name))
        #expect(document["tables"]?.array?.first?["id"]?.string == name)
        #expect(!StatusDocument.json(.sample(topic: name, name: name)).utf8.contains { $0 < 0x20 })
    }
}
