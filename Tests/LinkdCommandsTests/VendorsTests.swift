internal import Foundation
internal import StrictJSON
internal import Testing

@testable internal import LinkdCommands

/// The home of the shipped files, and files with vendors of one's own.
enum VendorFiles {
    static let home = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../config").standardizedFileURL.path

    /// Returns the text of a table with one vendor.
    ///
    /// - Parameter silent: The last two examples.
    static func table(
        form: String = #""on": ["apple"], "marks": [["/acme"]], "links": ["/acme/url"]"#, examples: String = "",
        silent: String = #"{ "payload": { "aps": {}, "acme": {} }, "reason": "no_link" }"#
    ) -> String {
        return """
            { "schemaVersion": 1, "vendors": [
              { "id": "acme", "name": "Acme", "sources": ["acme.example/docs"],
                "forms": [{ \(form) }],
                "examples": [\(examples.isEmpty ? "" : examples + ", ")\(silent), \(silent)] } ] }
            """
    }

    /// Runs a command line with the shipped files.
    static func run(_ arguments: [String]) -> CommandResult {
        linkd(arguments, environment: ["LINKD_HOME": home])
    }
}

@Suite struct VendorsCheckTests {
    private static let acme = #""platform": "ios", "payload": {"aps": {}, "acme": {"url": "acme:///a"}}"#

    @Test("The shipped files have no problem, and their examples hold")
    func shipped() throws {
        let text = VendorFiles.run(["vendors", "check"])
        #expect(text.code == 0, "\(text.out)\(text.err)")
        let lines = text.out.split(separator: "\n")
        #expect(lines.count == 2 && lines.allSatisfy { $0.hasPrefix("ok  ") })
        let json = try JSONValue.parse(Array(VendorFiles.run(["vendors", "check", "--json"]).out.utf8))
        let files = try #require(json["files"]?.array)
        #expect(files.map { $0["ok"]?.text } == ["true", "true"])
        #expect((files[0]["vendors"]?.integer ?? 0) >= 17 && (files[0]["examples"]?.integer ?? 0) > 40)
        #expect((files[1]["platforms"]?.integer ?? 0) >= 4 && (files[1]["examples"]?.integer ?? 0) > 10)
        #expect(files.allSatisfy { $0["problems"]?.array?.isEmpty == true })
    }

