internal import ByteStorage
internal import Foundation
internal import LinkIngest
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

/// The lines of `linkd produce --devices`.
@Suite struct ProduceDeviceTests {
    /// Returns the record of a line as `key value`, with `null` for a deletion, or the reason why it has none.
    private static func record(_ line: String, _ members: DeviceMembers = .standard) -> String {
        let records = DeviceRecords(members)
        return Array(line.utf8).withUnsafeBufferPointer { bytes in
            switch records.record(of: ByteView(bytes)) {
            case .success(let record): "\(record.key.string) \(record.value?.string ?? "null")"
            case .failure(let fault): "fault: \(fault.text)"
            }
        }
    }

    @Test(
        "A line is the record of its device: compact, without the id, or null for a deletion",
        arguments: [
            (#"{"id":"d-1","platform":"ios","user":"u-1"}"#, #"d-1 {"platform":"ios","user":"u-1"}"#),
            (#" { "platform" : "ios" , "id" : "d-1" } "#, #"d-1 {"platform":"ios"}"#),
            (#"{"id":"d-1"}"#, "d-1 {}"), (#"{"id":"d-1","deleted":false,"app":"1"}"#, #"d-1 {"app":"1"}"#),
            (#"{"id":"d-1","deleted":null,"app":null}"#, #"d-1 {"app":null}"#),
            (#"{"id":"d-1","deleted":true}"#, "d-1 null"), (#"{"id":"d-1","deleted":true,"app":7}"#, "d-1 null"),
            (#"{"id":"\u0064-\n","claims":[]}"#, "d-\n {\"claims\":[]}"),
            (
                #"{"id":"d-1","attributes":{"tier":"gold","n":"é"},"more":[1.50,{"a":true}]}"#,
                #"d-1 {"attributes":{"tier":"gold","n":"é"},"more":[1.50,{"a":true}]}"#
            ),
        ])
    func records(line: String, expected: String) { #expect(Self.record(line) == expected) }

    @Test(
        "A line that a worker would not take has a reason without its content",
        arguments: [
            ("[]", "the line is not a JSON object"), (#"{"id":"secret""#, "bad_json at line 1, column 15: "),
            (#"{"id":"secret","id":"b"}"#, "two members with this name"),
            (#"{"platform":"secret"}"#, "the device has no `id` that is a string"),
            (#"{"id":7}"#, "no `id` that is a string"), (#"{"id":""}"#, "`id` has no bytes, or more than 256"),
            (#"{"id":"\#(String(repeating: "s", count: 257))"}"#, "`id` has no bytes, or more than 256"),
            (#"{"id":"d","deleted":"secret"}"#, "`deleted` is not true or false"),
            (#"{"id":"d","app":7,"platform":"secret"}"#, "the member `app` has a wrong type, or exceeds a limit"),
            (#"{"id":"d","claims":"secret"}"#, "the member `claims` "),
            (#"{"id":"d","user":""}"#, "the member `user` "),
            (#"{"id":"d","a":[[[[[[[[[]]]]]]]]]}"#, "bad_json"),
            (#"{"id":"d","a":"\#(String(repeating: "s", count: 65536))"}"#, "the device has more than 65536 bytes"),
        ])
    func faults(line: String, reason: String) {
        let text = Self.record(line)
        #expect(text.hasPrefix("fault: ") && text.contains(reason), "\(text)")
        #expect(!text.contains("secret"))
    }

    @Test(
        "With a registry, the key of an event with a user is the user",
        arguments: [(["--devices-topic", "devices"], 0), ([], 1)])
    func userKey(flags: [String], withoutKey: Int) {
        let environment = ["LINKD_HOME": Checkout.root.path + "/config"]
        withTemporaryFile(#"{"link":"shop:///p/new","user":"u-1"}"# + "\n") { path in
            let sent = linkd(["produce", "--dry-run", "--json"] + flags + [path], environment: environment)
            #expect(sent.code == 0, "\(sent.err)")
            #expect(sent.out.contains(#""without_key":\#(withoutKey)"#), "\(sent.out)")
        }
    }

    @Test("A limit of the stored facts depends on the members that a worker stores")
    func storedFacts() throws {
        let texts = (0..<40).map { "\"a\($0)\":\"\(String(repeating: "x", count: 200))\"" }.joined(separator: ",")
        let line = #"{"id":"d","attributes":{\#(texts)}}"#
        #expect(Self.record(line).hasPrefix("d {"))
        #expect(Self.record(line, try #require(DeviceMembers(["attributes.a1"]))).hasPrefix("d {"))
        let all = Self.record(line, try #require(DeviceMembers(["attributes"])))
        #expect(all.hasPrefix("fault: the member `attributes` "), "\(all)")
        let long = (0..<12).map { "\"\(String(repeating: "x", count: 200 + $0))\"" }.joined(separator: ",")
        let lists = ["capabilities", "claims"].map { #""\#($0)":[\#(long)]"# }
        let both = Self.record(#"{"id":"d",\#(lists.joined(separator: ","))}"#)
        #expect(both == "fault: the facts to store have more than 4096 bytes")
    }

    /// Returns the lines of a CSV file as JSON.
    private static func device(_ header: String, _ row: String) throws -> String {
        try withTemporaryFile("\(header)\n\(row)\n") { path in
            let map = try ColumnMap(passthrough: ["campaign"], of: .devices)
            let input = try EventInput(try ByteSource(path: path), format: .auto, raw: false, map: map)
            return try #require(input.next()).value.get().string
        }
    }

    @Test(
        "The columns of a device are its members",
        arguments: [
            ("id,user,platform,app", "d,u,ios,6.1", #"{"user":"u","id":"d","platform":"ios","app":"6.1"}"#),
            ("id;claims;capabilities", "d;a b;ar", #"{"id":"d","claims":["a","b"],"capabilities":["ar"]}"#),
            ("Device ID,user_id,App Version,OS", "d,u,6,18", #"{"user":"u","id":"d","app":"6","os":"18"}"#),
            ("id,attributes.tier,attributes.x", "d,gold,", #"{"id":"d","attributes":{"tier":"gold"}}"#),
            ("id,deleted", "d,TRUE", #"{"deleted":true,"id":"d"}"#),
            ("id,deleted", "d,false", #"{"deleted":false,"id":"d"}"#), ("id,deleted", "d,", #"{"id":"d"}"#),
            ("id,deleted", "d,1", #"{"deleted":"1","id":"d"}"#), ("id", "d", #"{"id":"d"}"#),
            ("id,campaign", "d,c", #"{"id":"d"}"#),
        ])
    func columns(header: String, row: String, expected: String) throws {
        #expect(try Self.device(header, row) == expected)
    }

    @Test(
        "A header that is not about devices ends with exit code 65",
        arguments: [
            ("id,platfrom", "write `platform`"), ("id,id", "twice"),
            ("device.name,zzzzzz", "no column is the id of a device"), ("id,device id", "are both `id`"),
        ])
    func headers(header: String, message: String) {
        withTemporaryFile("\(header)\nx,y\n") { path in
            let result = linkd("produce", "--devices", "--dry-run", "--format", "csv", path)
            #expect(result.code == 65)
            #expect(result.err.contains(message), "\(result.err)")
        }
    }

    @Test("Lines are reported by their numbers without their content, counted, and kept by --rejects")
    func rejects() throws {
        let folder = try TemporaryFolder()
        let text = #"{"id":"d","user":"u"}"# + "\n\nshop:///secret\n" + #"{"id":"d","deleted":true}"# + "\n"
        let path = folder.path("devices")
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        let bad = folder.path("bad")
        let result = linkd("produce", "--devices", "--dry-run", "--rejects", bad, path)
        #expect(result.code == 65)
        #expect(result.out.hasPrefix("read 3, would send 2, unreadable 1, deleted 1, in "), "\(result.out)")
        #expect(result.err.contains(", line 3: the line is not a JSON object (line not sent)"), "\(result.err)")
        #expect(!result.err.contains("secret"))
        #expect(try String(contentsOfFile: bad, encoding: .utf8) == "shop:///secret\n")
        let json = linkd("produce", "--devices", "--dry-run", "--json", path)
        #expect(json.out.contains(#""unreadable":1,"rejected":0,"deleted":1,"#), "\(json.out)")
        #expect(linkd("produce", "--dry-run", "--json", "/dev/null").out.contains("deleted") == false)
    }

    @Test("An event and a misspelled fact are no devices, and other members are ignored")
    func otherMembers() throws {
        let text = #"{"id":"e","link":"shop:///"}"# + "\n" + #"{"id":"d","platfrm":"ios"}"# + "\n"
        withTemporaryFile(text + #"{"id":"d","platform":"ios","reason":1,"device":"c"}"# + "\n") { path in
            let result = linkd("produce", "--devices", "--dry-run", path)
            #expect(result.code == 65 && result.out.hasPrefix("read 3, would send 1, unreadable 2,"), "\(result.out)")
            #expect(result.err.contains("line 1: the line is an event, because it has `link`"), "\(result.err)")
            #expect(result.err.contains("`platfrm` is not a member of a device, write `platform`"), "\(result.err)")
        }
    }

    @Test(
        "Flags that are about events are refused",
        arguments: [
            ["--topic", "t"], ["--key", "k"], ["--device", "d"], ["--raw"],
            ["--format", "url"], ["--check", "t.json"],
        ])
    func flags(flags: [String]) {
        let result = linkd(["produce", "--devices", "--dry-run"] + flags + ["/dev/null"])
        #expect(result.code == 64)
        #expect(result.err.contains("--devices excludes") && result.err.contains(flags[0]), "\(result.err)")
    }

    @Test("Without the topic of the registry nothing is sent, and the setting is named")
    func noTopic() {
        let result = linkd("produce", "-b", "127.0.0.1:1", "--devices", "/dev/null")
        #expect(result.code == 64)
        #expect(
            result.err.contains("`devices.topic` names no topic. Next: pass --devices-topic TOPIC"), "\(result.err)")
    }

    @Test("The sample has devices of two users, a change, and a deletion that a worker takes")
    func sample() throws {
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../config/samples/devices.jsonl").path
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
        let known = GivenDevices()
        var deleted = 0
        for line in lines {
            let record = Self.record(line).split(separator: " ", maxSplits: 1)
            try #require(record.count == 2 && record[0].hasPrefix("d-"), "\(record)")
            if record[1] == "null" {
                deleted += 1
            } else {
                #expect(known.add(Array(record[0].utf8), Array(record[1].utf8)))
            }
        }
        #expect(deleted == 1)
        let counts = ["u-17", "u-18"].map { user in
            Array(user.utf8).withUnsafeBufferPointer { known.devices(of: ByteView($0), limit: 500) { _ in } }
        }
        #expect(counts == [3, 2])
    }
}
