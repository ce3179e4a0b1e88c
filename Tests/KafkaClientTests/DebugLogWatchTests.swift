import KafkaClient
import StrictJSON
import Testing

/// Facts that only librdkafka's debug lines tell.
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

    @Test("A coordinator that goes down is counted, one that comes up is not")
    func coordinator() {
        let seen = watch([
            ("COORD", "[thrd:main]: Transaction coordinator is now down"),
            ("COORD", "[thrd:main]: Transaction coordinator is now up"),
            ("TXNSTATE", "[thrd:main]: something is now down"),
            ("COORD", "[thrd:main]: TxnCoordinator/1: Transaction coordinator is now down: Local: Broker transport"),
        ])
        #expect(seen.coordinatorDrops == 2)
    }

    @Test("Request versions are those that every broker takes")
    func versions() {
        let seen = watch([
            ("APIVERSION", "[thrd:a:1/1]: a:1/1:   ApiKey TxnOffsetCommit (28) Versions 0..5"),
            ("APIVERSION", "[thrd:a:2/2]: a:2/2:   ApiKey TxnOffsetCommit (28) Versions 2..3"),
            ("APIVERSION", "[thrd:a:1/1]: a:1/1:   ApiKey OffsetFetch (9) Versions 0..10"),
            ("FEATURE", "[thrd:a:1/1]: a:1/1:   ApiKey Produce (0) Versions 0..1"),
        ])
        #expect(seen.requestVersions == [28: .init(min: 2, max: 3), 9: .init(min: 0, max: 10)])
    }

    @Test("Lines that are cut anywhere are looked past", arguments: 0..<45)
    func cut(length: Int) {
        let line = "x:   ApiKey TxnOffsetCommit (28) Versions 0..5"
        let seen = watch([("APIVERSION", String(line.prefix(length)))])
        #expect(seen.requestVersions.isEmpty)
    }
}
