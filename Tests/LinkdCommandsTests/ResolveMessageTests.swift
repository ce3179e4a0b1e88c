internal import Foundation
internal import StrictJSON
internal import Testing

@testable internal import LinkdCommands

/// `linkd resolve` with push messages of vendors.
@Suite struct ResolveMessageTests {
    private static let device = #""device": {"id": "d-1", "platform": "ios", "app": "6.0"}"#

    /// Returns the explanation of an event, as text and as the member `envelope` of the JSON.
    private static func explain(_ event: String) throws -> (text: String, envelope: JSONValue) {
        let text = VendorFiles.run(["resolve", "--explain", event])
        #expect(text.code == 0, "\(text.err)")
        let json = VendorFiles.run(["resolve", "--explain", "--json", event])
        let plain = VendorFiles.run(["resolve", "--json", event])
        #expect(json.out.hasPrefix(plain.out.dropLast(2)), "the decision is the same")
        let decision = try JSONValue.parse(Array(json.out.utf8))
        #expect(decision.object?.suffix(2).map(\.name) == ["envelope", "explain"])
        return (text.out, try #require(decision["envelope"]))
    }

    @Test("A file in place of a link, and --device with an event, are told what to do")
    func misuse() {
        withTemporaryFile(#"{"link":"shop:///p/new"}"#) { path in
            let result = VendorFiles.run(["resolve", path])
            #expect(result.code == 64 && result.err.contains("`linkd resolve < '\(path)'`"), "\(result)")
            // Nothing is decided before all operands are known to be links or events.
            let second = VendorFiles.run(["resolve", "shop:///p/new", path])
            #expect(second.code == 64 && second.out.isEmpty && second.err.contains("with --table"), "\(second)")
        }
        let event = #"{"link": "shop:///p/new", \#(Self.device)}"#
        let result = VendorFiles.run(["resolve", "--device", #"{"app":"1.0"}"#, event, event, "shop:///p/new"])
        #expect(result.code == 0 && result.err.components(separatedBy: "--device is for bare links").count == 2)
        #expect(!VendorFiles.run(["resolve", "--device", #"{"app":"1.0"}"#, "shop:///p/new"]).err.contains("--device"))
    }

    @Test("An explanation has the envelope, the vendor with its marks, the other vendors, and the place of the link")
    func vendor() throws {
        let payload = #"{"aps":{"alert":"Sale"},"ab":{"c":"spring"},"ab_uri":"shop:///p/new","pw_msg":"1"}"#
        let found = try Self.explain(#"{"payload": \#(payload), \#(Self.device)}"#)
        for words in [
            "envelope   native, with a payload of the kind apns\n", "vendor     braze, recognized by /ab\n",
            "also recognized: pushwoosh\n", "found      by the vendor's form at /ab_uri\n",
            "ids        campaign spring\n", "decision   navigate", "note: vendor_also:pushwoosh",
        ] { #expect(found.text.contains(words), "\(words) in \(found.text)") }
        let expected = """
            {"kind":"native","payload":"apns","vendor":"braze","marks":["/ab"],"also":["pushwoosh"],"source":"vendor",\
            "pointer":"/ab_uri","link":"shop:///p/new","reason":null,"message":null,"campaign":"spring",\
            "notes":["vendor_also:pushwoosh"]}
            """
        #expect(found.envelope.text == expected)
    }

    @Test(
        "An explanation states that the vendor's product has ended, or which keys are not documented",
        arguments: [
            (#"{"aps":{"alert":"Hi"},"data":{"pinpoint":{"deeplink":"shop:///p/new"}}}"#, "ended on 2026-10-30"),
            (
                #"{"aps":{"alert":"Hi"},"moengage":{"cid":"c"},"app_extra":{"moe_deeplink":"shop:///p/new"}}"#,
                "a tapped button opens nothing"
            ),
        ])
    func remark(payload: String, words: String) throws {
        let found = try Self.explain(#"{"payload": \#(payload), \#(Self.device)}"#)
        #expect(found.text.contains("           remark: ") && found.text.contains(words), "\(found.text)")
        #expect(found.envelope["remark"]?.string?.contains(words) == true)
    }

    @Test("A pointer of the route table precedes the vendor, and the explanation has its place in the payload")
    func tablePointer() throws {
        let payload = """
            {"message":{"token":"t","data":{"deep_link":"shop:///"},\
            "apns":{"payload":{"aps":{"alert":"New","link":"shop:///p/new"},"ab":{},"ab_uri":"shop:///o/1"}}}}
            """
        let found = try Self.explain(#"{"payload": \#(payload), \#(Self.device)}"#)
        #expect(found.text.contains("found      by a pointer of the route table at /message/apns/payload/aps/link\n"))
        #expect(found.envelope["source"]?.string == "table" && found.envelope["vendor"]?.string == "braze")
        #expect(found.envelope["pointer"]?.string == "/message/apns/payload/aps/link")
        #expect(found.envelope["link"] == nil)
    }

    @Test("A tapped button decides, also if it only opens the app")
    func button() throws {
        let payload = """
            {"aps":{"alert":"Sale"},"itbl":{"messageId":"m","defaultAction":{"type":"openUrl","data":"shop:///p/new"},\
            "actionButtons":[{"identifier":"search","action":{"type":"openUrl","data":"shop:///search?q=a"}},\
            {"identifier":"app","openApp":true}]}}
            """
        let search = try Self.explain(#"{"payload": \#(payload), "action": "search", \#(Self.device)}"#)
        #expect(search.text.contains("found      by the tapped button at /itbl/actionButtons/0/action/data\n"))
        #expect(search.envelope["source"]?.string == "button")
        let app = try Self.explain(
            #"{"application": "com.example.shop", "payload": \#(payload), "action": "app", \#(Self.device)}"#)
        #expect(app.text.contains("found      the tapped button only opens the app\n"), "\(app.text)")
        #expect(app.text.contains("because    the message or its button only opens the app\n"))
        #expect(app.envelope["reason"]?.string == "open_app" && app.envelope["pointer"]?.isNull == true)
    }

    @Test("The envelope of Web Push has its own link, without a vendor")
    func webPush() throws {
        let found = try Self.explain(
            #"{"payload": {"web_push": 8030, "notification": {"navigate": "https://shop.example/p/new"}},"#
                + #" "device": {"id": "d", "platform": "web", "app": "6.0"}}"#)
        #expect(found.text.contains("payload of the kind web_push\n") && found.text.contains("vendor     none\n"))
        #expect(found.text.contains("found      by the envelope at /notification/navigate\n"))
        #expect(found.envelope["source"]?.string == "envelope" && found.envelope["vendor"]?.isNull == true)
    }

    @Test("A link that is found in a push message is explained like any other")
    func explainedLink() throws {
        let found = try Self.explain(#"{"payload": {"aps":{}, "ab": {}, "ab_uri": "shop:///p/nwe"}, \#(Self.device)}"#)
        #expect(found.text.contains("did you mean shop:///p/new"), "\(found.text)")
    }

    @Test("A bare link and a native event have the kind of their envelope only in JSON")
    func native() throws {
        let native = try Self.explain(#"{"link": "shop:///p/new", \#(Self.device)}"#)
        #expect(native.envelope.text == #"{"kind":"native"}"# && !native.text.contains("envelope"))
        #expect(try Self.explain("shop:///p/new").envelope.text == #"{"kind":"url"}"#)
    }

    @Test("An event of CloudEvents is named beside the envelope of its data")
    func cloudEvents() throws {
        let found = try Self.explain(
            #"{"specversion":"1.0","id":"1","source":"/a","type":"b","data":{"link":"shop:///p/new", \#(Self.device)}}"#
        )
        #expect(found.text.contains("envelope   native, in an event of CloudEvents (structured)\n"), "\(found.text)")
        #expect(found.envelope.text == #"{"kind":"native","cloudevents":"structured"}"#)
    }

    @Test("A push that opens nothing needs no table, and its envelope is explained")
    func noTable() throws {
        let event = #"{\#(Self.device), "payload": {"aps": {"alert": "Hi"}}}"#
        let text = VendorFiles.run(["resolve", "--explain", event]).out
        #expect(text.contains("  none\n    envelope   native, with a payload of the kind apns\n"), "\(text)")
        #expect(text.hasSuffix("    no_link\n"), "\(text)")
        let json = try JSONValue.parse(Array(VendorFiles.run(["resolve", "--explain", "--json", event]).out.utf8))
        #expect(json.object?.map(\.name) == ["outcome", "reason", "envelope"])
        #expect(json["envelope"]?["reason"]?.string == "no_link")
    }

    @Test("The messages of a list are resolved and explained one by one")
    func list() throws {
        let list = #"[{"to":["ExponentPushToken[a]",5]},{"to":"ExponentPushToken[b]","data":{"url":"shop:///p/new"}}]"#
        let result = VendorFiles.run(["resolve", "--explain", list])
        #expect(result.code == 65 && result.err.contains("1 of 1 input would become a dead letter"), "\(result.err)")
        #expect(result.out.contains("navigate") && result.out.contains("envelope   expo_push"), "\(result.out)")
        #expect(result.out.contains("item 0  dead letter  bad_device (validate)"), "\(result.out)")
        let lines = VendorFiles.run(["resolve", "--json", list]).out.split(separator: "\n")
        #expect(lines.count == 2 && lines[0].contains(#""route":"new-items""#), "\(lines)")
        #expect(lines[1].hasPrefix(#"{"dead_letter":{"item":0,"reason":"bad_device","#), "\(lines)")
        #expect(lines[1].contains(#""pointer":"/0/to/1""#))
        let other = VendorFiles.run(["resolve", "--json", #"[{"link":"shop:///"}]"#])
        #expect(other.code == 65 && other.out.contains("batch_unsupported"), "\(other.out)")
    }

    @Test("Headers and a key are read as a worker reads them")
    func flags() throws {
        let body = #"{"aps":{"alert":"Sale"},"ab":{},"ab_uri":"shop:///p/new"}"#
        #expect(VendorFiles.run(["resolve", "--json", body]).out.contains("missing_device"))
        let keyed = VendorFiles.run(["resolve", "--explain", "--key", "d-7", body])
        #expect(keyed.code == 0 && keyed.out.contains("envelope   apns\n"), "\(keyed.out)\(keyed.err)")
        let headers = ["ce_specversion=1.0", "ce_id=e-1", "ce_source=/a", "ce_type=t"].flatMap { ["--header", $0] }
        let binary = VendorFiles.run(["resolve", "--explain", "--key", "d-7"] + headers + ["shop:///p/new"])
        #expect(binary.out.contains("envelope   url, in an event of CloudEvents (binary)\n"), "\(binary.out)")
        let some = VendorFiles.run(["resolve", "--json", "--header", "ce_specversion=1.0", "shop:///p/new"])
        #expect(some.out.contains(#""notes":["cloudevents_incomplete","#), "\(some.out)")
        let batch = ["--header", "content-type=application/cloudevents-batch+json"]
        #expect(VendorFiles.run(["resolve", "--json"] + batch + ["shop:///"]).out.contains("bad_json"))
        let packed = VendorFiles.run(["resolve", "--json", "--header", "Content-Encoding=gzip", "shop:///"])
        #expect(packed.code == 65 && packed.out.contains("encoding_unsupported"), "\(packed.out)")
        #expect(VendorFiles.run(["resolve", "--header", "x", "shop:///"]).code == 64)
    }

    @Test("A decision as JSON has the context of a worker's decision, also with an explanation")
    func context() throws {
        let payload = #"{"aps":{},"itbl":{"messageId":"m","campaignId":7},"url":"shop:///p/new"}"#
        let event = #"{"payload":\#(payload),\#(Self.device)}"#
        let plain = VendorFiles.run(["resolve", "--json", event]).out
        let push = #""context":{"push":{"vendor":"iterable","message":"m","campaign":"7"}}}"#
        #expect(plain.hasPrefix(#"{"table":"shop@"#) && plain.hasSuffix(push + "\n"), "\(plain)")
        let decision = try JSONValue.parse(Array(VendorFiles.run(["resolve", "--json", "--explain", event]).out.utf8))
        #expect(decision["context"]?["push"]?["campaign"]?.string == "7")
    }

    @Test("A short link needs its platform, and a long link is replaced by the app's link")
    func linkPlatforms() throws {
        let short = try Self.explain(
            #"{"application": "com.example.shop", \#(Self.device), "payload": "#
                + #"{"aps": {}, "branch": "https://shop.app.link/abc"}}"#)
        #expect(short.text.contains("none  needs_resolution"), "\(short.text)")
        #expect(short.text.contains("because    only the platform of the short link knows its destination\n"))
        let long = try Self.explain(
            #"{"application": "com.example.shop", \#(Self.device), "link": "#
                + #""https://shop.onelink.me/A1?pid=x&af_dp=shop%3A%2F%2F%2Fp%2Fnew"}"#)
        #expect(long.text.contains("note: unwrapped:appsflyer.af_dp"), "\(long.text)")
        #expect(long.text.contains("navigate  by new-items"), "\(long.text)")
    }
}

/// The settings `vendors` and `link.platforms`.
@Suite struct VendorSettingsTests {
    private static let event = #"{"payload": {"aps": {}, "acme": {"url": "shop:///p/new"}}, "device": {"id": "d"}}"#

    @Test("A vendor is added with a row in a table of one's own, by a flag, a variable, or a file")
    func ownTable() {
        let without = VendorFiles.run(["resolve", Self.event, "--json"])
        #expect(without.out == #"{"outcome":"none","reason":"no_link"}"# + "\n", "\(without.out)")
        withTemporaryFile(VendorFiles.table()) { path in
            let flag = VendorFiles.run(["resolve", "--vendors", path, "--explain", Self.event])
            #expect(flag.code == 0 && flag.out.contains("vendor     acme, recognized by /acme\n"), "\(flag.out)")
            let environment = ["LINKD_HOME": VendorFiles.home, "LINKD_VENDORS": path]
            let variable = linkd(["resolve", "--json", Self.event], environment: environment)
            #expect(variable.code == 0 && variable.out.contains(#""route":"new-items""#), "\(variable.out)")
            withTemporaryFile(#"{"vendors": "\#(path)"}"#) { file in
                let named = VendorFiles.run(["resolve", "--config", file, "--json", Self.event])
                #expect(named.code == 0 && named.out == variable.out, "\(named.err)")
                let check = VendorFiles.run(["vendors", "list", "--config", file])
                #expect(check.out.contains("acme") && check.out.contains("braze"), "\(check.out)")
            }
        }
    }

    @Test("A short domain of one's own is added with a row of link platforms")
    func ownDomain() {
        let file = """
            {"schemaVersion": 1, "platforms": [
              {"id": "ours", "name": "Ours", "rules": [{"hosts": ["go.shop.example"], "result": "needs_resolution"}],
               "examples": [{"link": "https://go.shop.example/a", "result": "needs_resolution"}]}]}
            """
        withTemporaryFile(file) { path in
            let event = #"{"application":"com.example.shop","link":"https://go.shop.example/a","device":{"id":"d"}}"#
            let result = VendorFiles.run(["resolve", "--link-platforms", path, "--json", event])
            #expect(result.out.contains(#""reason":"needs_resolution""#), "\(result.out)\(result.err)")
            let wrong = VendorFiles.run(["resolve", "--vendors", path, event])
            #expect(wrong.code == 64 && wrong.err.contains("--vendors: \(path) has no vendors"), "\(wrong.err)")
        }
    }

    @Test("A refused table ends with exit code 65, and a missing one with 78")
    func refused() throws {
        withTemporaryFile(VendorFiles.table(form: #""on": []"#)) { path in
            for command in [["resolve"], ["produce", "--dry-run"]] {
                let result = VendorFiles.run(command + ["--vendors", path, "shop:///"])
                #expect(result.code == 65, "\(command) \(result.err)")
                #expect(result.err.contains("\(path):3:") && result.err.contains("[missing_member]"))
            }
        }
        #expect(VendorFiles.run(["resolve", "--vendors", "/no/such.json", "shop:///"]).code == 78)
    }

    @Test("A worker with a refused table logs its problems and ends with exit code 65")
    func refusedByWorker() throws {
        try withTemporaryFile(VendorFiles.table(form: "")) { path in
            let result = try LinkdProcess.run(
                ["worker", "-b", "127.0.0.1:1", "--table", VendorFiles.home + "/routes/shop.json", "--vendors", path])
            #expect(result.code == 65, "\(result.err)")
            let lines = try result.err.split(separator: "\n").map { try JSONValue.parse(Array($0.utf8)) }
            let problem = lines.first { $0["event"]?.string == "vendors.refused" }
            #expect(problem?["code"]?.string == "missing_member" && problem?["line"]?.integer == 3)
            #expect(lines.last?["code"]?.integer == 65)
        }
    }

    @Test("A worker without the shipped files does not start, unless it is told to read none")
    func missing() throws {
        let worker = [
            "worker", "-b", "127.0.0.1:1", "--table", VendorFiles.home + "/routes/shop.json", "--start-timeout", "1s",
        ]
        let platforms = ["--link-platforms", VendorFiles.home + "/link-platforms.json"]
        let cases: [(flags: [String], code: Int32, file: String)] = [
            ([], 78, "vendors.json"), (platforms, 78, "vendors.json"),
            (["--vendors", VendorFiles.home + "/vendors.json"] + platforms, 78, "vendors.json"),
            (["--vendors", "none"], 78, "link-platforms.json"), (["--vendors", "none"] + platforms, 69, ""),
            (["--vendors", "none", "--link-platforms", "none"], 69, ""),
            (["--vendors", "none,\(VendorFiles.home)/vendors.json"] + platforms, 69, ""),
        ]
        for (flags, code, file) in cases {
            let result = try LinkdProcess.run(worker + flags, environment: ["LINKD_HOME": "/no/such"])
            #expect(result.code == code, "\(flags): \(result.err)")
            #expect(file.isEmpty || result.err.contains("\(file), which comes with linkd, was not found"))
            #expect(code == 69 || result.err.contains("none"), "\(flags): \(result.err)")
        }
        let found = try LinkdProcess.run(
            ["worker", "-b", "127.0.0.1:1", "--table", VendorFiles.home + "/routes/shop.json"]
                + ["--start-timeout", "1s"], environment: ["LINKD_HOME": VendorFiles.home])
        #expect(found.err.contains("vendors and link platforms loaded"), "\(found.err)")
    }

    @Test("Produce accepts what a worker with the same table accepts")
    func produce() throws {
        let request = #"{"app_id":"a","include_subscription_ids":["s-1"],"url":"shop:///p/new","contents":{"en":"a"}}"#
        try withTemporaryFile(request + "\n") { path in
            let result = try LinkdProcess.run(
                ["produce", "--dry-run", "--json", path], environment: ["LINKD_HOME": VendorFiles.home])
            #expect(result.code == 0, "\(result.out)\(result.err)")
            #expect(try LinkdProcess.run(["produce", "--dry-run", path]).code == 65)
        }
    }
}
