internal import ByteStorage
internal import Foundation
internal import StrictJSON

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
        for file in ["pushes", "shop", "articles"] {
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
            FuzzHeader(name: Array($0.name.utf8), value: $0.value.string.map { Array($0.utf8) })
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
