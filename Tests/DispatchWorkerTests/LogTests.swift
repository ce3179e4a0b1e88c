@testable import DispatchWorker
import Synchronization
import Testing

/// The format of log lines, and the bounds of the log.
@Suite struct LogTests {
    static let entry = LogEntry(
        .info, "assigned", lane: 3, "partitions assigned",
        ["partitions": .list(["in-0", "in-1"]), "ms": 12, "note": "a \"b\" = c", "empty": ""])

    @Test("A JSON line has its members in the documented order")
    func json() {
        #expect(
            LogFormatter.text(of: Self.entry, milliseconds: 1_795_168_800_123, format: .json)
                == #"{"time":"2026-11-20T10:00:00.123Z","level":"info","event":"assigned","lane":3,"#
                + #""message":"partitions assigned","partitions":["in-0","in-1"],"ms":12,"note":"a \"b\" = c","#
                + #""empty":""}"#)
        let process = LogEntry(.warning, "x", "m")
        #expect(
            LogFormatter.text(of: process, milliseconds: 0, format: .json)
                == #"{"time":"1970-01-01T00:00:00.000Z","level":"warning","event":"x","message":"m"}"#)
    }

    @Test("A text line quotes ambiguous values")
    func text() {
        #expect(
            LogFormatter.text(of: Self.entry, milliseconds: 1_795_168_800_123, format: .text)
                == #"2026-11-20T10:00:00.123Z info  lane 3  partitions assigned  partitions=in-0,in-1 ms=12 "#
                + #"note="a \"b\" = c" empty="""#)
    }

    @Test("Control characters in a line are escaped")
    func control() {
        let entry = LogEntry(.error, "e", "a\u{1B}[31m\nb\u{85}\u{202E}", ["f": "c\r\u{0}\u{2066}"])
        for format in LogFormat.allCases {
            let text = LogFormatter.text(of: entry, milliseconds: 0, format: format)
            #expect(!text.unicodeScalars.contains { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) })
            #expect(!text.unicodeScalars.contains { $0.properties.generalCategory == .format })
            #expect(text.contains("\\u001b[31m\\nb"))
        }
    }

    @Test("A status is part of a JSON line, and a string in a text line")
    func status() {
        let entry = LogEntry(.info, LogEntry.status, "m", ["status": .json(#"{"a":["b\#u{9B}c",1]}"#)])
        let json = LogFormatter.text(of: entry, milliseconds: 0, format: .json)
        #expect(json.hasSuffix(#","status":{"a":["b\u009bc",1]}}"#))
        let text = LogFormatter.text(of: entry, milliseconds: 0, format: .text)
        #expect(text.hasSuffix(#"status="{\"a\":[\"b\u009bc\",1]}""#))
    }

    static let times: [(Int64, String)] = [
        (0, "1970-01-01T00:00:00.000Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        (4_107_542_399_999, "2100-02-28T23:59:59.999Z"), (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        (-1, "1969-12-31T23:59:59.999Z"), (1_735_689_599_001, "2024-12-31T23:59:59.001Z"),
    ]

    @Test("Timestamps follow the calendar", arguments: times)
    func timestamps(milliseconds: Int64, text: String) {
        #expect(LogFormatter.text(of: Self.entry, milliseconds: milliseconds, format: .text).hasPrefix("\(text) "))
    }

    @Test("Lines after the tenth of one event and lane within 10 s are summed up, and other lanes are unaffected")
    func rate() {
        var rate = LogRate()
        let entry = LogEntry(.warning, "aborted", lane: 0, "m")
        for _ in 0..<10 { #expect(rate.admit(entry, now: 5) == [entry]) }
        for _ in 0..<7 { #expect(rate.admit(entry, now: 6) == []) }
        let other = LogEntry(.warning, "aborted", lane: 1, "m")
        #expect(rate.admit(other, now: 6) == [other])
        #expect(rate.due(now: 9_000_000_000) == [])
        let sum = rate.due(now: 11_000_000_000)
        #expect(sum.map(\.fields) == [["suppressed": 7]])
        #expect(sum.first?.event == "aborted")
        #expect(rate.admit(entry, now: 12_000_000_000) == [entry])
        let status = LogEntry(.info, LogEntry.status, "m")
        for _ in 0..<20 { #expect(rate.admit(status, now: 12_000_000_000) == [status]) }
        let trace = LogEntry(.info, LogEntry.trace, lane: 0, "m")
        for _ in 0..<20 { #expect(rate.admit(trace, now: 12_000_000_000) == [trace]) }
    }

    @Test("The line with the reason of the exit is the last one, after all summaries")
    func exitIsLast() {
        var rate = LogRate()
        let entry = LogEntry(.warning, "librdkafka", "m")
        for _ in 0..<12 { _ = rate.admit(entry, now: 5) }
        let exit = LogEntry(.error, LogEntry.exit, "why")
        let written = rate.admit(exit, now: 6)
        #expect(written.map(\.event) == ["librdkafka", "exit"])
        #expect(written.first?.fields == ["suppressed": 2])
        #expect(rate.admit(entry, now: 7) == [])
        #expect(rate.due(now: 20_000_000_000, final: true) == [])
    }

    @Test("All accepted lines are written before the log is closed, and less severe ones are not accepted")
    func writes() {
        let lines = Mutex<[String]>([])
        let sink = Box(lines)
        let log = Log(level: .info, format: .text) { line in sink.lines.withLock { $0.append(line) } }
        for index in 0..<100 { log.log(LogEntry(.info, "e\(index)", "line \(index)")) }
        log.log(LogEntry(.debug, "d", "hidden"))
        log.close()
        let written = sink.lines.withLock { $0 }
        #expect(written.count == 100)
        #expect(written.enumerated().allSatisfy { $0.element.hasSuffix("line \($0.offset)") })
    }

    /// A mutex that is shared with the log's thread.
    final class Box: Sendable {
        let lines: Mutex<[String]>

        init(_ lines: consuming sending Mutex<[String]>) { self.lines = lines }
    }
}
