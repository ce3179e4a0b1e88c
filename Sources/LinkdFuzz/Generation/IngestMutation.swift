/// A mutation of a record in any envelope: of its bytes, its JSON values, its headers, and its key.
package struct IngestMutation {
    private let members: JSONMutation
    private let values: EnvelopeMutation
    private let seeds: [FuzzRecord]
    /// A Boolean value that indicates whether values with thousands of elements are created.
    private let allowsLarge: Bool

    /// Creates a mutation.
    ///
    /// - Parameters:
    ///   - words: The words of route tables and of the vendor table.
    ///   - seeds: The records whose parts are combined.
    ///   - allowsLarge: A Boolean value that indicates whether values with thousands of elements are created.
    package init(_ words: Vocabulary, seeds: [FuzzRecord], allowsLarge: Bool) {
        members = JSONMutation(words, hasGroups: false)
        values = EnvelopeMutation(words)
        self.seeds = seeds
        self.allowsLarge = allowsLarge
    }

    /// The size limit of a record's value, in bytes, which is a little more than that of the reader.
    private static let limit = 1 << 20 + 16

    /// Returns a changed seed.
    package func record(_ random: inout RandomSource) -> FuzzRecord {
        var record = random.pick(seeds)
        record.offset = 7
        for _ in 0...(random.one(in: 2) ? 0 : random.below(5)) { change(&record, &random) }
        if allowsLarge && random.one(in: 150) { values.inflate(&record.value, &random) }
        return record
    }

    /// Changes a record at one place.
    package func change(_ record: inout FuzzRecord, _ random: inout RandomSource) {
        switch random.below(32) {
        case 0...3: changeBytes(&record.value, &random)
        case 4...15: members.change(&record.value, &random)
        case 16...18: values.insertMember(of: random.pick(seeds).value, into: &record.value, &random)
        case 19...20: values.exchange(&record.value, with: random.pick(seeds).value, &random)
        case 21...22: values.wrap(&record.value, with: random.pick(seeds).value, &random)
        case 23: values.wrapValue(&record.value, &random)
        case 24: values.writeAsString(&record.value, &random)
        case 25: values.readString(&record.value, &random)
        case 26...27: values.changeKind(&record.value, &random)
        case 28: values.addDevices(&record.value, &random)
        case 29: record.key = key(&random)
        case 30: changeHeaders(&record.headers, &random)
        default: record.headers = random.one(in: 2) ? Self.cloudEvent(&random) : random.pick(seeds).headers
        }
        if record.value.count > Self.limit { record.value.removeSubrange(Self.limit...) }
    }

    // MARK: Bytes

    private static let alphabet =
        Array(#"{}[]":,\/u0123456789abcnrt. -+eE~%#?&="#.utf8) + [0, 9, 0x1F, 0x7F, 0x80, 0xC3, 0xED, 0xF4, 0xFF]

    private func changeBytes(_ bytes: inout [UInt8], _ random: inout RandomSource) {
        guard !bytes.isEmpty else {
            bytes = random.pick(seeds).value
            return
        }
        let position = random.below(bytes.count)
        let end = min(bytes.count, position + 1 + random.below(random.one(in: 4) ? 64 : 6))
        switch random.below(9) {
        case 0: bytes[position] = random.pick(Self.alphabet)
        case 1: bytes[position] ^= 1 << UInt8(random.below(8))
        case 2: bytes.removeSubrange(position..<end)
        case 3: bytes.insert(random.pick(Self.alphabet), at: position)
        case 4: bytes.insert(contentsOf: Array(bytes[position..<end]), at: random.below(bytes.count + 1))
        case 5: bytes.removeSubrange(position...)
        case 6: frame(&bytes, &random)
        case 7: bytes.insert(contentsOf: random.pick(Self.pieces), at: position)
        default:
            let other = random.pick(seeds).value
            let start = random.below(max(other.count, 1))
            bytes.replaceSubrange(position..<end, with: other[start..<min(other.count, start + 40)])
        }
    }

    private static let pieces: [[UInt8]] = [
        "\\u0000", "\\ud83d", "\\ude00", "\\u0022", "\\\\", "\"", "%00", "%25", "%2525", "://", "{N}", "~0", "~1", "  ",
        "1e999", "-0.0", "18446744073709551616", "null", "true", "[]", "{}", "\"\":", "e\u{301}", "\u{2028}",
        "\u{FEFF}",
    ].map { Array($0.utf8) }

    /// Adds the framing of a schema registry, a byte order mark, or white space.
    private func frame(_ bytes: inout [UInt8], _ random: inout RandomSource) {
        switch random.below(5) {
        case 0: bytes = [0, 0, 0, 0, UInt8(random.below(256))] + bytes
        case 1: bytes = [0] + bytes
        case 2: bytes = [0xEF, 0xBB, 0xBF] + bytes
        case 3: bytes += random.pick([[0x20], [0x0A], [0x0D, 0x0A], [0x00]])
        default: bytes = random.pick([[0x20], [0x0A, 0x09], [0x0C]]) + bytes
        }
    }

    // MARK: Keys and headers

    private func key(_ random: inout RandomSource) -> [UInt8]? {
        switch random.below(8) {
        case 0: nil
        case 1: []
        case 2: [UInt8](repeating: UInt8(ascii: "k"), count: 255 + random.below(3))
        case 3: (0...random.below(8)).map { _ in UInt8(random.below(256)) }
        case 4: Array("\"кот\\\u{1}\"".utf8)
        case 5: Array(random.pick(seeds).value.prefix(40))
        default: Array("d-\(random.below(20))".utf8)
        }
    }

    private static let names = [
        "ce_id", "ce_source", "ce_type", "ce_specversion", "ce_partitionkey", "content-type", "Content-Type",
        "content-encoding", "ce_datacontenttype", "traceparent", "CE_ID", "",
    ]
    private static let contents = [
        "1.0", "0.3", "", " 1.0", "application/json", "application/cloudevents+json", "text/plain",
        "application/cloudevents-batch+json", "application/cloudevents+avro", "application/cloudevents",
        "application/json; charset=utf-8", " Text/Plain ;x", "application/x+json", ";", "identity", "gzip", "\u{0}",
    ]

    private static func cloudEvent(_ random: inout RandomSource) -> [FuzzHeader] {
        var texts = [
            ("ce_specversion", "1.0"), ("ce_id", "i-\(random.below(9))"), ("ce_source", "/s"), ("ce_type", "t"),
        ]
        if random.one(in: 2) { texts.append(("content-type", random.pick(contents))) }
        if random.one(in: 3) { texts.append(("ce_partitionkey", random.pick(["p", "", "d-1"]))) }
        if random.one(in: 8) { texts = [("content-type", random.pick(contents))] }
        return texts.map { FuzzHeader(name: Array($0.0.utf8), value: Array($0.1.utf8)) }
    }

    private func changeHeaders(_ headers: inout [FuzzHeader], _ random: inout RandomSource) {
        if headers.isEmpty { headers = Self.cloudEvent(&random) }
        let position = random.below(headers.count)
        switch random.below(7) {
        case 0: headers.remove(at: position)
        case 1: headers.insert(headers[position], at: random.below(headers.count))
        case 2: headers[position].name = Array(random.pick(Self.names).utf8)
        case 3: headers[position].value = random.one(in: 3) ? nil : Array(random.pick(Self.contents).utf8)
        case 4:
            var value = headers[position].value ?? []
            changeBytes(&value, &random)
            headers[position].value = Array(value.prefix(5_000))
        case 5:
            headers[position].value = [UInt8](repeating: UInt8(ascii: "i"), count: random.pick([255, 256, 257, 5_000]))
        default:
            headers.append(
                FuzzHeader(
                    name: Array(random.pick(Self.names).utf8), value: Array(random.pick(Self.contents).utf8)))
        }
    }
}
