internal import ByteStorage
internal import Foundation
internal import LinkIngest
internal import StrictJSON

/// A mutation of a record in any envelope: of its bytes, its JSON values, its headers, and its key.
struct IngestMutation {
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
    init(_ words: Vocabulary, seeds: [FuzzRecord], allowsLarge: Bool) {
        members = JSONMutation(words, hasGroups: false)
        values = EnvelopeMutation(words)
        self.seeds = seeds
        self.allowsLarge = allowsLarge
    }

    /// The size limit of a record's value, in bytes, a little more than the reader accepts.
    private static let limit = 1 << 20 + 16

    /// Returns a changed seed.
    func record(_ random: inout RandomSource) -> FuzzRecord {
        var record = random.pick(seeds)
        record.offset = 7
        for _ in 0...(random.one(in: 2) ? 0 : random.below(5)) { change(&record, &random) }
        if allowsLarge && random.one(in: 150) { values.inflate(&record.value, &random) }
        return record
    }

    /// Changes a record at one place.
    func change(_ record: inout FuzzRecord, _ random: inout RandomSource) {
        switch random.below(38) {
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
        case 31...34:
            values.changeList(&record.value, with: random.pick(seeds).value, &random)
            if random.one(in: 6) { record.headers = Self.batch }
        case 35...36: values.addDelivery(&record.value, &random)
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

    private static func cloudEvent(_ random: inout RandomSource) -> [RecordHeader] {
        var texts = [
            ("ce_specversion", "1.0"), ("ce_id", "i-\(random.below(9))"), ("ce_source", "/s"), ("ce_type", "t"),
        ]
        if random.one(in: 2) { texts.append(("content-type", random.pick(contents))) }
        if random.one(in: 3) { texts.append(("ce_partitionkey", random.pick(["p", "", "d-1"]))) }
        if random.one(in: 8) { texts = [("content-type", random.pick(contents))] }
        return texts.map { RecordHeader(name: Array($0.0.utf8), value: Array($0.1.utf8)) }
    }

    private static let batch = [
        RecordHeader(name: Array("content-type".utf8), value: Array("application/cloudevents-batch+json".utf8))
    ]

    private func changeHeaders(_ headers: inout [RecordHeader], _ random: inout RandomSource) {
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
                RecordHeader(
                    name: Array(random.pick(Self.names).utf8), value: Array(random.pick(Self.contents).utf8)))
        }
    }
}

/// A mutation of JSON text that combines messages, nests envelopes, changes the kinds of values, and creates large
/// values.
struct EnvelopeMutation {
    private let words: Vocabulary

    init(_ words: Vocabulary) { self.words = words }

    /// Returns the range of a random value, or nil if there is none.
    private func value(_ tokens: JSONTokens, _ random: inout RandomSource) -> Range<Int>? {
        tokens.indices(of: [.string, .scalar, .open]).randomElement(using: &random).map { tokens.value(at: $0) }
    }

    // MARK: Combinations

    /// Inserts a member of another message into an object.
    func insertMember(of donor: [UInt8], into bytes: inout [UInt8], _ random: inout RandomSource) {
        let other = JSONTokens(donor)
        guard let name = other.indices(of: [.name]).randomElement(using: &random), let member = other.member(at: name)
        else { return }
        JSONTokens(bytes).insert(Array(donor[member]), into: &bytes, atRoot: random.one(in: 3), &random)
    }

    /// Replaces a value with one of another message.
    func exchange(_ bytes: inout [UInt8], with donor: [UInt8], _ random: inout RandomSource) {
        guard let own = value(JSONTokens(bytes), &random), let other = value(JSONTokens(donor), &random) else { return }
        bytes.replaceSubrange(own, with: donor[other])
    }

