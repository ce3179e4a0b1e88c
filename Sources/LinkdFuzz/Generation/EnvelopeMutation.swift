internal import Foundation
internal import StrictJSON

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
        insert(Array(donor[member]), into: &bytes, atRoot: random.one(in: 3), &random)
    }

    /// Inserts a member into an object.
    private func insert(
        _ member: [UInt8], into bytes: inout [UInt8], atRoot: Bool = false, _ random: inout RandomSource
    ) {
        let tokens = JSONTokens(bytes)
        let objects = tokens.indices(of: [.open]).filter {
            bytes[tokens.tokens[$0].range.lowerBound] == UInt8(ascii: "{")
        }
        guard let object = atRoot ? objects.first : objects.randomElement(using: &random) else { return }
        let isEmpty = object + 1 < tokens.tokens.count && tokens.tokens[object + 1].kind == .close
        bytes.insert(
            contentsOf: member + (isEmpty ? [] : [UInt8(ascii: ",")]), at: tokens.tokens[object].range.upperBound)
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

    // MARK: Kinds

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
        insert(Array("\"devices\":[\(devices.joined(separator: ","))]".utf8), into: &bytes, atRoot: true, &random)
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
            insert(member.bytes + text.bytes, into: &bytes, atRoot: random.one(in: 2), &random)
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
