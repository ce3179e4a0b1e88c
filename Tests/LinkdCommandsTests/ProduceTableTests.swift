internal import ByteStorage
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

/// CSV files as spreadsheets and people write them.
@Suite struct ProduceTableTests {
    private static func rows(_ range: ClosedRange<Int>) -> [String] { range.map { "shop:///p/\($0),d-\($0)" } }

    /// Returns the links to send by their last component, and the errors by line.
    private static func read(_ lines: [String]) throws -> (links: [String], faults: [Int: String]) {
        try withTemporaryFile(lines.joined(separator: "\n") + "\n") { path in
            let input = try EventInput(
                try ByteSource(path: path), format: .auto, raw: false, map: ColumnMap(passthrough: []))
            var links: [String] = []
            var faults: [Int: String] = [:]
            while let line = input.next() {
                switch line.value {
                case .success(let bytes): links.append(bytes.string)
                case .failure(let fault): faults[line.line] = fault.text
                }
            }
            return (links, faults)
        }
    }

    @Test(
        "A stray quote costs its line only, wherever it is",
        arguments: [
            "\"shop:///p/0,d-0", "shop:///p/0,\"d-0", "\"shop:///p/0\"\",\"d-0\"", "shop:///p/0\",d-0",
            "\"shop:///p/0,\"d-0\"", "shop:///p/0,\"d-0\" x", "\"",
        ])
    func strayQuote(line: String) throws {
        let result = try Self.read(["link,device.id"] + Self.rows(1...5000) + [line] + Self.rows(5001...20_000))
        #expect(result.links.count == 20_000)
        #expect(Array(result.faults.keys) == [5002], "\(result.faults)")
    }

    @Test("Two stray quotes take in no rows, and their lines are counted and named")
    func strayQuotes() throws {
        let rows = (1...9000).map { "shop:///p/\($0),d-\($0),spring" }
        let result = try Self.read(["link,device.id,campaign", "shop:///a,\"d,x"] + rows + ["shop:///b,\"d,x"] + rows)
        #expect(result.links.count == 18_000)
        #expect(result.faults.keys.sorted() == [2, 9003], "\(result.faults)")
    }

    @Test(
        "A text in quotes never becomes rows: its lines are counted and named, and none is sent",
        arguments: [
            ("\"shop:///a,d,x", "shop:///b\",d,x"), ("shop:///a,d,\"x", "shop:///b,d,x\""),
            ("shop:///p/new,\"Hello", "bye\",d-0001"), ("shop:///p/new,\"Hello", "bye\""),
        ])
    func quotedRows(first: String, last: String) throws {
        let rows = (1...9000).map { "shop:///p/\($0),d-\($0),spring" }
        let result = try Self.read(
            ["link,device.id,campaign", first] + rows + ["\"\"quoted\"\"", "", last, "shop:///ok,d-1,x"])
        #expect(result.links == [#"{"link":"shop:///ok","campaign":"x","device":{"id":"d-1"}}"#])
        // Lines 2 to 9005.
        #expect(result.faults.keys.sorted() == Array(2...9005), "\(result.faults.count)")
        #expect(result.faults[9005]?.hasPrefix("the quoted text of lines 2 to 9005 holds a line like a row") == true)
    }

    @Test("Cells of several lines are read if they contain no rows")
    func linesInCells() throws {
        let result = try Self.read([
            "link,device.id,params.note,payload", #"shop:///1,d-1,"one"#, "", #"two, three","{"#,
            #"""a"": [1,"#, #"2]}""#, "shop:///2,d-2,,", #"shop:///3,d-3,"see"#, "shop:///4,d-4,x,", "end\",",
        ])
        #expect(result.links.count == 2, "\(result.links)")
        #expect(result.links.first?.contains(#""params":{"note":"one\n\ntwo, three"}"#) == true, "\(result.links)")
        // The text of line 8 holds a line like a row.
        #expect(result.links.last?.contains("shop:///2") == true)
        #expect(result.faults.keys.sorted() == [8, 9, 10], "\(result.faults)")
    }

    @Test("After a quote, reading goes on at a line that reads as a row, and the lines before are counted")
    func lossAfterQuote() throws {
        let result = try Self.read(
            [
                "link,device.id", "\"shop:///a,d-1", "no link,d-2", "one cell", "shop:///b c,d-3", "", "shop:///ok,d-4",
                "x",
            ])
        #expect(result.links == [#"{"link":"shop:///ok","device":{"id":"d-4"}}"#])
        #expect(result.faults.keys.sorted() == [2, 3, 4, 5, 8])
        #expect(result.faults[3] == "no row begins here, after the quote of line 2")
        #expect(result.faults[8] == "the row has 1 cell, the header has 2")
    }

