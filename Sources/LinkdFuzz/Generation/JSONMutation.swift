/// A mutation of JSON text that mostly keeps it valid: repeated members, other values, other spellings, and groups.
struct JSONMutation {
    private let words: Vocabulary
    private let links: LinkGenerator
    /// A Boolean value that indicates whether the mutation can create groups of a recipe.
    private let hasGroups: Bool

    /// Creates a mutation with the words of a table.
    init(_ words: Vocabulary, hasGroups: Bool) {
        self.words = words
        links = LinkGenerator(words)
        self.hasGroups = hasGroups
    }

    /// Changes a text at one position.
    func change(_ bytes: inout [UInt8], _ random: inout RandomSource) {
        let tokens = JSONTokens(bytes)
        let values = tokens.indices(of: [.string, .scalar, .open])
        let names = tokens.indices(of: [.name])
        guard let value = values.isEmpty ? nil : random.pick(values) else { return }
        switch random.below(hasGroups ? 13 : 10) {
        case 0: replace(&bytes, tokens.value(at: value)) { $0.anything(&random) }
        case 1: replace(&bytes, tokens.value(at: value)) { $0.string(word(&random)) }
        case 2: respell(&bytes, tokens, &random)
        case 3: addMember(&bytes, tokens, &random)
        case 4: if let name = names.randomElement(using: &random) { copyMember(&bytes, tokens, name, &random) }
        case 5: if let name = names.randomElement(using: &random) { removeMember(&bytes, tokens, name) }
        case 6: if let name = names.randomElement(using: &random) { rename(&bytes, tokens, name, &random) }
        case 7: swap(&bytes, tokens.value(at: value), tokens.value(at: random.pick(values)))
        case 8: copyElement(&bytes, tokens.value(at: value), &random)
        case 9:
            if !bytes.isEmpty { bytes.insert(random.pick([0x20, 0x0D, 0x09]), at: tokens.value(at: value).lowerBound) }
        case 10, 11: group(&bytes, tokens, value, names, &random)
        default: scale(&bytes, &random)
        }
    }

    /// Returns a text that a table or an event can contain.
    private func word(_ random: inout RandomSource) -> String {
        switch random.below(8) {
        case 0: links.link(&random)
        case 1: random.pick(words.patterns, else: "/a")
        case 2: random.pick(words.names, else: "id")
        case 3: random.pick(words.routes, else: "item")
        case 4: random.pick(words.paths, else: "/a")
        case 5: random.pick(words.hosts + words.schemes, else: "a")
        case 6: links.text(&random)
        default: random.pick(words.values + words.applications, else: "v")
        }
    }

    private func name(_ random: inout RandomSource) -> String {
        switch random.below(4) {
        case 0:
            random.pick([
                "link", "payload", "devices", "device", "aps", "data", "message", "route", "params", "path", "mode",
                "id",
                "attributes", "capabilities", "claims", "application", "expires", "fcm_options", "webpush", "apns",
                "android",
            ])
        case 1: random.pick(words.names + words.attributes, else: "q")
        case 2: "u#_\(random.below(9))"
        default: String(random.pick(words.pointers, else: "/a").split(separator: "/").last ?? "a")
        }
    }

    private func replace(_ bytes: inout [UInt8], _ range: Range<Int>, _ write: (inout TextWriter) -> Void) {
        var text = TextWriter()
        write(&text)
        bytes.replaceSubrange(range, with: text.bytes)
    }

    /// Writes a string with other escapes.
    private func respell(_ bytes: inout [UInt8], _ tokens: JSONTokens, _ random: inout RandomSource) {
        guard let index = tokens.indices(of: [.string, .name]).randomElement(using: &random) else { return }
        let range = tokens.tokens[index].range
        guard range.count >= 2 else { return }
        let inner = bytes[(range.lowerBound + 1)..<(range.upperBound - 1)]
        // The escapes of the text would be escaped again, which would change the text.
        guard !inner.contains(UInt8(ascii: "\\")), let text = String(validating: inner, as: UTF8.self) else { return }
        replace(&bytes, range) { $0.escaped(text, &random) }
    }

    private func addMember(_ bytes: inout [UInt8], _ tokens: JSONTokens, _ random: inout RandomSource) {
        var text = TextWriter()
        text.string(name(&random))
        text.raw(":")
        if random.one(in: 2) { text.anything(&random) } else { text.string(word(&random)) }
        tokens.insert(text.bytes, into: &bytes, &random)
    }

    /// Repeats a member after itself or at the end of the last object.
    private func copyMember(_ bytes: inout [UInt8], _ tokens: JSONTokens, _ name: Int, _ random: inout RandomSource) {
        guard let range = tokens.member(at: name) else { return }
        let copy = [UInt8(ascii: ",")] + bytes[range]
        let end = bytes.lastIndex(of: UInt8(ascii: "}")) ?? bytes.count
        bytes.insert(contentsOf: copy, at: random.one(in: 2) ? range.upperBound : max(end, range.upperBound))
    }

