import ByteStorage
import LinkCoordinator
import LinkIngest
import StrictJSON
import Testing

@Suite("Passthrough members are copied into the context")
struct ContextTests {
    private func context(_ value: String, _ names: [String]) -> String? {
        guard case .success(let event) = snapshot(value, key: "k", passthrough: Passthrough(names)) else { return nil }
        return event.context
    }

    @Test("Members of any type are copied in the order of the configuration")
    func order() {
        let value = #"{"b":2,"link":"a:b","a":"x","c":[1,{"d":null}],"e":null,"f":true,"n":-1.50e+2}"#
        #expect(
            context(value, ["a", "b", "c", "e", "f", "g", "n"])
                == #""a":"x","b":2,"c":[1,{"d":null}],"f":true,"n":-1.50e+2"#)
        #expect(context(value, ["b", "a"]) == #""b":2,"a":"x""#)
        #expect(context(value, []) == "")
        #expect(context(value, ["zzz"]) == "")
    }

    @Test("A member that events define can be passed through")
    func known() {
        let value = #"{"id":"e","link":"a:b","sent":"now","device":{"id":"d"},"aps":{"x":1}}"#
        #expect(
            context(value, ["link", "sent", "device", "aps", "id"])
                == #""link":"a:b","sent":"now","device":{"id":"d"},"aps":{"x":1},"id":"e""#)
    }

    @Test("The output has no white space and only the escapes of the writer")
    func compact() {
        let value =
            "{\"link\":\"a:b\",\"x\" : [ 1 ,\n "
            + "\"a b\\/\\u0041\\u00e9\\ud83d\\ude00\\u001F\\n\\u000a\\u0022\\u005c\" ] }"
        #expect(context(value, ["x"]) == "\"x\":[1,\"a b/A\u{E9}\u{1F600}\\u001f\\n\\n\\\"\\\\\"]")
    }

    @Test("Names with escapes, repeated names, and too many names are accepted")
    func names() {
        #expect(context(#"{"link":"a:b","a\"b":1,"é":2}"#, ["a\"b", "é", "é", "a\"b"]) == #""a\"b":1,"é":2"#)
        let many = (0..<40).map { "n\($0)" }
        let value = "{\"link\":\"a:b\"," + many.map { "\"\($0)\":1" }.joined(separator: ",") + "}"
        #expect(context(value, many)?.split(separator: ",").count == 16)
        #expect(context(#"{"link":"a:b","":7}"#, [""]) == #""":7"#)
    }

    @Test("The values can have 4096 bytes in total, but no more")
    func limit() {
        for (size, isGood) in [(4091, true), (4092, true), (4093, false), (9000, false)] {
            let text = String(repeating: "x", count: size)
            let result = snapshot(
                "{\"id\":\"e\",\"link\":\"a:b\",\"a\":10,\"b\":\"\(text)\"}", key: "k", passthrough: ["a", "b"])
            switch result {
            case .success(let event):
                #expect(isGood)
                #expect(event.context == "\"a\":10,\"b\":\"\(text)\"")
            case .failure(let failure):
                #expect(!isGood)
                #expect(
                    failure
                        == Snapshot.Refusal(
                            reason: "bad_json",
                            detail: "expected at most 4096 bytes in the passthrough members", event: "e"))
            }
        }
    }

    @Test("By default a campaign of at most 256 bytes is copied, and anything else is left out with a note")
    func campaign() {
        let long = String(repeating: "c", count: 257)
        let cases: [(value: String, context: String, isNoted: Bool)] = [
            (#""spring""#, #""campaign":"spring""#, false), (#""""#, #""campaign":"""#, false),
            ("\"\(long.dropFirst())\"", "\"campaign\":\"\(long.dropFirst())\"", false), ("\"\(long)\"", "", true),
            ("5", "", true), (#"{"id":"x"}"#, "", true), ("[]", "", true), ("true", "", true), ("null", "", false),
        ]
        let forms = [
            #""link":"a:b""#, #""link":" a:b ""#, #""path":"/a""#, #""route":"r""#, #""payload":{"x":1}"#,
            #""link":"a:b","aps":{}"#, #""aps":{}"#,
        ]
        var reader = EventReader(passthrough: .campaign)
        for form in forms {
            for (value, context, isNoted) in cases {
                for text in ["{\(form),\"campaign\":\(value)}", "{\(form)}", "a:b"] {
                    let bytes = ExactBytes(Array(text.utf8))
                    let key = ExactBytes(Array("k".utf8))
                    guard reader.readInPlace(value: bytes.view, key: key.view), reader.selectDevice(at: 0) else {
                        Issue.record("\(text): \(reader.failure.detail)")
                        continue
                    }
                    let event = reader.eventPointer.pointee
                    let hasMember = text.contains("campaign")
                    #expect(event.context.string == (hasMember ? context : ""), "\(text)")
                    let notes = event.request.notes.map { $0.code.string + $0.place.string }
                    let wanted = hasMember && isNoted ? 1 : 0
                    #expect(notes.filter { $0 == "member_skipped /campaign" }.count == wanted, "\(text): \(notes)")
                    withExtendedLifetime((bytes, key)) {}
                }
            }
        }
        // A list that names the campaign copies any value.
        #expect(self.context(#"{"link":"a:b","campaign":5}"#, ["campaign"]) == #""campaign":5"#)
        #expect(self.context(#"{"link":"a:b","campaign":5}"#, []) == "")
    }

    @Test("The context of a record is not visible in later records or bare links")
    func notCarriedOver() {
        var reader = EventReader(passthrough: ["c"])
        for (value, expected) in [
            (#"{"link":"a:b","c":1}"#, #""c":1"#), ("a:b", ""), (#"{"c":2,"link":5}"#, "-"), (#"{"link":"a:b"}"#, ""),
            (#"{"c":3,"link":"#, "-"), (#"{"link":"a:b"}"#, ""),
        ] {
            switch snapshot(Array(value.utf8), key: [0x64], with: &reader) {
            case .success(let event): #expect(event.context == expected)
            case .failure: #expect(expected == "-")
            }
        }
    }
}
