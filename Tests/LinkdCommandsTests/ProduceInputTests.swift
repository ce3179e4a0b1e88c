internal import ByteStorage
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

@Suite struct ProduceInputTests {
    private static func csv(_ text: String, limit: Int = 1000) throws -> [CSVReader.Record] {
        try withTemporaryFile(text) { path in
            let source = try ByteSource(path: path)
            source.skipByteOrderMark()
            var reader = CSVReader(source, limit: limit)
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
        #expect(records[0].cells.allSatisfy { $0.count <= 100 })
    }

    @Test("A record with more than 10,000 cells uses no more memory than its limit")
    func cellLimit() throws {
        let records = try Self.csv(String(repeating: ",", count: 1_000_000) + "\nok\n", limit: 2_000_000)
        #expect(records.map(\.fault) == ["the record has more than 10000 cells", nil])
        #expect(records[0].cells.count == 10_000)
    }

    @Test("A row that is not UTF-8 is reported, and not sent with other characters")
    func rowInAnotherEncoding() throws {
        try withTemporaryFile("") { path in
            let bytes = Array("link;device.id\nshop:///caf".utf8) + [0xE9] + Array(";d\nshop:///caf\u{E9};d\n".utf8)
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            let result = linkd("produce", "--dry-run", path)
            #expect(result.code == 65)
            #expect(result.err.contains("line 2: the row is not UTF-8; `iconv -f WINDOWS-1252 "), "\(result.err)")
            #expect(result.out.hasPrefix("read 2, would send 1, unreadable 1, "), "\(result.out)")
        }
    }

    @Test("Every record has the number of its first line")
    func csvLines() throws { #expect(try Self.csv("a\n\"b\nb\"\nc\n").map(\.line) == [1, 2, 4]) }

    private static func event(_ header: String, _ row: String) throws -> String {
        let records = try csv(header + "\n" + row + "\n")
        let columns = try EventColumns(
            header: records[0].cells, file: "f", map: ColumnMap(passthrough: ["tier"]))
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
            try EventColumns(header: cells, file: "f.csv", map: ColumnMap(passthrough: []))
        }
        #expect(error?.code == .badData)
        #expect(error?.line.contains(message) == true, "\(error?.line ?? "")")
    }

    /// Returns the values to send, or the errors, of an input's lines.
    private static func lines(
        _ text: String, _ format: InputFormat, raw: Bool = false, separator: String? = nil, skip: Int = 0
    ) throws -> [String] {
        try withTemporaryFile(text) { path in
            let input = try EventInput(
                try ByteSource(path: path), format: format, raw: raw,
                separator: separator.flatMap(ColumnSeparator.init), map: ColumnMap(passthrough: ["tier"]))
            var lines: [String] = []
            for _ in 0..<skip { _ = input.skip() }
            while let line = input.next() {
                switch line.value {
                case .success(let bytes): lines.append("\(line.line):" + bytes.string)
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
        #expect(try Self.lines("\u{FEFF}{\"a\":1}\n", .auto) == ["1:{\"a\":1}"])
        #expect(try Self.lines("\u{FEFF}link\nshop:///\n", .auto) == ["2:{\"link\":\"shop:///\"}"])
        #expect(try Self.lines("\u{FEFF}a\n", .auto, raw: true) == ["1:\u{FEFF}a"])
    }

    @Test(
        "The separator of a CSV file is found in its header, or given",
        arguments: [
            ("link;id\nshop:///;e\n", nil), ("link\tid\r\nshop:///\te\r\n", nil), ("link|id\nshop:///|e\n", nil),
            ("\"link\";\"id\"\n\"shop:///\";e\n", nil), ("link;id\nshop:///;e\n", "semicolon"),
            ("link id\nshop:/// e\n", " "), ("link:id\n\"shop:///\":e\n", ":"),
        ])
    func separators(text: String, separator: String?) throws {
        let expected = [#"2:{"link":"shop:///","id":"e"}"#]
        #expect(try Self.lines(text, .auto, separator: separator) == expected)
        #expect(try Self.lines(text, .csv, separator: separator) == expected)
    }

    @Test("A header that two separators can split ends with exit code 65, and a flag selects one")
    func ambiguousSeparator() throws {
        let text = "params.a;params.b,link\nx,shop:///\n"
        let error = #expect(throws: CommandFailure.self) { try Self.lines(text, .auto) }
        #expect(error?.code == .badData)
        #expect(error?.line.contains("by comma or by semicolon. Next: select one with --separator") == true)
        let lines = try Self.lines(text, .auto, separator: "comma")
        #expect(lines == [#"2:{"link":"shop:///","params":{"a;params.b":"x"}}"#])
    }

    @Test("A misspelled name in a header is reported with every separator", arguments: [",", ";", "\t", "|"])
    func misspelledColumn(separator: String) {
        let error = #expect(throws: CommandFailure.self) {
            try Self.lines("link\(separator)devce.id\nshop:///\(separator)d\n", .auto)
        }
        #expect(error?.line.contains("write `device.id`") == true, "\(error?.line ?? "")")
    }

    @Test("A value that is no separator ends with exit code 64", arguments: ["x", "7", "\"", "commas", "é", "\n"])
    func badSeparator(value: String) {
        let result = linkd("produce", "--dry-run", "--separator", value)
        #expect(result.code == 64)
        #expect(result.err.contains("for flag --separator"), "\(result.err)")
    }

    @Test(
        "A separator for another format than CSV ends with exit code 64",
        arguments: [["--raw"], ["--format", "jsonl"], ["--format", "url"]])
    func uselessSeparator(flags: [String]) {
        let result = linkd(["produce", "--dry-run", "--separator", "comma"] + flags)
        #expect(result.code == 64)
        #expect(result.err.contains("--separator is for CSV, not for \(flags.joined(separator: " "))"))
    }

    @Test("Skipped entries are lines that are not blank, or rows with line ends inside quotes")
    func skip() throws {
        #expect(try Self.lines("a:1\n\n\nb:2\nc:3\n", .url, skip: 2) == ["5:c:3"])
        #expect(try Self.lines("a\n\nb\n", .auto, raw: true, skip: 2) == ["3:b"])
        #expect(
            try Self.lines("id,link\n\"a\n\nb\",x:1\n\nc,y:2\n", .auto, skip: 1) == [#"6:{"id":"c","link":"y:2"}"#])
        #expect(try Self.lines("a:1\n", .url, skip: 3).isEmpty)
    }

    @Test("Lines are equal whether or not they cross a chunk")
    func longLines() throws {
        let lengths = [1, 1000, 262_143, 262_144, 262_145, 600_000, 3]
        let texts = lengths.map { String(repeating: "x", count: $0) }
        let lines = try Self.lines(texts.joined(separator: "\n"), .auto, raw: true)
        #expect(lines == texts.enumerated().map { "\($0.offset + 1):\($0.element)" })
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
            (
                "", 0,
                #"{"read":0,"skipped":0,"would_send":0,"unreadable":0,"rejected":0,"without_key":0,"next":1,"#, ""
            ),
        ])
    func dryRun(text: String, code: Int32, summary: String, message: String) {
        withTemporaryFile(text) { path in
            let result = linkd("produce", "--dry-run", "--json", path)
            #expect(result.code == code)
            #expect(result.out.contains(summary), "\(result.out)")
            #expect(message.isEmpty || result.err.contains(message), "\(result.err)")
            #expect(!result.out.contains("delivered"))
        }
    }

    @Test("A dry run says how many records it would send, and skips and counts entries of all files")
    func drySummary() {
        withTemporaryFile("a:1\n\nb:2\n") { first in
            withTemporaryFile("{\nc:3\nd:4\n") { second in
                let all = linkd("produce", "--dry-run", first, second)
                #expect(all.code == 65)
                #expect(all.out.hasPrefix("read 5, would send 4, unreadable 1, without key 4, in "), "\(all.out)")
                let note = "4 events without a device and a key: a worker makes a dead letter (missing_device) of each"
                #expect(all.err.contains(note), "\(all.err)")
                #expect(!linkd("produce", "--dry-run", "--device", "d", first).err.contains("missing_device"))
                let some = linkd("produce", "--dry-run", "--json", "--skip", "3", "--count", "1", first, second)
                #expect(some.code == 0, "\(some.err)")
                #expect(
                    some.out.hasPrefix(#"{"read":1,"skipped":3,"would_send":1,"unreadable":0,"rejected":0,"#),
                    "\(some.out)")
                #expect(some.out.contains(#""next":5,"#))
                let zero = linkd("produce", "--dry-run", "--skip", "3", "--count", "0", first, second)
                #expect(zero.code == 0, "\(zero.err)")
                let none = linkd("produce", "--dry-run", "--skip", "6", first, second)
                #expect(none.code == 65)
                #expect(none.err.contains("fewer entries than --skip 6: 5"), "\(none.err)")
            }
        }
    }

    @Test("Tables reject events before they are sent, and the decisions are counted")
    func check() throws {
        let lines = [
            #"{"id":"1","link":"shop:///p/new","device":{"id":"d"}}"#, #"{"id":"2","link":"shop:///no/where"}"#,
            #"{"id":"3","link":"shop:///no/where","device":{"id":"d"}}"#, "shop:///p/new", "{",
        ]
        let table = Checkout.root.appending(path: "config/routes/shop.json").path
        withTemporaryFile(lines.joined(separator: "\n")) { path in
            let result = linkd("produce", "--dry-run", "--check", table, path)
            #expect(result.code == 65)
            let summary = "read 5, would send 1, unreadable 1, rejected 3, without key 0"
            #expect(result.out.hasPrefix(summary), "\(result.out)")
            #expect(result.err.contains("line 2: dead letter: missing_device: "), "\(result.err)")
            #expect(result.err.contains("line 3: rejected for its device: no_route (line not sent)"), "\(result.err)")
            #expect(result.err.contains("line 4: dead letter: missing_device: "), "\(result.err)")
            let rows = result.out.split(separator: "\n").dropFirst(2).map {
                $0.split(separator: " ").joined(separator: " ")
            }
            #expect(rows == ["dead letter missing_device 2", "navigate - 1", "reject no_route 1"])
            let raw = linkd("produce", "--dry-run", "--json", "--raw", "--device", "d", "--check", table, path)
            #expect(raw.out.contains(#""would_send":2,"unreadable":0,"rejected":3,"#), "\(raw.out)")
            #expect(raw.out.contains(#"{"outcome":"reject","reason":"no_route","count":2}"#), "\(raw.out)")
        }
        withTemporaryFile("{}") { refused in
            let result = linkd("produce", "--dry-run", "--check", refused)
            #expect(result.code == 65)
            #expect(result.err.contains("is refused: "), "\(result.err)")
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

    @Test("Missing files and directories end with exit code 65 before a broker is asked")
    func badFiles() {
        let directory = Checkout.root.path
        withTemporaryFile("a:1\n") { path in
            let bad = ["/no/such/file", directory]
            let result = linkd(
                ["produce", "-b", "127.0.0.1:1", path] + bad, environment: [:])
            #expect(result.code == 65)
            #expect(result.err.contains("/no/such/file cannot be read: No such file"), "\(result.err)")
            #expect(result.err.contains("; \(directory) is a directory."), "\(result.err)")
            #expect(result.out.isEmpty)
        }
    }
}
