internal import Testing

@testable internal import LinkdCommands

@Suite struct ProduceInputTests {
    private static func csv(_ text: String, limit: Int = 1000) throws -> [CSVReader.Record] {
        try withTemporaryFile(text) { path in
            var reader = CSVReader(try ByteSource(path: path), limit: limit)
            var records: [CSVReader.Record] = []
            while let record = reader.next() { records.append(record) }
            return records
        }
    }

    private static func cells(_ text: String) throws -> [[String]] {
        try csv(text).map { $0.cells.map { String(decoding: $0, as: UTF8.self) } }
    }

    @Test(
        "Comma-separated values are read according to RFC 4180",
        arguments: [
            ("a,b\r\nc,d\r\n", [["a", "b"], ["c", "d"]]), ("a,b\nc,d", [["a", "b"], ["c", "d"]]),
            ("\"a,b\",\"c\"\"d\"\n", [["a,b", "c\"d"]]), ("\"two\r\nlines\",x\n", [["two\r\nlines", "x"]]),
            (",\n", [["", ""]]), ("a,\n", [["a", ""]]), ("\"\"\n", [[""]]), ("\u{FEFF}a,b\n", [["a", "b"]]), ("", []),
            ("é,漢\n", [["é", "漢"]]), ("a\rb\n", [["a\rb"]]), ("\n\na\n", [[""], [""], ["a"]]),
        ])
    func csvCells(text: String, expected: [[String]]) throws { #expect(try Self.cells(text) == expected) }

    @Test(
        "A malformed record has an error, and the next one is read",
        arguments: [
            ("a\"b,c\nd,e\n", "contains a quote"), ("\"a\"b,c\nd,e\n", "a closing quote is followed"),
            ("d,e\n\"never closed", "not closed"),
        ])
    func csvFaults(text: String, message: String) throws {
        let records = try Self.csv(text)
        #expect(records.compactMap(\.fault).count == 1)
        #expect(records.compactMap(\.fault).first?.contains(message) == true)
        #expect(records.contains { $0.fault == nil && $0.cells == [Array("d".utf8), Array("e".utf8)] })
    }

    @Test("A record above the limit uses no more memory than the limit")
    func csvLimit() throws {
        let records = try Self.csv(String(repeating: "x", count: 5000) + "\nok\n", limit: 100)
        #expect(records.map { $0.fault != nil } == [true, false])
        #expect(records[0].cells[0].count <= 100)
    }

    @Test("Every record has the number of its first line")
    func csvLines() throws { #expect(try Self.csv("a\n\"b\nb\"\nc\n").map(\.line) == [1, 2, 4]) }

    private static func event(_ header: String, _ row: String) throws -> String {
        let records = try csv(header + "\n" + row + "\n")
        let columns = try EventColumns(header: records[0].cells, file: "f", passthrough: ["tier"])
        return String(decoding: try #require(columns.event(records[1].cells)), as: UTF8.self)
    }

    @Test(
        "Columns are members of the event or the device, and empty cells are absent",
        arguments: [
            (
                "id,link,device.id,device.app", "e,shop:///,d,6.1",
                #"{"id":"e","link":"shop:///","device":{"id":"d","app":"6.1"}}"#
            ),
            ("link,device.id,id", "shop:///,,", #"{"link":"shop:///"}"#),
            (
                "device.capabilities,device.claims", "ar nfc,session",
                #"{"device":{"capabilities":["ar","nfc"],"claims":["session"]}}"#
            ),
            (
                "device.attributes.tier,params.order,route", "gold,12,order",
                #"{"route":"order","params":{"order":"12"},"device":{"attributes":{"tier":"gold"}}}"#
            ),
            ("payload", #""{""aps"":{}}""#, #"{"payload":{"aps":{}}}"#),
            ("tier,campaign", "x,\"a \"\"b\"\"\"", #"{"tier":"x","campaign":"a \"b\""}"#),
        ])
    func columns(header: String, row: String, expected: String) throws {
        #expect(try Self.event(header, row) == expected)
    }

    @Test(
        "An unknown or repeated column ends with exit code 65",
        arguments: [("link,devce.id", "write `device.id`"), ("link,link", "twice"), ("zzzzzz", "use id, application")])
    func badColumns(header: String, message: String) throws {
        let cells = try Self.csv(header + "\n")[0].cells
        let error = #expect(throws: CommandFailure.self) {
            try EventColumns(header: cells, file: "f.csv", passthrough: [])
        }
        #expect(error?.code == .badData)
        #expect(error?.line.contains(message) == true, "\(error?.line ?? "")")
    }

    /// Returns the values to send, or the errors, of an input's lines.
    private static func lines(_ text: String, _ format: InputFormat, raw: Bool = false) throws -> [String] {
        try withTemporaryFile(text) { path in
            var input = try EventInput(try ByteSource(path: path), format: format, raw: raw, passthrough: [])
            var lines: [String] = []
            while let line = input.next() {
                switch line.value {
                case .success(let bytes): lines.append("\(line.line):" + String(decoding: bytes, as: UTF8.self))
                case .failure(let fault): lines.append("\(line.line)!" + fault.text)
                }
            }
            return lines
        }
    }

    @Test("The format of an input is detected")
    func formats() throws {
        #expect(try Self.lines("{\"a\":1}\n\n shop:///x \r\n", .auto) == ["1:{\"a\":1}", "3:shop:///x"])
        #expect(
            try Self.lines("link,id\nshop:///,e\n", .auto) == ["2:{\"link\":\"shop:///\",\"id\":\"e\"}"])
        #expect(try Self.lines("link\nshop:///\n", .auto) == ["2:{\"link\":\"shop:///\"}"])
        #expect(try Self.lines("https://x.example/a,b\n", .auto) == ["1:https://x.example/a,b"])
        #expect(try Self.lines("link\n", .url) == ["1:link"])
        #expect(try Self.lines("{}\n", .url) == ["1!the line is a JSON object, not a link"])
        #expect(try Self.lines("shop:///\n", .jsonl) == ["1!the line is not a JSON object"])
        #expect(try Self.lines(" a \n\nb", .auto, raw: true) == ["1: a ", "2:", "3:b"])
        #expect(try Self.lines("link,id\na\n", .csv) == ["2!the row has 1 cell, the header has 2"])
        #expect(try Self.lines("", .auto).isEmpty)
        #expect(try Self.lines("", .csv).isEmpty)
    }

    @Test(
        "A dry run counts valid lines, and reports the others",
        arguments: [
            ("{\"link\":\"shop:///\",\"device\":{\"id\":\"d\"}}\n", 0, #""read":1,"#, ""),
            ("shop:///\n", 0, #""without_key":1"#, ""),
            ("{\"link\":1}\n", 65, #""unreadable":1"#, "line 1: bad_json at /link"),
            (
                "{\"link\":\"a:b\",\"path\":\"/x\",\"device\":{\"id\":\"d\"}}\n", 65, #""unreadable":1"#,
                "ambiguous_event"
            ),
            ("{\"devices\":[],\"link\":\"a:b\"}\n", 65, #""unreadable":1"#, "missing_device"),
            ("please open the shop\n", 65, #""unreadable":1"#, "bad_json"),
            ("", 0, #""read":0,"sent":0,"delivered":0,"failed":0,"unreadable":0,"without_key":0"#, ""),
        ])
    func dryRun(text: String, code: Int32, summary: String, message: String) {
        withTemporaryFile(text) { path in
            let result = linkd("produce", "--dry-run", "--json", path)
            #expect(result.code == code)
            #expect(result.out.contains(summary), "\(result.out)")
            #expect(result.err.contains(message), "\(result.err)")
        }
    }

    @Test(
        "A header that is not valid CSV is reported, and nothing is sent",
        arguments: [("link,\"id\nshop:///,e\n", "a quote is not closed"), ("link,i\"d\n{}\n", "contains a quote")])
    func badHeader(text: String, words: String) {
        withTemporaryFile(text) { path in
            for format in ["csv", "auto"] {
                let result = linkd("produce", "--dry-run", "--format", format, path)
                #expect(result.code == 65)
                #expect(result.err.contains("\(path): the header is not valid CSV: "), "\(result.err)")
                #expect(result.err.contains(words) && !result.err.contains("bad_json"), "\(result.err)")
            }
        }
    }

    @Test("A missing file ends with exit code 65")
    func missingFile() {
        let result = linkd("produce", "--dry-run", "/no/such/file")
        #expect(result.code == 65)
        #expect(result.err.contains("/no/such/file cannot be read: No such file"))
    }
}
