import Foundation
import StrictJSON
import Testing

/// A comparison of the strict reader with two others, over the corpus and 40,000 mutated texts.
@Suite("Other readers agree, except for rules of strictness")
struct OracleTests {
    static let texts: [[UInt8]] =
        Corpus.items.map(\.bytes) + Corpus.items.flatMap { ReaderTests.wrapped($0.bytes).dropFirst() } + Mutations.texts

    @Test(
        "Python's json module accepts the same texts with the same values",
        .enabled(if: PythonReader.path != nil, "no python3 in PATH: this reader is not compared with it"))
    func python() throws {
        let answers = try #require(try PythonReader.read(Self.texts))
        #expect(answers.count == Self.texts.count)
        var accepted = 0
        for (text, answer) in zip(Self.texts, answers) {
            switch tree(text, depth: 512) {
            case .success(let value):
                accepted += 1
                #expect(answer == PythonReader.Answer(verdict: "ok", rendered: value.rendered), "\(shown(text))")
            case .failure(let error):
                #expect(answer.verdict != "ok", "\(error.code) at \(error.offset): \(shown(text))")
                if answer.verdict == "lone" { #expect(Self.mayFollowLone.contains(error.code), "\(shown(text))") }
            }
        }
        #expect(accepted > 5000 && accepted < Self.texts.count - 5000, "seed \(Mutations.seed)")
    }

    /// The errors that are allowed in a text whose only defect for Python is a lone surrogate.
    static let mayFollowLone: Set<JSONError.Code> = [.loneSurrogate]

    @Test("Foundation's JSONSerialization accepts the same texts with the same values, except for the stated rules")
    func foundation() throws {
        var accepted = 0
        var rules: [String: Int] = [:]
        for text in Self.texts where !Self.looksLikeUTF16(text) {
            let other = try? JSONSerialization.jsonObject(with: Data(text), options: [.fragmentsAllowed])
            switch tree(text, depth: 512) {
            case .success(let value):
                if let other {
                    accepted += 1
                    #expect(Self.plain(other) == Self.plain(value), "\(shown(text))")
                } else {
                    #expect(value.hasNumberOutOfRange, "\(shown(text))")
                    rules["number out of range", default: 0] += 1
                }
            case .failure(let error):
                guard other != nil else { continue }
                let rule = Self.laxRule(text, error)
                #expect(rule != nil, "\(error.code) at \(error.offset): \(shown(text))")
                rules[rule ?? "none", default: 0] += 1
            }
        }
        #expect(accepted > 4000)
        #expect(
            Set(rules.keys) == [
                "number out of range", "name twice", "trailing comma", "byte order mark",
            ], "\(rules)")
    }

    /// Returns the rule by which Foundation accepts a text that this reader refuses, or nil.
    private static func laxRule(_ text: [UInt8], _ error: JSONError) -> String? {
        if text.starts(with: [0xEF, 0xBB, 0xBF]) { return "byte order mark" }
        if error.code == .duplicateName { return "name twice" }
        let before = text.prefix(error.offset).last { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        if before == UInt8(ascii: ","), error.offset < text.count {
            let next = text[error.offset]
            if next == UInt8(ascii: "]") || next == UInt8(ascii: "}") { return "trailing comma" }
        }
        return nil
    }

    /// Returns a Boolean value that indicates whether Foundation reads the text as UTF-16 or UTF-32.
    ///
    /// The cause is a zero in its first four bytes (RFC 4627, section 3) or a byte order mark.
    private static func looksLikeUTF16(_ text: [UInt8]) -> Bool {
        text.prefix(4).contains(0) || text.starts(with: [0xFE, 0xFF]) || text.starts(with: [0xFF, 0xFE])
    }

    /// Returns the value in a form in which values of both readers can be compared.
    ///
    /// Names are sorted. Of names that Swift treats as equal, the last one counts. Numbers have twelve digits and no
    /// negative zero, because Foundation rounds differently. U+FEFF is removed, because Foundation drops it at the
    /// start of a string.
    private static func plain(_ value: Any) -> String {
        switch value {
        case let text as String:
            "\""
                + text.unicodeScalars.filter { $0 != "\u{FEFF}" }.map { String($0.value, radix: 16) }.joined(
                    separator: " ")
        case let array as [Any]: "[" + array.map(plain).joined(separator: ",") + "]"
        case let object as [String: Any]: objectText(object.mapValues(plain))
        case is NSNull: "n"
        case let number as NSNumber: plain(number.doubleValue)
        default: "?"
        }
    }

    private static func plain(_ value: JSONValue) -> String {
        switch value.kind {
        case .null: "n"
        case .bool(let value): plain(value ? 1.0 : 0.0)
        case .number(let text): plain(Double(text) ?? .nan)
        case .string(let text): plain(text as Any)
        case .array(let elements): "[" + elements.map(plain).joined(separator: ",") + "]"
        case .object(let members):
            objectText(Dictionary(members.map { ($0.name, plain($0.value)) }, uniquingKeysWith: { $1 }))
        }
    }

    private static func plain(_ number: Double) -> String { "#" + String(format: "%.12g", number + 0) }

    private static func objectText(_ members: [String: String]) -> String {
        let sorted = members.map { ($0.key.precomposedStringWithCanonicalMapping, $0.value) }
            .sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }
        return "{" + sorted.map { "\(plain($0.0 as Any)):\($0.1)" }.joined(separator: ",") + "}"
    }

    private func shown(_ text: [UInt8]) -> String { String(decoding: text.prefix(300), as: UTF8.self).debugDescription }
}

extension JSONValue {
    /// A Boolean value that indicates whether a number is outside the range of a double.
    fileprivate var hasNumberOutOfRange: Bool {
        switch kind {
        case .number(let text):
            !(Double(text)?.isFinite ?? false) || Double(text) == 0 && text.contains { "123456789".contains($0) }
        case .array(let elements): elements.contains(where: \.hasNumberOutOfRange)
        case .object(let members): members.contains { $0.value.hasNumberOutOfRange }
        default: false
        }
    }
}
