import ByteStorage
import LinkCoordinator
import LinkIngest
import StrictJSON
import Testing

@Suite("Devices and their facts are read")
struct DeviceTests {
    /// Members of a device in addition to its id, and the resulting facts.
    static let factCases: [(String, String)] = [
        ("", ""),
        (
            #""platform":"ios","app":"6.1.0","os":"18.2","locale":"en-GB","region":"GB","coordinator":"home""#,
            "platform=ios app=6.1.0 os=18.2 locale=en-GB region=GB coordinator=home"
        ),
        (#""coordinator":"home","platform":"ios""#, "platform=ios coordinator=home"),
        (#""capabilities":["ar","x"],"claims":["session"]"#, "capabilities=ar+x claims=session"),
        (#""capabilities":[],"claims":[]"#, "capabilities= claims="),
        (#""attributes":{"tier":"gold","a":""}"#, "attributes=tier+gold+a+"),
        (#""attributes":{}"#, "attributes="),
        (#""attributes":{"tier":null,"a":"b"}"#, "attributes=a+b"),
        (#""platform":null,"app":null,"claims":null,"attributes":null"#, ""),
        (
            #""platform":5,"app":{"x":[1]},"os":[],"locale":true,"region":1e9,"coordinator":{}"#,
            "platform! app! os! locale! region! coordinator!"
        ),
        (#""capabilities":"ar","claims":{"session":true},"attributes":["a"]"#, "capabilities! claims! attributes!"),
        (
            #""capabilities":["ar",5],"claims":[null],"attributes":{"a":"b","c":1}"#,
            "capabilities! claims! attributes!"
        ),
        (#""capabilities":[["ar"]],"attributes":{"a":{}}"#, "capabilities! attributes!"),
        (#""platform":"","app":"abc""#, "platform= app=abc"),
        (#""unknown":[1,{"platform":"x"}],"platform":"ios""#, "platform=ios"),
        (#""platform":"i\u006fs","claims":["s\/1"]"#, "platform=ios claims=s/1"),
        (
            "\"region\":\"e\u{301}\",\"claims\":[\"\u{212B}\"],\"attributes\":{\"o\u{308}\":\"A\u{30A}\"}",
            "region=\u{E9} claims=\u{C5} attributes=\u{F6}+\u{C5}"
        ),
        (#""region":"e\u0301""#, "region=\u{E9}"),
    ]

    @Test("Valid facts are known, malformed facts are listed, and other members are ignored", arguments: factCases)
    func facts(members: String, expected: String) {
        let rest = members.isEmpty ? "" : "," + members
        for value in [
            "{\"link\":\"a:b\",\"device\":{\"id\":\"d\"\(rest)}}",
            "{\"device\":{\"id\":\"d\"\(rest)},\"link\":\"a:b\"}",
            "{\"link\":\"a:b\",\"devices\":[{\"id\":\"d\"\(rest)}]}",
        ] {
            guard case .success(let event) = snapshot(value) else {
                Issue.record("refused: \(value)")
                continue
            }
            #expect(event.devices.count == 1)
            #expect(event.devices.first?.id == "d")
            // The comparison is by bytes, because Swift's own comparison ignores the normal form.
            #expect(Array((event.devices.first?.facts ?? "").utf8) == Array(expected.utf8), "\(value)")
        }
    }

    @Test("Each device of a list can be read repeatedly, with its own facts")
    func list() throws {
        let value = Array(
            (#"{"devices":[{"id":"a","app":"1"},{"id":"b","claims":["x"]},{"id":"c\n","app":7}],"link":"s:\u0061"}"#)
                .utf8)
        let bytes = ExactBytes(value)
        var reader = EventReader()
        guard case .event(let event) = reader.read(value: bytes.view, key: nil) else {
            Issue.record("refused")
            return
        }
        #expect(event.deviceCount == 3)
        let expected = [
            Snapshot.Device(id: "a", facts: "app=1"), Snapshot.Device(id: "b", facts: "claims=x"),
            Snapshot.Device(id: "c\n", isPlain: false, facts: "app!"),
        ]
        for index in [2, 0, 1, 1, 2, 0] {
            #expect(Snapshot.Device(try reader.device(at: index)) == expected[index])
            #expect(event.request.text.string == "s:a")
        }
    }

    @Test("Facts can have up to 256 bytes or elements", arguments: [255, 256, 257])
    func bounds(size: Int) {
        let isGood = size <= 256
        let text = String(repeating: "x", count: size)
        let list = (0..<size).map { "\"\($0)\"" }.joined(separator: ",")
        let object = (0..<size).map { "\"\($0)\":\"\"" }.joined(separator: ",")
        let value = """
            {"link":"a:b","device":{"id":"d","app":"\(text)","claims":["\(text)"],"capabilities":[\(list)],
            "attributes":{\(object)},"region":"\(String(repeating: "\\u0041", count: size))"}}
            """
        guard case .success(let event) = snapshot(value) else {
            Issue.record("refused")
            return
        }
        let facts = event.devices.first?.facts ?? ""
        for fact in ["app", "region", "capabilities", "claims", "attributes"] {
            #expect(facts.contains("\(fact)=") == isGood)
            #expect(facts.contains("\(fact)!") == !isGood)
        }
        guard
            case .success(let names) = snapshot(
                "{\"link\":\"a:b\",\"device\":{\"id\":\"d\",\"attributes\":{\"\(text)\":\"\"}}}")
        else {
            Issue.record("refused")
            return
        }
        #expect(names.devices.first?.facts.hasPrefix(isGood ? "attributes=" : "attributes!") == true)
    }

    @Test("The unescaped id of a device has 1 to 256 bytes", arguments: [1, 256, 257])
    func idBounds(size: Int) {
        for id in [String(repeating: "i", count: size), String(repeating: "\\u0069", count: size)] {
            let result = snapshot("{\"link\":\"a:b\",\"device\":{\"id\":\"\(id)\"}}")
            if size <= 256 {
                guard case .success(let event) = result else {
                    Issue.record("refused")
                    return
                }
                #expect(event.devices.first?.id == String(repeating: "i", count: size))
            } else {
                guard case .failure(let failure) = result else {
                    Issue.record("read")
                    return
                }
                #expect(failure.reason == "bad_device" && failure.pointer == "/device/id")
            }
        }
    }

    @Test("The key is the device if the event names none")
    func key() {
        guard case .success(let event) = snapshot(#"{"link":"a:b"}"#, key: "k\"1") else {
            Issue.record("refused")
            return
        }
        #expect(event.devices == [Snapshot.Device(id: "k\"1", isPlain: false)])
        guard case .success(let other) = snapshot(#"{"link":"a:b","device":{"id":"d"}}"#, key: "k") else {
            Issue.record("refused")
            return
        }
        #expect(other.devices == [Snapshot.Device(id: "d")])
    }
}