    @Test(
        "A problem has a line, a code, a pointer, the expected value, and the nearest name",
        arguments: [
            (#""on": ["apple"], "mraks": [["/acme"]]"#, "unknown_member", "/vendors/0/forms/0/mraks", "`marks`?"),
            (#""on": ["apple"]"#, "missing_member", "/vendors/0/forms/0", "expected the member `marks`"),
            (#""on": ["iphone"], "marks": [["/acme"]]"#, "bad_value", "/vendors/0/forms/0/on/0", "`apple`"),
            (#""on": ["apple"], "marks": [["acme"]]"#, "bad_value", "/vendors/0/forms/0/marks/0/0", "JSON pointer"),
            (#""on": ["apple"], "marks": [[7]]"#, "wrong_type", "/vendors/0/forms/0/marks/0/0", "object"),
            (
                #""on": ["apple"], "marks": [[{"at": "/a", "absent": true}]]"#, "bad_value",
                "/vendors/0/forms/0/marks/0", "a value that is present"
            ),
            (
                #""on": ["apple"], "marks": [["/a"]], "links": ["/b{N}"]"#, "bad_value", "/vendors/0/forms/0/links/0",
                "only in numbered buttons"
            ),
            (
                #""on": ["record"], "marks": [["/a"]], "envelope": "fcm""#, "duplicate",
                "/vendors/0/forms/0/envelope", "no other form"
            ),
        ])
    func problems(form: String, code: String, pointer: String, words: String) throws {
        try withTemporaryFile(VendorFiles.table(form: form)) { path in
            let text = VendorFiles.run(["vendors", "check", path])
            #expect(text.code == 65)
            #expect(text.out.contains("\(path):3:"), "\(text.out)")
            #expect(text.out.contains("error: expected") && text.out.contains("[\(code)]"), "\(text.out)")
            #expect(text.out.contains("at \(pointer)\n") && text.out.contains(words), "\(text.out)")
            #expect(text.err.contains("\(path) is refused: "))
            let result = VendorFiles.run(["vendors", "check", path, "--json"])
            let file = try JSONValue.parse(Array(result.out.utf8))["files"]?.array?.first
            #expect(result.code == 65 && file?["ok"]?.text == "false")
            let problem = file?["problems"]?.array?.first { $0["code"]?.string == code }
            #expect(problem?["pointer"]?.string == pointer)
            #expect((problem?["line"]?.integer ?? 0) > 2 && (problem?["column"]?.integer ?? 0) > 0)
        }
    }

    @Test(
        "An example with another result is printed with both results",
        arguments: [
            (#"{\#(acme), "link": "acme:///b"}"#, "/link", "expected the link `acme:///b`, found `acme:///a`"),
            (#"{\#(acme), "reason": "no_link"}"#, "/reason", "expected the reason `no_link`, found `acme:///a`"),
            (
                #"{\#(acme), "link": "acme:///a", "pointer": "/url"}"#, "/pointer",
                "expected the pointer `/url`, found `/acme/url`"
            ),
            (#"{\#(acme), "link": "acme:///a", "message": "7"}"#, "/message", "expected the message `7`, found none"),
            (
                #"{\#(acme), "link": "acme:///a", "notes": ["silent"]}"#, "/notes",
                "expected the notes `silent`, found none"
            ),
            (#"{"payload": {"aps": {}}, "reason": "no_link"}"#, "", "expected the vendor `acme`, found none"),
        ])
    func examples(example: String, member: String, words: String) {
        withTemporaryFile(VendorFiles.table(examples: example)) { path in
            let result = VendorFiles.run(["vendors", "check", path])
            #expect(result.code == 65)
            #expect(result.out.contains("\(path):4:") && result.out.contains("[example]"), "\(result.out)")
            #expect(result.out.contains("at /vendors/0/examples/0\(member)\n"), "\(result.out)")
            #expect(result.out.contains(words), "\(result.out)")
        }
    }

    @Test("A file of link platforms is checked by the same command")
    func platforms() throws {
        let file = """
            {"schemaVersion": 1, "platforms": [{"id": "ours", "name": "Ours",
              "rules": [{"hosts": ["go.shop.example"], "result": "needs_resolution"}],
              "examples": [{"link": "https://go.shop.example/a", "result": "no_link"}]}]}
            """
        withTemporaryFile(file) { path in
            let result = VendorFiles.run(["vendors", "check", path])
            #expect(result.code == 65 && result.out.contains(":3:") && result.out.contains("[example]"))
            #expect(result.out.contains("expected the stated result, found `needs_resolution`"), "\(result.out)")
        }
        withTemporaryFile(file.replacing("no_link", with: "needs_resolution")) { path in
            let result = VendorFiles.run(["vendors", "check", path])
            #expect(result.code == 0 && result.out.hasPrefix("ok  1 link platform, 1 example passed"), "\(result.out)")
        }
        withTemporaryFile(file.replacing("go.shop.example\"]", with: "Go.Shop\"]")) { path in
            let result = VendorFiles.run(["vendors", "check", path])
            #expect(result.code == 65 && result.out.contains(":2:") && result.out.contains("[bad_value]"))
        }
    }

    @Test(
        "Marks that every push has are a problem, and those beside a mark of the vendor are none",
        arguments: [
            (#""on": ["apple"], "marks": [["/aps"]]"#, false),
            (#""on": ["apple"], "marks": [["/acme"], ["/aps/alert"]]"#, false),
            (#""on": ["android"], "marks": [["/title"]]"#, false),
            (#""on": ["android"], "marks": [[{"prefix": "bo"}]]"#, false),
            (#""on": ["web"], "marks": [[{"at": "/body", "is": "string"}]]"#, false),
            (#""on": ["record"], "envelope": "acme", "marks": [["/data"]]"#, false),
            (#""on": ["record"], "envelope": "acme", "marks": [["/notification"]]"#, false),
            (#""on": ["record"], "envelope": "acme", "marks": [["/message"]]"#, false),
            (#""on": ["android"], "marks": [["/from"]]"#, false),
            (#""on": ["android"], "marks": [["/acme"], ["/collapse_key"]]"#, false),
            (#""on": ["android"], "marks": [[{"prefix": "google."}]]"#, false),
            (#""on": ["android"], "marks": [[{"prefix": "gcm.notification."}]]"#, false),
            (#""on": ["apple"], "marks": [["/gcm.message_id"]]"#, false),
            (#""on": ["web"], "marks": [["/from", "/google.c.a.e"]]"#, false),
            (#""on": ["apple"], "marks": [["/aps/interruption-level"]]"#, false),
            (#""on": ["apple"], "marks": [[{"at": "/aps/sound", "equals": ["default"]}]]"#, false),
            (#""on": ["android"], "marks": [["/gcm.n.click_action"]]"#, false),
            (#""on": ["android"], "marks": [["/google.c.a.c_id"]]"#, false),
            (#""on": ["android"], "marks": [[{"at": "/from", "equals": ["acme"]}]]"#, true),
            (#""on": ["apple"], "marks": [["/aps", "/acme"]]"#, true),
            (#""on": ["apple"], "marks": [[{"at": "/aps/category", "equals": ["acme"]}]]"#, true),
        ])
    func commonMarks(form: String, isOwn: Bool) {
        withTemporaryFile(VendorFiles.table(form: form)) { path in
            let result = VendorFiles.run(["vendors", "check", path])
            let lines = result.out.split(separator: "\n").filter {
                $0.contains("found marks of every push [bad_value]")
            }
            #expect(lines.count == (isOwn ? 0 : 1), "\(result.out)")
            #expect(isOwn || result.code == 65 && result.out.contains("at /vendors/0/forms/0/marks"), "\(result.out)")
        }
    }

    @Test("A byte order mark is skipped, and UTF-16 is named")
    func byteOrderMarks() throws {
        let shipped = try String(contentsOfFile: VendorFiles.home + "/link-platforms.json", encoding: .utf8)
        withTemporaryFile("\u{FEFF}" + shipped) { path in
            let result = VendorFiles.run(["vendors", "check", path])
            #expect(result.code == 0 && result.out.hasPrefix("ok  "), "\(result.out)\(result.err)")
        }
        for encoding in [String.Encoding.utf16LittleEndian, .utf16BigEndian] {
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).json")
            defer { try? FileManager.default.removeItem(at: file) }
            try ("\u{FEFF}" + shipped).data(using: encoding)?.write(to: file)
            let result = VendorFiles.run(["vendors", "check", file.path])
            #expect(result.code == 65 && result.out.contains(":1:1: error: expected UTF-8, found UTF-16"))
        }
    }

    @Test("A file that is not JSON, and one that does not exist, end with different exit codes")
    func unreadable() throws {
        withTemporaryFile("{\n  \"schemaVersion\": 1,\n}") { path in
            let result = VendorFiles.run(["vendors", "check", path])
            #expect(result.code == 65 && result.out.contains("\(path):3:1: error: ") && result.out.contains("[json]"))
        }
        #expect(VendorFiles.run(["vendors", "check", "/no/such.json"]).code == 78)
        #expect(try LinkdProcess.run(["vendors", "check"]).code == 78)
    }

    @Test("A file with very many problems is reported up to a limit")
    func manyProblems() throws {
        let forms = Array(repeating: #"{"x": 1, "y": 2, "z": 3}"#, count: 16).joined(separator: ",")
        let vendor = #"{"id": "a", "name": "A", "sources": [], "forms": [\#(forms)], "examples": []}"#
        let all = Array(repeating: vendor, count: 200).joined(separator: ",")
        try withTemporaryFile(#"{"schemaVersion": 1, "vendors": [\#(all)]}"#) { path in
            let result = VendorFiles.run(["vendors", "check", path, "--json"])
            let file = try JSONValue.parse(Array(result.out.utf8))["files"]?.array?.first
            #expect(result.code == 65 && file?["problems"]?.array?.count == 100)
        }
    }
}

/// A file of one's own beside the shipped one.
@Suite struct VendorsSettingTests {
    private static let event =
        #"{"payload": {"aps": {}, "acme": {"url": "acme:///a"}, "ab": {}, "ab_uri": "b:///b"}, "device": {"id": "d"}}"#

    /// Runs a command with a file of the setting.
    private static func run(_ arguments: [String], _ path: String) -> CommandResult {
        VendorFiles.run(arguments + ["--vendors", path])
    }

    private static func read(_ path: String) throws -> JSONValue? {
        let result = run(["resolve", "--json", "--explain", Self.event], path)
        // No table claims the links.
        return try JSONValue.parse(Array(result.out.utf8))["dead_letter"]?["envelope"]
    }

    @Test("The rows of a file are added to the shipped ones, and have precedence over them")
    func added() throws {
        try withTemporaryFile(VendorFiles.table()) { path in
            let message = try Self.read(path)
            #expect(message?["vendor"]?.string == "acme" && message?["link"]?.string == "acme:///a")
            #expect(message?["also"]?.text == #"["braze"]"#)
            let list = Self.run(["vendors", "list"], path).out
            #expect(list.contains("braze") && list.contains("acme") && !list.contains("REPLACED BY"))
        }
    }

    @Test("A row replaces the shipped one with its id, in its place, and the list names its file")
    func replaced() throws {
        let form = #""on": ["apple"], "marks": [["/acme"]], "links": ["/acme/url"]"#
        try withTemporaryFile(VendorFiles.table(form: form).replacing(#""acme", "n"#, with: #""braze", "n"#)) { path in
            let message = try Self.read(path)
            #expect(message?["vendor"]?.string == "braze" && message?["link"]?.string == "acme:///a")
            let list = Self.run(["vendors", "list"], path).out
            let rows = list.split(separator: "\n").filter { $0.hasPrefix("braze ") }
            #expect(list.contains("REPLACED BY") && rows.count == 2)
            #expect(rows.first?.hasSuffix(path) == true && rows.last?.contains("Acme") == true)
            let json = try JSONValue.parse(Array(Self.run(["vendors", "list", "--json"], path).out.utf8))
            let all = json["vendors"]?.array?.filter { $0["id"]?.string == "braze" } ?? []
            #expect(all.map { $0["replacedBy"]?.string } == [path, nil])
        }
    }

    @Test("A file that does not fit the rows of the shipped one is refused with the place")
    func refused() {
        let record = #""on": ["record"], "envelope": "segment_track", "marks": [["/acme"]]"#
        let table = VendorFiles.table(form: record, silent: #"{ "payload": { "acme": {} }, "reason": "no_link" }"#)
        withTemporaryFile(table) { path in
            #expect(VendorFiles.run(["vendors", "check", path]).code == 0)
            let result = Self.run(["resolve", Self.event], path)
            #expect(result.code == 65)
            #expect(result.err.contains("\(path):3:") && result.err.contains("[duplicate]"), "\(result.err)")
            #expect(result.err.contains("the vendor `segment` has it"), "\(result.err)")
        }
        // The shipped row before the replaced one reads this message.
        let example = #"{"payload": {"aps": {}, "ab": {}, "adb_x": 1}, "reason": "no_link"}"#
        let form = #""on": ["apple"], "marks": [["/adb_x"]], "links": ["/x"]"#
        let file = VendorFiles.table(form: form, silent: example)
        withTemporaryFile(file.replacing(#""acme", "n"#, with: #""adobe", "n"#)) { path in
            #expect(VendorFiles.run(["vendors", "check", path]).code == 0)
            let result = Self.run(["resolve", Self.event], path)
            #expect(result.code == 65 && result.err.contains("[example]"), "\(result.err)")
            #expect(result.err.contains("expected the vendor `adobe`, found `braze`"), "\(result.err)")
        }
        #expect(Self.run(["resolve", Self.event], "/no/such.json").code == 78)
    }

    @Test("A shipped file that is not found is one line on standard error of each command that reads events")
    func missing() throws {
        try withTemporaryFile(#"{"link": "shop:///p/new", "device": {"id": "d"}}"#) { event in
            let table = VendorFiles.home + "/routes/shop.json"
            for arguments in [
                ["resolve", "shop:///p/new", "--table", table],
                ["produce", event, "--dry-run"],
                ["routes", "diff", table, table, "--traffic", event],
            ] {
                let result = try LinkdProcess.run(arguments)
                for file in ["vendors.json", "link-platforms.json"] {
                    let lines = result.err.split(separator: "\n").filter { $0.contains(file) }
                    #expect(lines.count == 1, "\(arguments): \(result.err)")
                    #expect(lines.first?.hasPrefix("warning: \(file), which comes with linkd, was not found") == true)
                }
            }
        }
    }
}

@Suite struct VendorsListTests {
    @Test("The list of vendors and link platforms equals the snapshot")
    func text() {
        let result = VendorFiles.run(["vendors", "list"])
        #expect(result.code == 0, "\(result.err)")
        expectSnapshot(result.out.replacing(VendorFiles.home, with: "config"), "vendors-list")
    }

    @Test("As JSON, each row has an id, a name, what it reads, and its sources")
    func json() throws {
        let result = VendorFiles.run(["vendors", "list", "--json"])
        let json = try JSONValue.parse(Array(result.out.utf8))
        let vendors = try #require(json["vendors"]?.array)
        #expect(vendors.count >= 17)
        for row in vendors {
            let names = row.object?.map(\.name).filter { $0 != "remark" }
            #expect(names == ["id", "name", "surfaces", "envelopes", "sources", "file"])
            #expect(row["sources"]?.array?.isEmpty == false && row["surfaces"]?.array?.isEmpty == false, "\(row.text)")
        }
        let platforms = try #require(json["platforms"]?.array)
        #expect(platforms.count >= 4)
        for row in platforms {
            #expect(row.object?.map(\.name) == ["id", "name", "hosts", "sources", "file"])
            #expect(row["sources"]?.array?.isEmpty == false, "\(row.text)")
        }
    }

    @Test("A refused table is not listed")
    func refused() {
        withTemporaryFile(VendorFiles.table(form: "")) { path in
            let result = VendorFiles.run(["vendors", "list", path])
            #expect(result.code == 65 && result.out.isEmpty)
            #expect(result.err.contains("see `linkd vendors check \(path)`"))
        }
    }
}
