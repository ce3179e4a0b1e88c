import LinkIngest
import StrictJSON
import Testing

@Suite("The framing of a record's text is handled")
struct WireTests {
    private func framed(_ id: [UInt8], _ text: String) -> [UInt8] { [0] + id + Array(text.utf8) }

    @Test("The Confluent prefix before JSON is removed, and locations account for it")
    func prefix() {
        guard case .success(let event) = snapshot(framed([0, 0, 1, 2], " {\"link\":\"a:b\"}\n"), key: [0x64]) else {
            Issue.record("refused")
            return
        }
        #expect(event.text == "a:b")
        #expect(
            snapshot(framed([0, 0, 0, 7], #"  {"link":"a:b","id":5}"#), key: [0x64])
                == .failure(
                    Snapshot.Refusal(
                        reason: "bad_json", detail: "expected `id` to be a string of 1 to 128 bytes", pointer: "/id")))
    }

    @Test("The Confluent prefix before other data is refused with the schema id")
    func schema() {
        for (text, id) in [("\u{2}a", [0, 0, 1, 2]), ("", [0xFF, 0xFF, 0xFF, 0xFF]), ("a:b", [0, 0, 0, 1])] {
            let number = id.reduce(0) { $0 << 8 | $1 }
            #expect(
                snapshot(framed(id.map { UInt8($0) }, text), key: [0x64])
                    == .failure(
                        Snapshot.Refusal(
                            reason: "schema_unsupported", detail: "expected JSON after schema id \(number)")))
        }
        guard case .failure(let short) = snapshot([0, 0, 0, 1], key: [0x64]) else {
            Issue.record("read")
            return
        }
        #expect(short.reason == "bad_json")
    }

    /// A header and the expected refusal.
    static let headers: [(String, String?, String?)] = [
        ("content-encoding", "gzip", "expected a value without content-encoding, found gzip"),
        ("Content-Encoding", "GZIP", "expected a value without content-encoding, found gzip"),
        ("content-encoding", "zstd", "expected a value without content-encoding, found zstd"),
        ("content-encoding", "secret, gzip", "expected a value without content-encoding"),
        ("content-encoding", "identity", nil), ("content-encoding", "", nil), ("content-encoding", nil, nil),
        ("content-type", "gzip", nil), ("", "gzip", nil),
    ]

    @Test("A content-encoding is refused with its name", arguments: headers)
    func encodings(name: String, value: String?, detail: String?) {
        let nameBytes = ExactBytes(Array(name.utf8))
        let valueBytes = ExactBytes(Array((value ?? "").utf8))
        let failure = WireFormat.refusal(ofHeader: nameBytes.view, value: value == nil ? nil : valueBytes.view)
        #expect(failure?.detail == detail)
        #expect(failure == nil || failure?.reason == .encodingUnsupported)
    }

    /// Timestamps with the expected milliseconds since 1970.
    static let times: [(String, Int64?)] = [
        ("1970-01-01T00:00:00Z", 0), ("1970-01-01t00:00:00.001z", 1), ("1970-01-01T00:00:00.0019Z", 1),
        ("1970-01-01T01:00:00+01:00", 0), ("1969-12-31T23:59:59.5-00:00", -500),
        ("1969-12-31T12:00:00-12:00", 0), ("2026-11-20T10:00:00Z", 1_795_168_800_000),
        ("2000-02-29T00:00:00Z", 951_782_400_000), ("2024-02-29T23:59:59.999Z", 1_709_251_199_999),
        ("0000-01-01T00:00:00Z", -62_167_219_200_000), ("9999-12-31T23:59:59Z", 253_402_300_799_000),
        ("1998-12-31T23:59:60Z", 915_148_800_000), ("1999-01-01T00:59:60+01:00", 915_148_800_000),
        ("1970-01-01T00:00:00.12345678901234567890123456789Z", 123),
        ("1998-12-31T12:00:60Z", nil), ("1900-02-29T00:00:00Z", nil), ("2023-02-29T00:00:00Z", nil),
        ("2026-13-01T00:00:00Z", nil), ("2026-00-01T00:00:00Z", nil), ("2026-04-31T00:00:00Z", nil),
        ("2026-01-00T00:00:00Z", nil), ("2026-01-01T24:00:00Z", nil), ("2026-01-01T00:60:00Z", nil),
        ("2026-01-01T00:00:61Z", nil), ("2026-01-01T00:00:00", nil), ("2026-01-01T00:00:00.Z", nil),
        ("2026-01-01 00:00:00Z", nil), ("2026-01-01T00:00:00+0100", nil), ("2026-01-01T00:00:00+24:00", nil),
        ("2026-01-01T00:00:00+01:60", nil), ("2026-01-01T00:00:00Zx", nil), ("2026-01-01", nil), ("", nil),
        ("+026-01-01T00:00:00Z", nil), ("2026-1-01T00:00:00Z", nil), ("2026-01-01T00:00:00ZZ", nil),
        ("2026-01-01T00:00:00.0" + String(repeating: "0", count: 60) + "Z", nil),
    ]

    @Test("The time of expiry is an RFC 3339 timestamp in milliseconds", arguments: times)
    func expires(text: String, milliseconds: Int64?) {
        switch snapshot("{\"link\":\"a:b\",\"expires\":\"\(text)\"}", key: "k") {
        case .success(let event):
            #expect(event.expires != nil && event.expires == milliseconds)
        case .failure(let failure):
            #expect(milliseconds == nil)
            #expect(failure.reason == "bad_json" && failure.pointer == "/expires")
        }
    }
}
