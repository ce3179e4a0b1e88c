import LinkIngest
import Testing

@Suite("Limits are checked below, at, and above the bound")
struct LimitTests {
    private func reason(
        _ value: String, limits: Limits = Limits(), passthrough: Passthrough = []
    ) -> String {
        switch snapshot(value, key: "k", limits: limits, passthrough: passthrough) {
        case .success: "read"
        case .failure(let failure): failure.reason + (failure.pointer.map { " " + $0 } ?? "")
        }
    }

    @Test("The size of a record is limited", arguments: [(63, "read"), (64, "read"), (65, "oversize_input")])
    func bytes(size: Int, expected: String) {
        let frame = #"{"link":"a:"}"#
        let value = #"{"link":"a:"# + String(repeating: "x", count: size - frame.utf8.count) + #""}"#
        #expect(value.utf8.count == size)
        #expect(reason(value, limits: Limits(recordBytes: 64)) == expected)
    }

    @Test("The depth is limited for every member, with one more level in a payload", arguments: [8, 64, 512])
    func depth(limit: Int) {
        let limits = Limits(recordBytes: 1 << 20, depth: limit)
        func nested(_ levels: Int) -> String {
            String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        }
        let heads: [(String, String, Int, String)] = [
            (#"{"link":"a:b","x":"#, "}", 1, "/x"), (#"{"payload":{"aps":"#, "}}", 1, "/payload/aps"),
            (#"{"link":"a:b","device":{"id":"d","claims":"#, "}}", 2, "/device/claims"),
            (#"{"link":"a:b","devices":[{"id":"d","x":"#, "}]}", 3, "/devices/0/x"),
            (#"{"route":"r","params":"#, "}", 1, "/params"),
        ]
        for (head, tail, used, pointer) in heads {
            let room = limit - used
            let isParams = pointer == "/params"
            #expect(reason(head + nested(room - 1) + tail, limits: limits) == (isParams ? "bad_json /params" : "read"))
            #expect(reason(head + nested(room) + tail, limits: limits) == (isParams ? "bad_json /params" : "read"))
            let steps = min(room, (512 - pointer.utf8.count) / 2)
            #expect(
                reason(head + nested(room + 1) + tail, limits: limits)
                    == "bad_json " + pointer + String(repeating: "/0", count: steps))
        }
    }

    @Test("Ten thousand levels are refused at the first level above the limit")
    func veryDeep() {
        let value = #"{"link":"a:b","x":"# + String(repeating: "[", count: 10_000)
        #expect(reason(value) == "bad_json /x" + String(repeating: "/0", count: 63))
    }

    @Test(
        "The number of devices is limited",
        arguments: [(1, "read"), (499, "read"), (500, "read"), (501, "too_many_devices /devices")])
    func devices(count: Int, expected: String) {
        let list = (0..<count).map { "{\"id\":\"d\($0)\"}" }.joined(separator: ",")
        #expect(reason("{\"devices\":[\(list)],\"link\":\"a:b\"}") == expected)
        guard case .success(let event) = snapshot("{\"devices\":[\(list)],\"link\":\"a:b\"}") else {
            #expect(expected != "read")
            return
        }
        #expect(event.devices.map(\.id) == (0..<count).map { "d\($0)" })
    }

    @Test("A lower limit of devices applies")
    func fewDevices() {
        let limits = Limits(devices: 2)
        #expect(reason(#"{"link":"a:b","devices":[{"id":"a"},{"id":"b"}]}"#, limits: limits) == "read")
        #expect(
            reason(#"{"link":"a:b","devices":[{"id":"a"},{"id":"b"},{"x":{}}]}"#, limits: limits)
                == "too_many_devices /devices")
        if case .failure(let failure) = snapshot(
            #"{"link":"a:b","devices":[{"id":"a"},{"id":"b"},{"id":"c"},{"id":"d"}]}"#, limits: limits)
        {
            #expect(failure.detail == "expected at most 2 devices, found 4")
        } else {
            Issue.record("read")
        }
        #expect(
            reason(#"{"link":"a:b","devices":[{"id":"a"},{"id":"b"},{"id":"c"},7]}"#, limits: limits)
                == "bad_json /devices/3")
    }

    @Test("The size of an event's id is limited", arguments: [(1, "read"), (128, "read"), (129, "bad_json /id")])
    func eventID(size: Int, expected: String) {
        #expect(reason("{\"link\":\"a:b\",\"id\":\"\(String(repeating: "i", count: size))\"}") == expected)
        #expect(reason("{\"link\":\"a:b\",\"id\":\"\(String(repeating: "\\u0069", count: size))\"}") == expected)
    }

    @Test("The size of a key is limited", arguments: [(1, "d"), (256, "d"), (257, "bad_device")])
    func key(size: Int, expected: String) {
        switch snapshot("a:b", key: String(repeating: "k", count: size)) {
        case .success(let event): #expect(expected == "d" && event.devices.count == 1)
        case .failure(let failure): #expect(failure.reason == expected)
        }
    }

    @Test("A repeated name is found in an object with very many names")
    func manyNames() {
        let names = (0..<20_000).map { "\"n\($0)\":1" }.joined(separator: ",")
        #expect(reason("{\"link\":\"a:b\",\"x\":{\(names)}}") == "read")
        #expect(reason("{\"link\":\"a:b\",\"x\":{\(names),\"n7\":1}}") == "bad_json /x/n7")
        #expect(reason("{\"link\":\"a:b\",\(names)}") == "read")
        #expect(reason("{\"link\":\"a:b\",\(names),\"n7\":1}") == "bad_json /n7")
    }
}