    private func removeMember(_ bytes: inout [UInt8], _ tokens: JSONTokens, _ name: Int) {
        guard var range = tokens.member(at: name) else { return }
        if range.upperBound < bytes.count, bytes[range.upperBound] == UInt8(ascii: ",") {
            range = range.lowerBound..<range.upperBound + 1
        }
        bytes.removeSubrange(range)
    }

    private func rename(_ bytes: inout [UInt8], _ tokens: JSONTokens, _ index: Int, _ random: inout RandomSource) {
        replace(&bytes, tokens.tokens[index].range) { $0.string(name(&random)) }
    }

    private func swap(_ bytes: inout [UInt8], _ a: Range<Int>, _ b: Range<Int>) {
        let (first, second) = a.lowerBound <= b.lowerBound ? (a, b) : (b, a)
        guard first.upperBound <= second.lowerBound else { return }
        let copies = (Array(bytes[first]), Array(bytes[second]))
        bytes.replaceSubrange(second, with: copies.0)
        bytes.replaceSubrange(first, with: copies.1)
    }

    /// Repeats a value after itself, which is valid in an array and damage elsewhere.
    private func copyElement(_ bytes: inout [UInt8], _ range: Range<Int>, _ random: inout RandomSource) {
        guard range.count < 600 else { return }
        let copy = [UInt8(ascii: ",")] + bytes[range]
        for _ in 0...random.below(4) { bytes.insert(contentsOf: copy, at: range.upperBound) }
    }

    /// Turns a value of an array, a member, or a part of a string into a group.
    private func group(
        _ bytes: inout [UInt8], _ tokens: JSONTokens, _ value: Int, _ names: [Int], _ random: inout RandomSource
    ) {
        let count = random.pick([3, 17, 256, 500, 501, 2_000, 20_000, 100_000])
        var range = tokens.value(at: value)
        var comma = ","
        if random.one(in: 2), let name = names.randomElement(using: &random), let member = tokens.member(at: name) {
            range = member
        } else if tokens.tokens[value].kind == .string, range.count > 3, random.one(in: 2) {
            let first = range.lowerBound + 1 + random.below(range.count - 2)
            range = first..<min(range.upperBound - 1, first + 1 + random.below(12))
            comma = ""
        }
        bytes.insert(contentsOf: Array(">>".utf8), at: range.upperBound)
        bytes.insert(contentsOf: Array("<<\(count)\(comma):".utf8), at: range.lowerBound)
    }

    /// Changes the number of repetitions of a group.
    private func scale(_ bytes: inout [UInt8], _ random: inout RandomSource) {
        let starts = bytes.indices.dropLast(3).filter {
            bytes[$0] == UInt8(ascii: "<") && bytes[$0 + 1] == UInt8(ascii: "<") && bytes[$0 + 2] &- 0x30 < 10
        }
        guard let start = starts.randomElement(using: &random) else { return }
        var end = start + 2
        while end < bytes.count, bytes[end] &- 0x30 < 10 { end += 1 }
        let count = Int(String(decoding: bytes[(start + 2)..<end], as: UTF8.self)) ?? 1
        let other = random.pick([count * 2, count / 2, count + 1, count * 10, max(count - 1, 0)])
        bytes.replaceSubrange((start + 2)..<end, with: Array(String(min(other, 900_000)).utf8))
    }
}

/// The tokens of a JSON text.
///
/// The text is not validated, so damaged text has tokens too.
struct JSONTokens {
    /// The kind of a token.
    enum Kind { case name, string, scalar, open, close, separator }

    /// A token with its range.
    struct Token {
        var kind: Kind
        var range: Range<Int>
    }

    private(set) var tokens: [Token] = []

