/// A mutation of JSON text that mostly keeps it valid: repeated members, other values, other spellings, and groups.
package struct JSONMutation {
    private let words: Vocabulary
    private let links: LinkMaker
    /// A Boolean value that indicates whether the mutation can create groups of a recipe.
    private let hasGroups: Bool

    /// Creates a mutation with the words of a table.
    package init(_ words: Vocabulary, hasGroups: Bool) {
        self.words = words
        links = LinkMaker(words)
        self.hasGroups = hasGroups
    }

    /// Changes a text in one place.
    package func change(_ bytes: inout [UInt8], _ dice: inout Dice) {
        let tokens = JSONTokens(bytes)
        let values = tokens.indices(of: [.string, .scalar, .open])
        let names = tokens.indices(of: [.name])
        guard let value = values.isEmpty ? nil : dice.pick(values) else { return }
        switch dice.below(hasGroups ? 13 : 10) {
        case 0: replace(&bytes, tokens.value(at: value)) { $0.anything(&dice) }
        case 1: replace(&bytes, tokens.value(at: value)) { $0.string(word(&dice)) }
        case 2: respell(&bytes, tokens, &dice)
        case 3: addMember(&bytes, tokens, &dice)
        case 4: if let name = names.randomElement(using: &dice) { copyMember(&bytes, tokens, name, &dice) }
        case 5: if let name = names.randomElement(using: &dice) { removeMember(&bytes, tokens, name) }
        case 6: if let name = names.randomElement(using: &dice) { rename(&bytes, tokens, name, &dice) }
        case 7: swap(&bytes, tokens.value(at: value), tokens.value(at: dice.pick(values)))
        case 8: copyElement(&bytes, tokens.value(at: value), &dice)
        case 9:
            if !bytes.isEmpty { bytes.insert(dice.pick([0x20, 0x0D, 0x09]), at: tokens.value(at: value).lowerBound) }
        case 10, 11: group(&bytes, tokens, value, names, &dice)
        default: scale(&bytes, &dice)
        }
    }

    /// Returns a text that a table or an event can contain.
    private func word(_ dice: inout Dice) -> String {
        switch dice.below(8) {
        case 0: links.link(&dice)
        case 1: dice.pick(words.patterns, else: "/a")
        case 2: dice.pick(words.names, else: "id")
        case 3: dice.pick(words.routes, else: "item")
        case 4: dice.pick(words.paths, else: "/a")
        case 5: dice.pick(words.hosts + words.schemes, else: "a")
        case 6: links.text(&dice)
        default: dice.pick(words.values + words.applications, else: "v")
        }
    }

    private func name(_ dice: inout Dice) -> String {
        switch dice.below(4) {
        case 0:
            dice.pick([
                "link", "payload", "devices", "device", "aps", "data", "message", "route", "params", "path", "mode",
                "id",
                "attributes", "capabilities", "claims", "application", "expires", "fcm_options", "webpush", "apns",
                "android",
            ])
        case 1: dice.pick(words.names + words.attributes, else: "q")
        case 2: "u#_\(dice.below(9))"
        default: String(dice.pick(words.pointers, else: "/a").split(separator: "/").last ?? "a")
        }
    }

    private func replace(_ bytes: inout [UInt8], _ range: Range<Int>, _ write: (inout TextMaker) -> Void) {
        var text = TextMaker()
        write(&text)
        bytes.replaceSubrange(range, with: text.bytes)
    }

    /// Writes a string with other escapes.
    private func respell(_ bytes: inout [UInt8], _ tokens: JSONTokens, _ dice: inout Dice) {
        guard let index = tokens.indices(of: [.string, .name]).randomElement(using: &dice) else { return }
        let range = tokens.tokens[index].range
        guard range.count >= 2 else { return }
        let inner = bytes[(range.lowerBound + 1)..<(range.upperBound - 1)]
        // A text with escapes would have them escaped again, which is another text.
        guard !inner.contains(UInt8(ascii: "\\")), let text = String(validating: inner, as: UTF8.self) else { return }
        replace(&bytes, range) { $0.escaped(text, &dice) }
    }

    private func addMember(_ bytes: inout [UInt8], _ tokens: JSONTokens, _ dice: inout Dice) {
        let objects = tokens.indices(of: [.open]).filter {
            bytes[tokens.tokens[$0].range.lowerBound] == UInt8(ascii: "{")
        }
        guard let object = objects.randomElement(using: &dice) else { return }
        var text = TextMaker()
        text.string(name(&dice))
        text.raw(":")
        if dice.one(in: 2) { text.anything(&dice) } else { text.string(word(&dice)) }
        let isEmpty = object + 1 < tokens.tokens.count && tokens.tokens[object + 1].kind == .close
        if !isEmpty { text.raw(",") }
        bytes.insert(contentsOf: text.bytes, at: tokens.tokens[object].range.upperBound)
    }

    /// Repeats a member after itself or at the end of the last object.
    private func copyMember(_ bytes: inout [UInt8], _ tokens: JSONTokens, _ name: Int, _ dice: inout Dice) {
        guard let range = tokens.member(at: name) else { return }
        let copy = [UInt8(ascii: ",")] + bytes[range]
        let end = bytes.lastIndex(of: UInt8(ascii: "}")) ?? bytes.count
        bytes.insert(contentsOf: copy, at: dice.one(in: 2) ? range.upperBound : max(end, range.upperBound))
    }

    private func removeMember(_ bytes: inout [UInt8], _ tokens: JSONTokens, _ name: Int) {
        guard var range = tokens.member(at: name) else { return }
        if range.upperBound < bytes.count, bytes[range.upperBound] == UInt8(ascii: ",") {
            range = range.lowerBound..<range.upperBound + 1
        }
        bytes.removeSubrange(range)
    }

    private func rename(_ bytes: inout [UInt8], _ tokens: JSONTokens, _ index: Int, _ dice: inout Dice) {
        replace(&bytes, tokens.tokens[index].range) { $0.string(name(&dice)) }
    }

    private func swap(_ bytes: inout [UInt8], _ a: Range<Int>, _ b: Range<Int>) {
        let (first, second) = a.lowerBound <= b.lowerBound ? (a, b) : (b, a)
        guard first.upperBound <= second.lowerBound else { return }
        let copies = (Array(bytes[first]), Array(bytes[second]))
        bytes.replaceSubrange(second, with: copies.0)
        bytes.replaceSubrange(first, with: copies.1)
    }

    /// Repeats a value after itself, which is valid in an array and damage elsewhere.
    private func copyElement(_ bytes: inout [UInt8], _ range: Range<Int>, _ dice: inout Dice) {
        guard range.count < 600 else { return }
        let copy = [UInt8(ascii: ",")] + bytes[range]
        for _ in 0...dice.below(4) { bytes.insert(contentsOf: copy, at: range.upperBound) }
    }

    /// Turns a value of an array, a member, or a part of a string into a group.
    private func group(
        _ bytes: inout [UInt8], _ tokens: JSONTokens, _ value: Int, _ names: [Int], _ dice: inout Dice
    ) {
        let count = dice.pick([3, 17, 256, 500, 501, 2_000, 20_000, 100_000])
        var range = tokens.value(at: value)
        var comma = ","
        if dice.one(in: 2), let name = names.randomElement(using: &dice), let member = tokens.member(at: name) {
            range = member
        } else if tokens.tokens[value].kind == .string, range.count > 3, dice.one(in: 2) {
            let first = range.lowerBound + 1 + dice.below(range.count - 2)
            range = first..<min(range.upperBound - 1, first + 1 + dice.below(12))
            comma = ""
        }
        bytes.insert(contentsOf: Array(">>".utf8), at: range.upperBound)
        bytes.insert(contentsOf: Array("<<\(count)\(comma):".utf8), at: range.lowerBound)
    }

    /// Changes the number of repetitions of a group.
    private func scale(_ bytes: inout [UInt8], _ dice: inout Dice) {
        let starts = bytes.indices.dropLast(3).filter {
            bytes[$0] == UInt8(ascii: "<") && bytes[$0 + 1] == UInt8(ascii: "<") && bytes[$0 + 2] &- 0x30 < 10
        }
        guard let start = starts.randomElement(using: &dice) else { return }
        var end = start + 2
        while end < bytes.count, bytes[end] &- 0x30 < 10 { end += 1 }
        let count = Int(String(decoding: bytes[(start + 2)..<end], as: UTF8.self)) ?? 1
        let other = dice.pick([count * 2, count / 2, count + 1, count * 10, max(count - 1, 0)])
        bytes.replaceSubrange((start + 2)..<end, with: Array(String(min(other, 900_000)).utf8))
    }
}
