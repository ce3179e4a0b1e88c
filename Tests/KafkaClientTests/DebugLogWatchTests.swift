import KafkaClient
import ByteStorage
import Testing

/// Information that only librdkafka's debug lines contain.
struct DebugLogWatchTests {
    private func watch(_ lines: [(String, String)]) -> DebugLogWatch {
        var watch = DebugLogWatch()
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

    @Test("Truncated lines are ignored", arguments: 0..<45)
    func cut(length: Int) {
        let line = "x:   ApiKey TxnOffsetCommit (28) Versions 0..5"
        let seen = watch([("APIVERSION", String(line.prefix(length)))])
        #expect(seen.requestVersions.isEmpty)
    }
}