    /// The beginnings and ends of envelopes.
    private static let envelopes: [(String, String)] = [
        (#"{"message":"#, "}"), (#"{"message":{"token":"t","data":"#, "}}"),
        (#"{"message":{"topic":"t","notification":{},"apns":{"payload":"#, "}}}"),
        (#"{"message":{"webpush":{"data":{},"notification":"#, "}}}"),
        (#"{"message":{"android":{"data":"#, "}}}"), (#"{"validate_only":true,"message":"#, "}"),
        (#"{"data":"#, "}"), (#"{"aps":{},"data":"#, "}"), (#"{"aps":"#, "}"), (#"{"apns":{"payload":"#, "}}"),
        (#"{"device":{"id":"d","platform":"ios"},"payload":"#, "}"),
        (#"{"device":{"id":"d","platform":"android"},"action":"0","payloadType":"fcm","payload":"#, "}"),
        (#"{"device":{"id":"d"},"payloadType":"apns","payload":"#, "}"),
        (#"{"specversion":"1.0","id":"i","source":"s","type":"t","data":"#, "}"),
        (#"{"specversion":"1.0","id":"i","source":"s","type":"t","datacontenttype":"text/plain","data":"#, "}"),
        (#"{"web_push":8030,"notification":"#, "}"), (#"{"to":"ExponentPushToken[x]","data":"#, "}"),
        (#"{"messages":"#, "}"), (#"{"messages":{"apple_push":"#, "}}"), (#"{"events":["#, "]}"), ("[", "]"),
        (#"{"app_id":"a","contents":{},"include_subscription_ids":["d"],"custom_data":"#, "}"),
        (#"{"event":{"kind":"message.push.clicked","app_id":"a","subscription_id":"s"},"message":"#, "}"),
        (#"{"type":"track","event":"Deep Link Opened","messageId":"m","properties":"#, "}"),
        (#"{"name":"CLICK","last_attributed_touch_data":"#, "}"), (#"{"session_id":"1","data":"#, "}"),
        (#"{"custom":{"i":"1","a":"#, "}}"), (#"{"link":"#, "}"), (#"{"route":"item","params":"#, "}"),
        (#"{"itbl":"#, "}"), (#"{"com.urbanairship.actions":"#, "}"), (#"{"string":"#, "}"), (#"{"":"#, "}"),
    ]

    /// Puts a record into another envelope, as JSON, as a string, or in Base64, or joins two records.
    func wrap(_ bytes: inout [UInt8], with donor: [UInt8], _ random: inout RandomSource) {
        let (start, end) = random.pick(Self.envelopes)
        switch random.below(8) {
        case 0: bytes = Array(start.utf8) + Self.string(bytes) + Array(end.utf8)
        case 1:
            let head = #"{"specversion":"1.0","id":"i","source":"s","type":"t","data_base64":""#
            let type = random.one(in: 3) ? #"","datacontenttype":"text/plain"}"# : #""}"#
            var text = Array(Data(bytes).base64EncodedString().utf8)
            if random.one(in: 6), !text.isEmpty { text[random.below(text.count)] = UInt8(random.below(128)) }
            bytes = Array(head.utf8) + text + Array(type.utf8)
        case 2:
            // The members of both, so that vendors and envelopes collide.
            guard bytes.last == UInt8(ascii: "}"), donor.first == UInt8(ascii: "{"), bytes.count > 2 else { return }
            bytes = bytes.dropLast() + [UInt8(ascii: ",")] + donor.dropFirst()
        case 3: bytes = Array("[".utf8) + bytes + Array(",".utf8) + donor + Array("]".utf8)
        default: bytes = Array(start.utf8) + bytes + Array(end.utf8)
        }
    }

    /// Puts a value into another envelope, or replaces an envelope with one of its values.
    func wrapValue(_ bytes: inout [UInt8], _ random: inout RandomSource) {
        guard let range = value(JSONTokens(bytes), &random) else { return }
        if random.one(in: 4) {
            bytes = Array(bytes[range])
            return
        }
        let (start, end) = random.pick(Self.envelopes)
        bytes.replaceSubrange(range, with: Array(start.utf8) + bytes[range] + Array(end.utf8))
    }

    /// Messages that a list can have.
    private static let items = [
        #"{"to":"ExponentPushToken[a]","data":{"url":"shop:///p/new"}}"#,
        #"{"to":["ExponentPushToken[b]","ExponentPushToken[c]"],"title":"t","ttl":60,"priority":"high"}"#,
        #"{"specversion":"1.0","id":"i","source":"s","type":"t","data":{"link":"shop:///","device":{"id":"d"}}}"#,
        #"{"specversion":"1.0","id":"i","source":"s","type":"t","data_base64":"W3t9XQ=="}"#, "null", "[]", "{}",
    ]

    /// Changes the items of a list, or makes a record the item of one.
    func changeList(_ bytes: inout [UInt8], with donor: [UInt8], _ random: inout RandomSource) {
        let found = bytes.withUnsafeBufferPointer { RecordBatch(ByteView($0)) }?.items ?? []
        var items = found.isEmpty ? [bytes] : found.map { Array(bytes[$0]) }
        let position = random.below(items.count)
        switch found.isEmpty ? 6 : random.below(7) {
        case 0: items.remove(at: position)
        case 1: items.insert(items[position], at: random.below(items.count))
        case 2: items[position] = Array("[".utf8) + items[position] + Array("]".utf8)
        case 3: items.insert(donor, at: position)
        case 4:
            // A few more or fewer than a record can have.
            let count = random.pick([39, 40, 41, 99, 100, 101])
            if items[position].count < 300 { items += repeatElement(items[position], count: count) }
        case 5:
            let depth = random.pick([10, 11, 12, 60, 63, 64, 65, 600])
            items[position] = Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        default: items.insert(Array(random.pick(Self.items).utf8), at: random.below(items.count + 1))
        }
        bytes = Array("[".utf8) + Array(items.joined(separator: Array(",".utf8))) + Array("]".utf8)
    }

    // MARK: Kinds

    private static let deliveries = [
        "ttl", "expiration", "expires", "priority", "collapse_key", "collapseKey", "collapse_id", "web_push_topic",
        "apns-expiration", "apns-collapse-id", "apns-priority", "TTL", "Topic", "Urgency", "expiry", "headers",
    ]
    private static let edges = [
        "0", "-1", "1e309", "1E-400", "0.0005", "999999999999", "9999999999999", "253402300799", "253402300800",
        "9223372036854775807", "\"999999999999s\"", "\"3.5009s\"", "\"1.s\"", "\"-1s\"", "\"1e309\"", "\"10\"", "5",
        "\"very-low\"", "\"HIGH\"", "\"9999-12-31T23:59:59.999Z\"", "\"0001-01-01T00:00:00+23:59\"", "\"\"",
        "\"" + String(repeating: "c", count: 129) + "\"",
    ]

    /// Adds a value that delivery needs, at the edges of what is read.
    func addDelivery(_ bytes: inout [UInt8], _ random: inout RandomSource) {
        var value = random.pick(Self.edges)
        if random.one(in: 4) {
            value = #"{"headers":{"apns-expiration":\#(value),"TTL":\#(value)},"ttl":\#(value),"payload":{"aps":{}}}"#
        }
        let name = value.hasPrefix("{") ? random.pick(["apns", "webpush", "android"]) : random.pick(Self.deliveries)
        JSONTokens(bytes).insert(Array("\"\(name)\":\(value)".utf8), into: &bytes, atRoot: random.one(in: 2), &random)
    }

    private static func string(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var text = TextWriter()
        text.string(String(decoding: bytes, as: UTF8.self))
        return text.bytes
    }

    /// Replaces a value with a string that contains its text.
    func writeAsString(_ bytes: inout [UInt8], _ random: inout RandomSource) {
        guard let range = value(JSONTokens(bytes), &random), range.count < 4_000 else { return }
        bytes.replaceSubrange(range, with: Self.string(bytes[range]))
    }

    /// Replaces a string with the text that it contains.
    func readString(_ bytes: inout [UInt8], _ random: inout RandomSource) {
        let tokens = JSONTokens(bytes)
        let strings = tokens.indices(of: [.string]).map { tokens.tokens[$0].range }
        // Strings with escapes can contain JSON.
        let escaped = strings.filter { bytes[$0].contains(UInt8(ascii: "\\")) }
        guard let range = (random.one(in: 3) || escaped.isEmpty ? strings : escaped).randomElement(using: &random),
            let text = (try? JSONValue.parse(Array(bytes[range])))?.string
        else { return }
        bytes.replaceSubrange(range, with: Array(text.utf8))
    }

    /// Replaces a value with one of another kind.
    func changeKind(_ bytes: inout [UInt8], _ random: inout RandomSource) {
        guard let range = value(JSONTokens(bytes), &random) else { return }
        let text = Array(bytes[range])
        let other: [UInt8] =
            switch random.below(10) {
            case 0: Array("null".utf8)
            case 1: Array(random.pick(["true", "false"]).utf8)
            case 2: Array(random.pick(["0", "1", "-1", "8030", "1.5", "1e3", "123456789012345678901"]).utf8)
            case 3: Array(random.pick([#""""#, #""0""#, #""true""#, #""null""#, #"" ""#, #""{}""#, #""[1]""#]).utf8)
            case 4: Array("[".utf8) + text + Array("]".utf8)
            case 5: Array(#"{"string":"#.utf8) + text + Array("}".utf8)
            case 6: Array(#"{"url":"#.utf8) + text + Array("}".utf8)
            case 7: Array(random.pick(["{}", "[]", "[null]", "[[]]", #"{"":""}"#, #"[{},{}]"#]).utf8)
            case 8: Self.string(random.pick(words.links, else: "a:b").utf8)
            default: Self.string(random.pick(words.values, else: "v").utf8)
            }
        bytes.replaceSubrange(range, with: other)
    }

    // MARK: Sizes

    private static let platforms = ["ios", "android", "web", "tvos", "x", "iOS", ""]

    /// Adds a list of devices.
    func addDevices(_ bytes: inout [UInt8], _ random: inout RandomSource) {
        let count = random.pick([0, 1, 2, 2, 3, 4, 4, 5, 8, random.one(in: 30) ? 500 : 9, random.one(in: 30) ? 501 : 4])
        let devices = (0..<count).map { index in
            #"{"id":"d\#(index)","platform":"\#(random.pick(Self.platforms))"}"#
        }
        JSONTokens(bytes).insert(
            Array("\"devices\":[\(devices.joined(separator: ","))]".utf8), into: &bytes, atRoot: true, &random)
    }

    /// Inserts a value that is large, deep, or has many members.
    func inflate(_ bytes: inout [UInt8], _ random: inout RandomSource) {
        let count: Int =
            switch random.below(40) {
            case 0...9: random.below(300)
            case 10...35: random.pick([63, 64, 65, 255, 256, 257, 500, 512, 1_000, 4_096])
            case 36...38: 16_370 + random.below(30)
            default: random.pick([32_768, 60_000, 100_000])
            }
        var text = TextWriter()
        write(count, into: &text, &random)
        if random.one(in: 2), let range = value(JSONTokens(bytes), &random) {
            bytes.replaceSubrange(range, with: text.bytes)
        } else {
            var member = TextWriter()
            member.string(name(0, &random))
            member.raw(":")
            JSONTokens(bytes).insert(member.bytes + text.bytes, into: &bytes, atRoot: random.one(in: 2), &random)
        }
    }

    private func name(_ index: Int, _ random: inout RandomSource) -> String {
        random.one(in: 2) ? random.pick(words.names, else: "a") : "\(random.pick(words.names, else: "a"))\(index)"
    }

    private func write(_ count: Int, into text: inout TextWriter, _ random: inout RandomSource) {
        let word = random.pick(words.names, else: "a")
        switch random.below(10) {
        case 0: text.raw("[" + Self.list(count) { "\($0)" } + "]")
        case 1: text.raw("[" + Self.list(count) { _ in "{\"id\":\"b\",\"url\":\"s:a\",\"action\":{}}" } + "]")
        case 2: text.raw("{" + Self.list(count) { "\"n\($0)\":0" } + "}")
        case 3:
            text.raw("{")
            for index in 0..<count {
                if index > 0 { text.raw(",") }
                text.string("\(word)\(index)")
                text.raw(":\"{}\"")
            }
            text.raw("}")
        case 4:
            let depth = min(count, 600)
            text.raw(String(repeating: "[", count: depth) + String(repeating: "]", count: depth))
        case 5:
            let depth = min(count, 600)
            text.raw(String(repeating: "{\"a\":", count: depth) + "0" + String(repeating: "}", count: depth))
        case 6:
            text.string(
                "https://shop.example/p/"
                    + String(repeating: random.pick(["%41", "a", "/", "?a=b&", "é"]), count: count))
        case 7: text.raw("\"s:" + String(repeating: random.pick(["\\u0041", "\\/", "\\\""]), count: count) + "\"")
        case 8: text.raw("{\"" + String(repeating: random.pick(["a", "\\u0061", "~"]), count: count) + "\":\"s:a\"}")
        default:
            var inner = Array(#"{"url":"s://a","x":[\#(Self.list(min(count, 9_000)) { "\($0)" })]}"#.utf8)
            for _ in 0..<(1 + random.below(count < 300 ? 7 : 2)) { inner = Self.string(inner) }
            text.bytes += inner
        }
    }

    private static func list(_ count: Int, _ element: (Int) -> String) -> String {
        (0..<count).map(element).joined(separator: ",")
    }
}
