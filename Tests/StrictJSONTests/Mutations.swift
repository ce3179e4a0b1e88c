import TestSupport

/// Texts that are almost JSON: those of the corpus and some like real records, changed in one to three positions.
enum Mutations {
    static let seed: UInt64 = 0x57A1C7
    static let count = 40_000

    private static let records: [String] = [
        #"{"id":"e-0000001","link":"https://shop.example/p/B121D5E7?count=3","device":{"id":"d-000042","app":"6.1.0"},"#
            + #""campaign":"spring-sale","sent":"2026-11-20T10:00:00Z"}"#,
        #"{"aps":{"alert":{"title":"\u00dcber \ud83d\ude00","body":"日本"},"#
            + #""badge":1,"x":[1.5e3,-0,true,false,null]}}"#,
        "[ { \"a\" : [ ] , \"b\" : { } } ,\n\t[ 0 , \"\\\"\\\\\\/\" ] ]",
    ]

    private static let alphabet: [UInt8] =
        Array(#"{}[]":,\u0123456789abcdefnrtl.-+eEdD/ "#.utf8) + [0x0A, 0x1F, 0x7F, 0x80, 0xC2, 0xE0, 0xED, 0xF4, 0xFF]

    /// The texts, which are the same in every run.
    static let texts: [[UInt8]] = {
        var generator = SeededGenerator(seed: seed)
        let bases = Corpus.items.map(\.bytes).filter { $0.count < 200 } + records.map { Array($0.utf8) }
        var out: [[UInt8]] = []
        for round in 0..<count {
            var text = round % 2 == 0 ? Array(records[round / 2 % records.count].utf8) : bases[round / 2 % bases.count]
            for _ in 0...Int.random(in: 0...2, using: &generator) { mutate(&text, &generator) }
            out.append(text)
        }
        return out
    }()

    private static func mutate(_ bytes: inout [UInt8], _ generator: inout SeededGenerator) {
        let index = Int.random(in: 0...bytes.count, using: &generator)
        let letter = alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
        guard index < bytes.count else { return bytes.append(letter) }
        switch Int.random(in: 0..<7, using: &generator) {
        case 0: bytes[index] = UInt8.random(in: 0...255, using: &generator)
        case 1: bytes[index] = letter
        case 2: bytes.remove(at: index)
        case 3: bytes.insert(letter, at: index)
        case 4: bytes.removeSubrange(index..<min(bytes.count, index + 8))
        case 5: bytes.swapAt(index, Int.random(in: 0..<bytes.count, using: &generator))
        default:
            let end = min(bytes.count, index + Int.random(in: 1...24, using: &generator))
            bytes.insert(contentsOf: bytes[index..<end], at: Int.random(in: 0...bytes.count, using: &generator))
        }
    }
}