    @Test("A quote that never closes needs a bounded memory, and costs its line")
    func endlessQuote() throws {
        let rows = Self.rows(1...60_000)
        let result = try Self.read(["link,device.id", "\"x"] + rows + rows)
        #expect(result.links.count == 120_000)
        #expect(result.faults == [2: "a quote is not closed within \(CSVReader.spanLimit) bytes"])
    }

    @Test("Random texts are read to their end, and every line is a row, a fault, or blank")
    func randomTexts() throws {
        var generator = SeededGenerator(seed: 7)
        let pieces = ["\"", "\"\"", ",", "\n", "\r\n", "shop:///a", "d", " ", "\n\"", "shop:///a,d\n"]
        for _ in 0..<2000 {
            let count = Int.random(in: 0...30, using: &generator)
            let text = (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            let result = try Self.read(["link,device.id", text])
            // Each line without a quote that reads as a row is sent, and nothing else is.
            let rows = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            let plain = rows.count { $0.elementsEqual("shop:///a,d".utf8) }
            if !text.contains("\"") { #expect(result.links.count >= plain, "\(text.debugDescription)") }
            #expect(result.links.count + result.faults.count <= rows.count, "\(text.debugDescription)")
        }
    }

    @Test(
        "Columns have other names: of --map, aliases, and in another case",
        arguments: [
            ("Link URL,Customer", ["Link URL=link", "Customer=device.id"]), ("url,device", []), ("URL,Device ID", []),
            (" Deep Link , device_id ", []), ("Link,Device.ID", []), ("link;device.id", ["link;device.id="]),
            ("Ziel,Kunde", ["Ziel=url", "Kunde=device"]),
        ])
    func names(header: String, flags: [String]) {
        let separator = header.contains(";") ? ";" : ","
        let text = "\(header)\nshop:///p/new\(separator)d-1\n"
        withTemporaryFile(text) { path in
            let maps = separator == ";" ? [] : flags.flatMap { ["--map", $0] }
            let result = linkd(["produce", "--dry-run"] + maps + [path])
            #expect(result.code == 0, "\(header): \(result.err)")
            let summary = "read 1, would send 1, unreadable 0, without key 0,"
            #expect(result.out.hasPrefix(summary), "\(header): \(result.out)")
        }
    }

    @Test("Unknown columns are ignored and named in one line, and empty ones silently")
    func ignoredColumns() {
        withTemporaryFile("link,Price,device.id,\"Sold, by\",,\nshop:///p/new,3,d-1,x,,\n,,,,,\n") { path in
            let result = linkd("produce", "--dry-run", path)
            #expect(result.code == 0, "\(result.err)")
            #expect(result.out.hasPrefix("read 1, would send 1, unreadable 0, without key 0,"), "\(result.out)")
            #expect(
                result.err
                    == "\(path): ignored columns `Price`, `Sold, by`; --map NAME=COLUMN reads one\n")
            #expect(linkd("produce", "--dry-run", "-q", path).err.isEmpty)
        }
    }

    @Test(
        "A header that is probably wrong ends with exit code 65 and says what helps",
        arguments: [
            ("link,devce.id", [], "write `device.id`, or ignore the column with --map 'devce.id='"),
            ("Ziel,device", [], "no column is a link, and `Ziel` is not a valid column. Next: name the link, such as"),
            ("Ziel,My Link", [], "such as --map 'My Link=link'"),
            ("url,link", [], "column `url`, `link` are both `link`"),
            ("link,x", ["y=device.id"], "the header has no column `y`, which --map names"),
            ("\"Ziel\",\"Kunde\"", [], "--map 'Ziel=link'"),
        ] as [(String, [String], String)])
    func wrongHeaders(header: String, maps: [String], message: String) {
        withTemporaryFile(header + "\nshop:///p/new,d-1\n") { path in
            let result = linkd(["produce", "--dry-run"] + maps.flatMap { ["--map", $0] } + [path])
            #expect(result.code == 65)
            #expect(result.err.contains(message), "\(result.err)")
            #expect(result.out.hasPrefix("read 0, would send 0"), "\(result.out)")
        }
    }

    @Test(
        "A value of --map that is no column ends with exit code 64",
        arguments: [
            ("a=lnk", "write `link`"), ("a=zzzzzz", "use id, application"), ("a=link --map a=path", "twice"),
            ("0=link", "1..10000"),
        ])
    func badMap(value: String, message: String) {
        let flags = ("--map " + value).split(separator: " ").map(String.init)
        let result = linkd(["produce", "--dry-run"] + flags)
        #expect(result.code == 64)
        #expect(result.err.contains(message), "\(result.err)")
    }

    @Test(
        "Blank lines before the header are skipped, and lines keep their numbers",
        arguments: [
            ["link,device.id"], ["", "link,device.id"], [" \r", "", "link,device.id"],
            ["", "sep=,", "", "link,device.id"],
        ])
    func blankLines(head: [String]) throws {
        let result = try Self.read(head + ["shop:///a,d-1", "bad\"", "shop:///b,d-2"])
        #expect(result.links.map { $0.contains("\"device\"") } == [true, true], "\(result.links)")
        #expect(result.faults.keys.sorted() == [head.count + 2], "\(result.faults)")
    }

    @Test("A line `sep=` names the separator, and is not a row", arguments: [";", "\t", "|", ":"])
    func separatorLine(separator: String) throws {
        let lines = ["SEP=\(separator)", "device.id\(separator)link", "d-1\(separator)\"shop:///p/new\""]
        let result = try Self.read(lines.map { $0 + "\r" })
        #expect(result.links == [#"{"link":"shop:///p/new","device":{"id":"d-1"}}"#])
    }

    @Test(
        "A file without a header is recognized, and its columns have numbers",
        arguments: [
            ("shop:///p/1,d-1\nshop:///p/2,d-2\n", "column 1", "--map 1=link --map 2=device.id"),
            ("d-1;shop:///p/1\nd-2;shop:///p/2\n", "column 2", "--map 2=link --map 1=device.id"),
            ("shop:///p/1\td-1\n", "column 1", "--map 1=link --map 2=device.id"),
        ])
    func noHeader(text: String, place: String, flags: String) {
        withTemporaryFile(text) { path in
            let refused = linkd("produce", "--dry-run", path)
            #expect(refused.code == 65)
            #expect(refused.err.contains("the first line is a row, not a header, with a link in \(place)"))
            #expect(refused.err.contains("such as \(flags), or pass --format url"), "\(refused.err)")
            let rows = text.split(separator: "\n").count
            let result = linkd(["produce", "--dry-run"] + flags.split(separator: " ").map(String.init) + [path])
            #expect(result.code == 0, "\(result.err)")
            #expect(result.out.hasPrefix("read \(rows), would send \(rows), unreadable 0, without key 0,"))
        }
    }

    @Test("Links that contain separators are links")
    func linksWithSeparators() throws {
        for lines in [["shop:///a,b"], ["shop:///a,b", "shop:///c"], ["shop:///a,b", "shop:///a,b,c"]] {
            #expect(try Self.read(lines).links == lines)
        }
    }

    @Test(
        "An input that is not UTF-8 is named with the command that converts it",
        arguments: [
            ([0x1F, 0x8B, 8], "is compressed with gzip", "gunzip -c"),
            ([0xFF, 0xFE, 0x6C, 0], "is UTF-16", "iconv -f UTF-16 -t UTF-8"),
            ([0xFE, 0xFF, 0, 0x6C], "is UTF-16", "iconv -f UTF-16 -t UTF-8"),
            ([0x6C, 0, 0x69, 0, 0x6E, 0], "is UTF-16", "iconv -f UTF-16LE -t UTF-8"),
            ([0, 0x7B, 0, 0x22], "is UTF-16", "iconv -f UTF-16BE -t UTF-8"),
            (Array("link,id\rshop:///,e\r".utf8), "carriage return only", "tr '\\r' '\\n' <"),
        ] as [([UInt8], String, String)])
    func encodings(bytes: [UInt8], fault: String, command: String) throws {
        try withTemporaryFile("") { path in
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            let result = linkd("produce", "--dry-run", path)
            #expect(result.code == 65)
            #expect(result.err.contains(fault), "\(result.err)")
            let advice = "Next: convert it: `\(command) '\(path)' | linkd produce -`, with"
            #expect(result.err.contains(advice), "\(result.err)")
            #expect(linkd("produce", "--dry-run", "--raw", path).code == 0)
            guard command != "tr '\\r' '\\n' <" else { return }
            let table = Checkout.root.appending(path: "config/routes/shop.json").path
            for arguments in [
                ["routes", "diff", table, table, "--traffic", path],
                ["short-links", "build", path, "--out", path + ".out"],
                ["routes", "coverage", table, "--decisions", path],
            ] {
                let other = linkd(arguments)
                let advice = "Next: convert it with `\(command) '\(path)'`, and pass the result"
                #expect(other.code == 65 && other.err.contains(advice), "\(other)")
            }
        }
    }

    @Test("The rejected lines are written as they were, and can be corrected and sent")
    func rejects() throws {
        let table = Checkout.root.appending(path: "config/routes/shop.json").path
        let bad = ["\"shop:///p/new;d-1\r", "shop:///p/new\r", "shop:///no/where;d-2\r"]
        let text = "\u{FEFF}sep=;\r\nURL;device\r\n\(bad[0])\nshop:///p/new;d-3\r\n\(bad[1])\n\(bad[2])\n"
        try withTemporaryFile(text) { path in
            let file = path + ".rejects"
            defer { try? FileManager.default.removeItem(atPath: file) }
            let result = linkd("produce", "--dry-run", "--check", table, "--rejects", file, path)
            #expect(result.code == 65)
            #expect(result.out.hasPrefix("read 4, would send 1, unreadable 2, rejected 1, "), "\(result.out)")
            #expect(result.err.contains("Next: correct the lines in \(file), and send only this with the same flags"))
            let written = try String(contentsOfFile: file, encoding: .utf8)
            #expect(written == (["sep=;", "URL;device\r"] + bad).map { $0 + "\n" }.joined())
            let again = linkd("produce", "--dry-run", "--rejects", file, path)
            #expect(again.code == 64)
            #expect(again.err.contains("\(file) exists"), "\(again.err)")
            let corrected = written.replacing("\"", with: "").replacing("new\r\n", with: "new;d-4\r\n")
                .replacing("no/where", with: "p/new")
            try corrected.write(toFile: file, atomically: true, encoding: .utf8)
            let sent = linkd("produce", "--dry-run", "--check", table, file)
            #expect(sent.code == 0, "\(sent.err)")
            #expect(sent.out.hasPrefix("read 3, would send 3, unreadable 0, "), "\(sent.out)")
        }
    }

    @Test("Without bad lines no file is left, and lines of another header are in another file")
    func rejectFiles() {
        withTemporaryFile("link\nshop:///p/new\n") { good in
            let file = good + ".rejects"
            #expect(linkd("produce", "--dry-run", "--rejects", file, good).code == 0)
            #expect(!FileManager.default.fileExists(atPath: file))
            withTemporaryFile("link,id\nx\n") { table in
                withTemporaryFile("{\n") { lines in
                    defer {
                        for end in ["", ".2", ".3"] { try? FileManager.default.removeItem(atPath: file + end) }
                    }
                    #expect(FileManager.default.createFile(atPath: file + ".2", contents: nil))
                    let result = linkd("produce", "--dry-run", "--rejects", file, table, good, lines)
                    #expect(result.code == 65)
                    #expect(result.err.contains("correct the lines in \(file), \(file).3, "), "\(result.err)")
                    #expect((try? String(contentsOfFile: file, encoding: .utf8)) == "link,id\nx\n")
                    #expect((try? String(contentsOfFile: file + ".3", encoding: .utf8)) == "{\n")
                    #expect((try? String(contentsOfFile: file + ".2", encoding: .utf8)) == "")
                }
            }
            let refused = linkd("produce", "--dry-run", "--rejects", "/no/such/directory/x", good)
            #expect(refused.code == 78)
            #expect(refused.err.contains("/no/such/directory/x cannot be written: "), "\(refused.err)")
        }
    }

    @Test("More than 20 bad lines are all listed, with the flag that writes them to a file")
    func manyBadLines() {
        let lines = (1...100).map { $0 % 2 == 0 || $0 == 51 ? "{" : "shop:///p/\($0)" }
        withTemporaryFile(lines.joined(separator: "\n")) { path in
            let result = linkd("produce", "--dry-run", path)
            #expect(result.code == 65)
            #expect(result.err.contains("Not sent: \(path), lines 2, 4, "), "\(result.err)")
            #expect(result.err.contains(", 48, 50-52, 54, "), "\(result.err)")
            #expect(result.err.contains(", 98, 100 (51 lines)."), "\(result.err)")
            #expect(result.err.contains("the same command with --dry-run --rejects FILE writes them to a file"))
        }
    }
}
