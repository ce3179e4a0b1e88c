internal import ByteStorage
internal import Foundation
internal import LinkIngest
internal import ShortLinks
internal import StrictJSON
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

/// Damaged exports for `linkd short-links build`, compared with a plain reader of RFC 4180.
@Suite struct ShortLinkExportTests {
    /// The header of an export, its separator, and the columns of the short link and of the destination.
    private static let headers: [(text: String, separator: String, short: Int, long: Int)] = [
        ("Short link,Deep link (link),Link name", ",", 0, 1), ("title;link;long_url", ";", 1, 2),
        ("url\t$canonical_url\t~campaign", "\t", 0, 1),
    ]

    /// Returns the rows of a text, with any text after a closing quote as a part of its cell.
    private static func rows(_ text: [UInt8], _ separator: UInt8) -> [[[UInt8]]] {
        var rows: [[[UInt8]]] = [[[]]]
        let quote = UInt8(ascii: "\"")
        var isQuoted = false
        var last: UInt8 = 0
        for byte in text {
            defer { last = byte }
            let row = rows.count - 1
            switch byte {
            case quote:
                if !isQuoted, last == quote { rows[row][rows[row].count - 1].append(quote) }
                isQuoted.toggle()
            case separator where !isQuoted: rows[row].append([])
            case UInt8(ascii: "\n") where !isQuoted: rows.append([[]])
            default: rows[row][rows[row].count - 1].append(byte)
            }
        }
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
        return rows.map { row in
            row.map { Array($0.drop(while: isBlank).reversed().drop(while: isBlank).reversed()) }
        }.filter { $0 != [[]] }
    }

    private static let damage: [[UInt8]] =
        ["\"", "\"\"", ",", ";", "\t", "\n", "\r", "\r\n", "\0", " ", "\u{FEFF}", "é", "https://", "go.example/0"]
        .map { Array($0.utf8) } + [[0xFF], [0xC3], [], [UInt8](repeating: 0x61, count: 1 << 16)]

    @Test("A damaged export is refused, or its short links have the destinations of its rows")
    func damaged() throws {
        let folder = try TemporaryFolder()
        let (source, output) = (URL(filePath: folder.path("export.csv")), folder.path("short.links"))
        var random = SeededGenerator(seed: .random(in: .min ... .max))
        var counts: [Int32: Int] = [:]
        for _ in 0..<max(LawCases.count / 4, 20) {
            let header = random.pick(Self.headers)
            let lines = (0..<Int.random(in: 1...4, using: &random)).map { number in
                var cells = [random.pick(["x", "\"a, \"\"b\"\"\"", "\"a\nb\"", "\0\u{1}"])]
                cells.insert("https://shop.example/p/\(number)", at: header.short == 0 ? 0 : 1)
                cells.insert("go.example/\(number)", at: header.short)
                return cells.joined(separator: header.separator) + random.pick(["\n", "\r\n"])
            }
            var text = Array(lines.joined().utf8)
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                let at = Int.random(in: 0..<text.count, using: &random)
                let end = min(text.count, at + Int.random(in: 0...3, using: &random))
                text.replaceSubrange(at..<end, with: random.pick(Self.damage))
            }
            try Data(header.text.utf8 + [0x0A] + text).write(to: source)
            let result = linkd("short-links", "build", source.path, "--out", output, "--json")
            counts[result.code, default: 0] += 1
            guard result.code == 0 else {
                #expect(result.code == ExitCode.badData.rawValue, "\(result.err), seed \(random.seed)")
                continue
            }
            let rows = Self.rows(text, header.separator.utf8.first ?? 0)
            let json = try JSONValue.parse(Array(result.out.utf8))
            let read = (json["links"]?.integer ?? 0) + (json["duplicates"]?.integer ?? 0)
            #expect(read == rows.count, "\(String(decoding: text.prefix(999), as: UTF8.self)), seed \(random.seed)")
            let file = try ShortLinkFile(path: output)
            for row in rows where row.count == 3 {
                let link = row[header.short].firstRange(of: Array("://".utf8)) == nil ? Array("https://".utf8) : []
                let found = (link + row[header.short]).withUnsafeBufferPointer {
                    file.answer(to: ByteView($0))?.destination.array
                }
                #expect(found == row[header.long], "\(String(decoding: text, as: UTF8.self)), seed \(random.seed)")
            }
        }
        #expect(counts[0, default: 0] > 0 && counts.count > 1)
    }
}
