@_spi(_Unicode) import Swift
import LinkCoordinator
import ByteStorage
import TestSupport
import Testing

@Suite("NFC equals that of the standard library, in linear time")
struct ComposerTests {
    private static func composed(_ scalars: [UInt32], _ composer: inout Composer) -> [UInt8] {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars.compactMap { Unicode.Scalar($0) })
        var arena = OutputArena(chunkBytes: 4096)
        arena.begin()
        Array(String(text).utf8).withUnsafeBufferPointer { composer.append(ByteView($0), to: &arena) }
        return arena.finish().array
    }

    /// Returns the text in the NFC of the standard library.
    ///
    /// Marks that decompose into marks are passed decomposed, because the library does not order those (Swift 6.3).
    private static func library(_ scalars: [UInt32]) -> [UInt8] {
        let double: [UInt32: [UInt32]] = [
            0x344: [0x308, 0x301], 0xF73: [0xF71, 0xF72], 0xF75: [0xF71, 0xF74], 0xF81: [0xF71, 0xF80],
        ]
        var text = String.UnicodeScalarView()
        for scalar in scalars {
            text.append(contentsOf: (double[scalar] ?? [scalar]).compactMap { Unicode.Scalar($0) })
        }
        var composed = String.UnicodeScalarView()
        composed.append(contentsOf: String(text)._nfc)
        return Array(String(composed).utf8)
    }

    /// Characters that can change or compose: characters that decompose, marks, and parts of Hangul syllables.
    private static let interesting: [UInt32] = {
        let ranges: [ClosedRange<UInt32>] = [
            0xA0...0x1FFF, 0x2000...0x33FF, 0xA000...0xABFF, 0xF900...0xFFFF, 0x10000...0x1E9FF,
        ]
        var found: [UInt32] = Array(0x41...0x5A) + [0xAC00, 0xAC01, 0xD788, 0xD7A3, 0x2F800, 0x2FA1D, 0xE0100]
        for range in ranges {
            for value in range {
                guard let scalar = Unicode.Scalar(value) else { continue }
                let isMark = scalar.properties.canonicalCombiningClass.rawValue != 0
                if isMark || library([value]) != Array(String(Character(scalar)).utf8)
                    || [.spacingMark, .nonspacingMark].contains(scalar.properties.generalCategory)
                    || (0x1100...0x11FF).contains(value)
                {
                    found.append(value)
                } else if Array(String(Character(scalar)).unicodeScalars) != [scalar] {
                    found.append(value)
                }
            }
        }
        return found + Array(0xC0...0x17F) + Array(0x1E00...0x1FFF)
    }()

    @Test("Every character composes as in the standard library, alone and between others")
    func alone() {
        var composer = Composer()
        var wrong: [UInt32] = []
        for value in UInt32(0)...0x10FFFF {
            if value > 0x30000 && value % 97 != 0 || Unicode.Scalar(value) == nil { continue }
            if Self.composed([value], &composer) != Self.library([value]) { wrong.append(value) }
        }
        #expect(wrong.isEmpty, "\(wrong.prefix(9).map { String($0, radix: 16) })")
    }

    @Test("200,000 texts of characters that compose, change, or are ordered agree")
    func texts() {
        var composer = Composer()
        var generator = SeededGenerator(seed: 0xC0)
        let all = Self.interesting
        let marks: [UInt32] = [
            0x300, 0x301, 0x302, 0x308, 0x323, 0x327, 0x328, 0x345, 0x5B0, 0x93C, 0x3099, 0xF71, 0xF72,
        ]
        for round in 0..<200_000 {
            let text = (0..<Int.random(in: 1...9, using: &generator)).map { _ in
                Bool.random(using: &generator)
                    ? all[Int.random(in: 0..<all.count, using: &generator)]
                    : Bool.random(using: &generator)
                        ? marks[Int.random(in: 0..<marks.count, using: &generator)]
                        : UInt32.random(in: 0x41...0x7A, using: &generator)
            }
            if Self.composed(text, &composer) != Self.library(text) {
                Issue.record("seed \(generator.seed) round \(round): \(text.map { String($0, radix: 16) })")
                return
            }
        }
    }

    @Test("Long runs of marks compose in any order")
    func runs() {
        var composer = Composer()
        var generator = SeededGenerator(seed: 0xC1)
        let marks: [UInt32] = [0x300, 0x301, 0x302, 0x308, 0x323, 0x327, 0x328, 0x345, 0x344, 0x5B0, 0x93C, 0x3099]
        for count in [1, 23, 24, 25, 26, 100, 1300] {
            for start in [[], [0x61], [0x1EA5], [0xAC00], [0x3B1]] as [[UInt32]] {
                let text = start + (0..<count).map { _ in marks[Int.random(in: 0..<marks.count, using: &generator)] }
                #expect(Self.composed(text, &composer) == Self.library(text), "\(count) marks after \(start)")
            }
        }
    }

    @Test("200,000 alternating marks of two classes are ordered quickly")
    func longRun() {
        // The standard library needs more than ten seconds for this text, because it sorts in quadratic time.
        var composer = Composer()
        let text: [UInt32] = [0x61] + (0..<200_000).map { $0 % 2 == 0 ? 0x301 : 0x321 }
        let bytes = Self.composed(text, &composer)
        #expect(bytes.count == 400_000)
        #expect(
            Array(bytes.prefix(4)) == Array("\u{E1}\u{321}".utf8) && Array(bytes.suffix(2)) == Array("\u{301}".utf8))
    }
}
