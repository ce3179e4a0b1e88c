internal import ByteStorage
internal import KafkaClient
internal import StrictJSON

/// A record of the samples.
struct SampleRecord: Equatable {
    /// The key, or nil for none.
    var key: [UInt8]?
    /// The value, or nil for none.
    var value: [UInt8]?
    /// The headers.
    var headers: [RecordHeader] = []

    /// Reads all samples: events, links, CSV rows, and complete records, most of which become dead letters.
    static func all(_ files: ShippedFiles, _ check: EventCheck) throws(CommandFailure) -> [SampleRecord] {
        let directory = try files.path("samples")
        var records: [SampleRecord] = []
        for name in Platform.names(in: directory) {
            let path = directory + "/" + name
            switch name {
            case "records.jsonl": records += try whole(path)
            case _ where [".jsonl", ".csv", ".txt"].contains(where: name.hasSuffix): records += try events(path, check)
            default: continue
            }
        }
        return records
    }

    private static func events(_ path: String, _ check: EventCheck) throws(CommandFailure) -> [SampleRecord] {
        let input = try EventInput(try ByteSource(path: path), format: .auto, raw: false, passthrough: [])
        var records: [SampleRecord] = []
        while let line = input.next() {
            guard case .success(let value) = line.value, case .success(let key) = check.key(of: value) else {
                throw CommandFailure(
                    .badData, "\(path), line \(line.line) cannot be read",
                    advice: "reinstall the samples that come with linkd")
            }
            records.append(SampleRecord(key: key?.array, value: value.array))
        }
        return records
    }

    /// Reads lines with `key`, `value` as text or `hex` as bytes, and `headers`.
    private static func whole(_ path: String) throws(CommandFailure) -> [SampleRecord] {
        let source = try ByteSource(path: path)
        var records: [SampleRecord] = []
        while let line = source.line(limit: EventInput.limit) {
            guard let json = try? JSONValue.parse(line.array), json.object != nil else { continue }
            records.append(SampleRecord(whole: json))
        }
        return records
    }

    private init(key: [UInt8]?, value: [UInt8]?) {
        self.key = key
        self.value = value
    }

    private init(whole json: JSONValue) {
        key = json["key"]?.string.map { Array($0.utf8) }
        value = json["value"]?.string.map { Array($0.utf8) } ?? json["hex"]?.string.map(Self.bytes)
        headers = (json["headers"]?.object ?? []).map { header in
            RecordHeader(name: Array(header.name.utf8), value: header.value.string.map { Array($0.utf8) })
        }
    }

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex.utf8).compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
    }
}
