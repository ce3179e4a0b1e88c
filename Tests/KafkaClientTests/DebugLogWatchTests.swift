@testable import KafkaClient
import ByteStorage
import Testing

/// Information that only librdkafka's debug lines contain.
struct DebugLogWatchTests {
    private func watch(_ lines: [(String, String)]) -> DebugLogWatch {
        var watch = DebugLogWatch()
        watch.maxFetchMilliseconds = 1_100
        for (facility, text) in lines {
            Array(facility.utf8).withUnsafeBufferPointer { facility in
                Array(text.utf8).withUnsafeBufferPointer {
                    watch.read(facility: ByteView(facility), text: ByteView($0))
                }
            }
        }
        return watch
    }

    @Test(
        "A lost coordinator connection is counted even if both lines of a short interruption contain `up`",
        arguments: [
            ("", 0), ("down", 0), ("down up", 0), ("up", 0), ("up down", 1), ("up down up", 1), ("down up up", 1),
            ("up up up", 2), ("up down down up", 2), ("up other", 0),
        ])
    func coordinator(lines: String, drops: Int) {
        let seen = watch(
            lines.split(separator: " ").map {
                ("COORD", "[thrd:main]: TxnCoordinator/1: Transaction coordinator is now \($0)")
            }
                + [("TXNSTATE", "[thrd:main]: Transaction coordinator is now down")])
        #expect(seen.coordinatorDrops == drops)
    }

    @Test("Request versions are those that every broker supports")
    func versions() {
        let seen = watch([
            ("APIVERSION", "[thrd:a:1/1]: a:1/1:   ApiKey TxnOffsetCommit (28) Versions 0..5"),
            ("APIVERSION", "[thrd:a:2/2]: a:2/2:   ApiKey TxnOffsetCommit (28) Versions 2..3"),
            ("APIVERSION", "[thrd:a:1/1]: a:1/1:   ApiKey OffsetFetch (9) Versions 0..10"),
            ("FEATURE", "[thrd:a:1/1]: a:1/1:   ApiKey Produce (0) Versions 0..1"),
        ])
        #expect(seen.requestVersions == [28: .init(min: 2, max: 3), 9: .init(min: 0, max: 10)])
    }

    @Test(
        "Only the loss of an established connection and a late answer to a fetch interrupt fetches",
        arguments: [
            ("STATE", "[thrd:a:1/1]: a:1/1: Broker changed state UP -> DOWN", true),
            ("STATE", "[thrd:a:1/1]: a:1/1: Broker changed state UPDATE -> DOWN", true),
            ("STATE", "[thrd:a:1/1]: a:1/1: Broker changed state TRY_CONNECT -> DOWN", false),
            ("STATE", "[thrd:a:1/1]: a:1/1: Broker changed state CONNECT -> UP", false),
            ("STATE", "[thrd:main]: Topic t changed state exists -> notexists", false),
            ("RECV", "[thrd:a:1/1]: a:1/1: Received FetchResponse (v11, 98 bytes, CorrId 12, rtt 1101.33ms)", true),
            ("RECV", "[thrd:a:1/1]: a:1/1: Received FetchResponse (v11, 98 bytes, CorrId 12, rtt 1100.99ms)", false),
            ("RECV", "[thrd:a:1/1]: a:1/1: Received FetchResponse (v11, 98 bytes, CorrId 12, rtt 99.00ms)", false),
            ("RECV", "[thrd:a:1/1]: a:1/1: Received FetchResponse (v11, 900000 bytes, CorrId 1, rtt 2000.00ms)", false),
            ("RECV", "[thrd:a:1/1]: a:1/1: Received FetchResponse (v11, 900000 bytes, CorrId 1, rtt 2001.00ms)", true),
            ("RECV", "[thrd:a:1/1]: a:1/1: Received FetchResponse (v11, 52000000 bytes, CorrId 1, rtt 9.0ms)", false),
            ("RECV", "[thrd:a:1/1]: a:1/1: Received HeartbeatResponse (v3, 6 bytes, CorrId 9, rtt 5000.00ms)", false),
            ("RECV", "[thrd:a:1/1]: a:1/1: Received FetchResponse (v11, rtt ", false),
        ])
    func interruptions(facility: String, line: String, isInterrupted: Bool) {
        var seen = watch([(facility, line)])
        #expect(seen.takeInterruptions().isConnectionLost == isInterrupted)
        #expect(seen.takeInterruptions() == FetchInterruptions())
    }

    @Test(
        "A refused fetch names its partition, and other lines do not",
        arguments: [
            ("[thrd:a:1/1]: in.put-1 [5]: broker unavailable: fetch: Broker: Unknown topic id", "in.put-1 [5]"),
            ("in [12]: broker unavailable: fetch: Broker: Not leader for partition", "in [12]"),
            ("[thrd:a:1/1]: in [x]: broker unavailable", ""), ("[thrd:a:1/1]: in: broker unavailable", ""),
            ("[thrd:a:1/1]: in []: broker unavailable", ""), ("]: broker unavailable", ""), ("", ""),
        ])
    func refusedFetches(line: String, partition: String) {
        var seen = watch([("BROKERUA", line)])
        #expect(seen.takeInterruptions().refused.map(\.description) == (partition.isEmpty ? [] : [partition]))
    }

    @Test("Truncated lines are ignored", arguments: 0..<45)
    func cut(length: Int) {
        let line = "x:   ApiKey TxnOffsetCommit (28) Versions 0..5"
        let seen = watch([("APIVERSION", String(line.prefix(length)))])
        #expect(seen.requestVersions.isEmpty)
    }
}