    init(_ bytes: [UInt8]) {
        var at = 0
        while at < bytes.count {
            let start = at
            switch bytes[at] {
            case 0x20, 0x09, 0x0A, 0x0D:
                at += 1
                continue
            case UInt8(ascii: "\""):
                at = Self.stringEnd(bytes, at)
                tokens.append(Token(kind: .string, range: start..<at))
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): tokens.append(Token(kind: .open, range: at..<at + 1))
            case UInt8(ascii: "}"), UInt8(ascii: "]"): tokens.append(Token(kind: .close, range: at..<at + 1))
            case UInt8(ascii: ":"):
                if let last = tokens.indices.last, tokens[last].kind == .string { tokens[last].kind = .name }
                tokens.append(Token(kind: .separator, range: at..<at + 1))
            case UInt8(ascii: ","): tokens.append(Token(kind: .separator, range: at..<at + 1))
            default:
                while at < bytes.count, !Self.ends(bytes[at]) { at += 1 }
                tokens.append(Token(kind: .scalar, range: start..<max(at, start + 1)))
                at = max(at, start + 1)
                continue
            }
            at += 1
        }
    }

    private static func ends(_ byte: UInt8) -> Bool {
        [0x20, 0x0A, 0x0D, 0x09, 0x2C, 0x3A, 0x7D, 0x5D, 0x7B, 0x5B, 0x22].contains(byte)
    }

    private static func stringEnd(_ bytes: [UInt8], _ start: Int) -> Int {
        var at = start + 1
        while at < bytes.count, bytes[at] != UInt8(ascii: "\"") { at += bytes[at] == UInt8(ascii: "\\") ? 2 : 1 }
        return min(at + 1, bytes.count)
    }

    /// Returns the indices of the tokens of certain kinds.
    func indices(of kinds: Set<Kind>) -> [Int] { tokens.indices.filter { kinds.contains(tokens[$0].kind) } }

    /// Returns the range of the value that begins at a token.
    ///
    /// The range ends with the text if the value is not closed.
    func value(at index: Int) -> Range<Int> {
        guard tokens[index].kind == .open else { return tokens[index].range }
        var depth = 0
        for token in tokens[index...] {
            if token.kind == .open { depth += 1 }
            if token.kind == .close { depth -= 1 }
            if depth == 0 { return tokens[index].range.lowerBound..<token.range.upperBound }
        }
        return tokens[index].range.lowerBound..<(tokens.last?.range.upperBound ?? 0)
    }

    /// Inserts a member into an object: the first one, or any.
    func insert(_ member: [UInt8], into bytes: inout [UInt8], atRoot: Bool = false, _ random: inout RandomSource) {
        let objects = indices(of: [.open]).filter { bytes[tokens[$0].range.lowerBound] == UInt8(ascii: "{") }
        guard let object = atRoot ? objects.first : objects.randomElement(using: &random) else { return }
        let isEmpty = object + 1 < tokens.count && tokens[object + 1].kind == .close
        bytes.insert(contentsOf: member + (isEmpty ? [] : [UInt8(ascii: ",")]), at: tokens[object].range.upperBound)
    }

    /// Returns the range of the member whose name is at a token, or nil if no value follows.
    func member(at name: Int) -> Range<Int>? {
        guard name + 2 < tokens.count else { return nil }
        return tokens[name].range.lowerBound..<value(at: name + 2).upperBound
    }
}

/// A writer of JSON text in many forms: the same string with various escapes, and values of every kind.
struct TextWriter {
    /// The white space of one producer.
    struct Style: Sendable {
        var afterComma = ""
        var afterColon = ""
        var inside = ""

        /// Returns a common style or an unusual one.
        static func any(_ random: inout RandomSource) -> Style {
            switch random.below(6) {
            case 0: Style(afterComma: " ", afterColon: " ")
            case 1: Style(afterComma: "\r", afterColon: " ", inside: " ")
            case 2: Style(afterComma: String(repeating: " ", count: random.below(40)), afterColon: "  ")
            default: Style()
            }
        }
    }

    /// The text written so far.
    var bytes: [UInt8] = []

    /// Creates an empty text.
    init() {}

    /// Appends a text without changes.
    mutating func raw(_ text: String) { bytes += Array(text.utf8) }

    /// Appends a string with only the required escapes.
    mutating func string(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 { add(byte) }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func add(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
        case 0..<0x20: raw("\\u00" + (byte < 16 ? "0" : "1") + String(byte % 16, radix: 16))
        default: bytes.append(byte)
        }
    }

    /// Appends a string with additional escapes.
    mutating func escaped(_ text: String, _ random: inout RandomSource) {
        let often = 1 + random.below(8)
        bytes.append(UInt8(ascii: "\""))
        for scalar in text.unicodeScalars {
            if scalar == "/", random.one(in: 2) {
                raw("\\/")
            } else if random.one(in: often) {
                for unit in String(Character(scalar)).utf16 {
                    let digits = String(unit, radix: 16, uppercase: random.one(in: 2))
                    raw("\\u" + String(repeating: "0", count: 4 - digits.count) + digits)
                }
            } else {
                for byte in String(Character(scalar)).utf8 { add(byte) }
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Appends a value of any kind, including nested objects and arrays.
    mutating func anything(_ random: inout RandomSource, depth: Int = 3) {
        switch random.below(depth > 0 ? 12 : 8) {
        case 0: raw("null")
        case 1: raw(random.pick(["true", "false"]))
        case 2: raw(random.pick(["0", "-1", "12", "5.0", "1e9", "-0", "99999999999999999999", "0.10", "1E-400"]))
        case 3: escaped(random.pick(["a", "é", "e\u{301}", "\u{1F600}", "a/b", "\u{0}"]), &random)
        case 4: string(String(repeating: "x", count: random.below(300)))
        case 5, 6, 7: string(random.pick(["", "a", "ios", "6.1.0", "кот", "e\u{301}", "shop:///", "a\\b\"c"]))
        case 8, 9:
            raw("{")
            for index in 0..<random.below(6) {
                raw(index > 0 ? ",\"" : "\"")
                raw(random.pick(["a", "b", "link", "aps", "x\(index)", "\\u0061", "m\(random.below(99))"]) + "\":")
                anything(&random, depth: depth - 1)
            }
            raw("}")
        default:
            raw("[")
            for index in 0..<random.below(6) {
                if index > 0 { raw(",") }
                anything(&random, depth: depth - 1)
            }
            raw("]")
        }
    }
}
