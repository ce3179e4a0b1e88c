/// A mutation of JSON text that mostly keeps it valid: repeated members, other values, other spellings, and groups.
package struct JSONMutation {
    private let words: Vocabulary
    private let links: LinkGenerator
    /// A Boolean value that indicates whether the mutation can create groups of a recipe.
    private let hasGroups: Bool

    /// Creates a mutation with the words of a table.
    package init(_ words: Vocabulary, hasGroups: Bool) {
        self.words = words
        links = LinkGenerator(words)
        self.hasGroups = hasGroups
    }

    /// Changes a text at one position.
    package func change(_ bytes: inout [UInt8], _ random: inout RandomSource) {
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
        let objects = tokens.indices(of: [.open]).filter {
            bytes[tokens.tokens[$0].range.lowerBound] == UInt8(ascii: "{")
        }
        guard let object = objects.randomElement(using: &random) else { return }
        var text = TextWriter()
        text.string(name(&random))
        text.raw(":")
        if random.one(in: 2) { text.anything(&random) } else { text.string(word(&random)) }
        let isEmpty = object + 1 < tokens.tokens.count && tokens.tokens[object + 1].kind == .close
        if !isEmpty { text.raw(",") }
        bytes.insert(contentsOf: text.bytes, at: tokens.tokens[object].range.upperBound)
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
