internal import ByteStorage
internal import Foundation
internal import ShortLinks
internal import StrictJSON

/// The initial inputs of a search: samples, tables, and earlier findings.
package enum Seeds {
    /// Returns all initial inputs of a target, from the corpus and generated from shipped files.
    ///
    /// - Throws: An error if a file cannot be read.
    package static func all(_ target: FuzzTarget, environments: [FuzzEnvironment]) throws -> [[UInt8]] {
        try corpusInputs(of: target) + generatedInputs(of: target, environments: environments)
    }

    /// Returns the inputs of a target in the corpus, including earlier findings.
    ///
    /// - Throws: An error if a file cannot be read.
    package static func corpusInputs(of target: FuzzTarget) throws -> [[UInt8]] {
        try ["corpus", "finds"].flatMap { kind -> [[UInt8]] in
            let path = "\(FuzzEnvironment.corpus)/\(target.rawValue).\(kind).txt"
            guard FileManager.default.fileExists(atPath: path) else { return [] }
            return CorpusFile.inputs(of: try String(contentsOfFile: path, encoding: .utf8))
        }
    }

    /// Returns the inputs generated from samples and tables.
    ///
    /// - Throws: An error if a file cannot be read.
    package static func generatedInputs(of target: FuzzTarget, environments: [FuzzEnvironment]) throws -> [[UInt8]] {
        switch target {
        case .events: try eventInputs()
        case .links: links(environments)
        case .tables: try tables()
        case .sequences: try sequences(environments)
        case .ingest: try ingestInputs()
        case .statistics: try statistics()
        case .shortlinks: shortLinks()
        case .imports: try imports(environments)
        }
    }

    private static func ingestInputs() throws -> [[UInt8]] {
        try IngestSeeds.records().enumerated().map { index, record in
            IngestInput.input(record, letter: FuzzEnvironment.name(of: index % 8 < 4 ? 0 : index % 5))
        }
    }

    private static func shortLinks() -> [[UInt8]] {
        let contents = [ShortLinkRows.plain, ShortLinkRows.plain.prefix(1) + [], ShortLinkRows.forged.suffix(3) + []]
        let rows = ShortLinkRows.forged.filter { $0.destination.count < 1_000 && !$0.destination.contains(0x0A) }
        let lines = rows.map { $0.key + [UInt8(ascii: "\t")] + $0.destination }
        return [[], [0, 0, 0, 1], [1, 0, 1, 200], [2, 0, 2, 80, 0, 9, 0, 255]].map { Array("d\n".utf8) + $0 }
            + contents.map { Array("f\n".utf8) + ShortLinkFile($0).contents }
            + (lines + [Array(lines.joined(separator: [UInt8(ascii: "\n")]))]).map { Array("r\n".utf8) + $0 }
    }

    private static func imports(_ environments: [FuzzEnvironment]) throws -> [[UInt8]] {
        var inputs = try [("a", "apple-app-site-association"), ("m", "AndroidManifest.xml"), ("n", "linking.json")].map
        {
            Array("\($0.0)\n".utf8) + (try FuzzEnvironment.file("samples/links/\($0.1)"))
        }
        let paths = #"{"applinks":{"apps":[],"details":[{"appID":"A.b","paths":["NOT /a/*","/a/?","*"]}]}}"#
        inputs.append(Array("a\n\(paths)".utf8))
        inputs += environments[0].words.paths.prefix(12).map { path in
            Array("l\(path)\n{\"Product\":{\"id\":7,\"slug\":\"a b\"},\"id\":\"1\",\"x\":null}".utf8)
        }
        return inputs
            + ["", "https://shop.example/", String(repeating: "a", count: 2_953)].map { Array("q\n\($0)".utf8) }
    }

    /// Returns the statistics documents of the tests, and their objects in documents of their own.
    ///
    /// - Throws: An error if a file cannot be read.
    static func statistics() throws -> [[UInt8]] {
        let folder = FuzzEnvironment.checkout.appending(path: "Tests/DispatchWorkerTests/Fixtures")
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        var inputs: [[UInt8]] = []
        for name in ["consumer-2.0.2", "consumer-2.16.0", "producer-2.0.2", "producer-2.16.0"] {
            let document = [UInt8](try Data(contentsOf: folder.appending(path: "statistics-\(name).json")))
            inputs.append(document)
            for member in try JSONValue.parse(document).object ?? [] {
                if member.value.object != nil { inputs.append(Array(JSONValue(.object([member])).text.utf8)) }
                guard member.name == "brokers" || member.name == "topics" else { continue }
                // Short documents with most figures.
                for element in member.value.object ?? [] {
                    let object = JSONMember(name: member.name, value: JSONValue(.object([element])))
                    inputs.append(Array(JSONValue(.object([object])).text.utf8))
                }
            }
        }
        return inputs
    }

    private static let eventFiles = ["articles", "shop", "pushes", "lists"]

    private static func sampleLines(_ file: String) throws -> [[UInt8]] {
        try FuzzEnvironment.file("samples/\(file).jsonl").split(separator: UInt8(ascii: "\n")).map(Array.init)
    }

    private static func eventInputs() throws -> [[UInt8]] {
        var inputs = try eventFiles.flatMap { try sampleLines($0) }.map { Array("f\n".utf8) + $0 }
        for line in try sampleLines("records") {
            guard let sample = try? JSONValue.parse(line) else { continue }
            let key = sample["key"]?.string ?? ""
            if let value = sample["value"]?.string { inputs.append(Array("f\(key)\n\(value)".utf8)) }
        }
        return inputs
    }

    private static func links(_ environments: [FuzzEnvironment]) -> [[UInt8]] {
        environments.enumerated().flatMap { index, environment in
            environment.words.links.enumerated().map { number, link in
                let letters = [
                    FuzzEnvironment.name(of: index), UInt8(ascii: "a") + UInt8(number % 7),
                    UInt8(ascii: "a") + UInt8(number % 5),
                ]
                return letters + Array("\n\(link)".utf8)
            }
        }
    }

    private static func tables() throws -> [[UInt8]] {
        var tables = try [
            "routes/shop", "routes/seeds/content-flow", "routes/seeds/coordinator-demo",
            "routes/seeds/easydev991", "routes/seeds/trips-calendar", "parity/string-paths",
        ].map { try FuzzEnvironment.file("\($0).json") }
        tables += [Array(FuzzTables.vault.utf8), Array(FuzzTables.attic.utf8)]
        // Examples are not needed to load a table, and slow down the search.
        tables = tables.compactMap { file in
            guard let value = try? JSONValue.parse(file), let members = value.object else { return nil }
            return Array(JSONValue(.object(members.filter { $0.name != "examples" })).text.utf8)
        }
        return try tables + badTables()
    }

    /// Returns the invalid tables from the tests of RouteAnalysis.
    private static func badTables() throws -> [[UInt8]] {
        let path = FuzzEnvironment.checkout.appending(path: "Tests/RouteAnalysisTests/Fixtures/bad-tables.txt").path
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        let text = try String(contentsOfFile: path, encoding: .utf8)
        return text.components(separatedBy: "\n=== ").dropFirst().map { text in
            var body = text.drop { $0 != "\n" }.replacing(#/«[^»]*»/#, with: "")
            for (name, line) in defaults where !body.contains("\n\"\(name)\":") { body = "\n\(line)" + body }
            while let last = body.last, last.isWhitespace || last == "," { body.removeLast() }
            return Array("{\(body)\n}".utf8)
        }
    }

    private static let defaults = [
        ("routes", #""routes": [],"#), ("link", #""link": { "schemes": ["app"], "host": "segment" },"#),
        ("table", #""table": { "id": "bad", "version": "1" },"#), ("schemaVersion", #""schemaVersion": 1,"#),
    ]

    private static func sequences(_ environments: [FuzzEnvironment]) throws -> [[UInt8]] {
        var inputs: [[UInt8]] = []
        let samples = try eventFiles.flatMap { try sampleLines($0) }
        for first in stride(from: 0, to: samples.count, by: 12) {
            let lines = samples[first..<min(first + 12, samples.count)]
            inputs.append(Array("f\n".utf8) + Array(lines.joined(separator: [UInt8(ascii: "\n")])))
        }
        var random = RandomSource(seed: 1)
        for index in environments.indices {
            var generator = EventGenerator(environments[index].words)
            generator.begin(producers: 2, deviation: 4, &random)
            let lines = (0..<8).map { _ in generator.record(&random) }
            inputs.append(
                [FuzzEnvironment.name(of: index), UInt8(ascii: "\n")]
                    + Array(lines.joined(separator: [UInt8(ascii: "\n")])))
        }
        return inputs
    }
}

/// The records of all fixtures and samples of envelopes, vendors, and link platforms.
package enum IngestSeeds {
    /// Returns all records.
    ///
    /// - Throws: An error if a file cannot be read.
    package static func records() throws -> [FuzzRecord] {
        try fixtures() + samples()
    }

    private static let folder = FuzzEnvironment.checkout.appending(path: "Tests/LinkIngestTests/Fixtures")

    private static func lines(_ url: URL) throws -> [JSONValue] {
        try [UInt8](Data(contentsOf: url)).split(separator: UInt8(ascii: "\n")).map {
            try JSONValue.parse(Array($0), maxDepth: 512)
        }
    }

    private static func fixtures() throws -> [FuzzRecord] {
        var records: [FuzzRecord] = []
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".jsonl") }
        for file in files.sorted() {
            for line in try lines(folder.appending(path: file)) { records += self.records(of: line) }
        }
        return records
    }

    private static func samples() throws -> [FuzzRecord] {
        var records: [FuzzRecord] = []
        for file in ["pushes", "shop", "articles", "lists"] {
            let text = try FuzzEnvironment.file("samples/\(file).jsonl")
            records += text.split(separator: UInt8(ascii: "\n")).map { FuzzRecord(value: Array($0)) }
        }
        for line in try lines(FuzzEnvironment.home.appending(path: "samples/records.jsonl")) {
            records += self.records(of: line)
        }
        return records
    }

    /// Returns the records of a line of a fixture, whose members `Fixtures/README.md` describes.
    private static func records(of line: JSONValue) -> [FuzzRecord] {
        let headers = (line["headers"]?.object ?? []).map {
            RecordHeader(name: Array($0.name.utf8), value: $0.value.string.map { Array($0.utf8) })
        }
        let key = line["key"]?.string.map { Array($0.utf8) }
        var records: [FuzzRecord] = []
        for name in ["value", "body", "payload", "map", "text", "hex", "link"] {
            guard let member = line[name] else { continue }
            let bytes = name == "hex" ? hexadecimal(member) : Array((member.string ?? member.text).utf8)
            records.append(FuzzRecord(key: key ?? Array("k".utf8), headers: headers, value: bytes))
            if name == "link" { records.append(FuzzRecord(value: event("link", Array(member.text.utf8), of: line))) }
            if bytes.first == UInt8(ascii: "{") {
                records.append(FuzzRecord(headers: headers, value: event("payload", bytes, of: line)))
            }
        }
        return records
    }

    private static func hexadecimal(_ value: JSONValue) -> [UInt8] {
        let digits = Array((value.string ?? "").utf8)
        return stride(from: 0, to: digits.count - 1, by: 2).map {
            (hexDigit(digits[$0]) ?? 0) << 4 | (hexDigit(digits[$0 + 1]) ?? 0)
        }
    }

    /// Returns the event with a member and the platform and the tapped button of the line.
    private static func event(_ name: String, _ bytes: [UInt8], of line: JSONValue) -> [UInt8] {
        var event = #"{"device":{"id":"d""#
        if let platform = line["platform"] ?? line["device"], platform.string != nil {
            event += ",\"platform\":\(platform.text)"
        }
        event += "}"
        for member in ["action", "payloadType"] {
            if let value = line[member] { event += ",\"\(member)\":\(value.text)" }
        }
        return Array((event + ",\"\(name)\":").utf8) + bytes + Array("}".utf8)
    }
}
