import ByteStorage
import Foundation
import TestSupport
import Testing

@testable import ShortLinks

/// Links as texts, and files of them.
enum ShortLinkSample {
    static func view<Result>(_ text: String, _ body: (ByteView) throws -> Result) rethrows -> Result {
        try Array(text.utf8).withUnsafeBufferPointer { try body(ByteView($0)) }
    }

    /// Returns the host and everything after it.
    static func parts(_ link: String) -> (host: String, tail: String) {
        let rest = link.firstRange(of: "://").map { link[$0.upperBound...] } ?? link[...]
        let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        return (String(rest[..<end]), String(rest[end...]))
    }

    /// Returns the destination of a link, or nil.
    static func destination(_ link: String, in file: ShortLinkFile) -> String? {
        let (host, tail) = parts(link)
        return view(host) { host in
            view(tail) { tail in file.find(host: host, tail: tail)?.destination.string }
        }
    }

    /// Builds a file of rows, whose lines are counted from 1.
    static func build(
        _ rows: [(String, String)], to path: String, conflicts: ShortLinkBuilder.Conflicts = .refuse
    ) throws -> ShortLinkBuilder.Result? {
        let builder = try ShortLinkBuilder(path: path, conflicts: conflicts)
        for (index, row) in rows.enumerated() {
            let (host, tail) = parts(row.0)
            let place = ShortLinkBuilder.Place(file: 0, line: index + 1)
            let isAdded = try view(host) { host in
                try view(tail) { tail in
                    try view(row.1) { try builder.add(host: host, tail: tail, destination: $0, at: place) }
                }
            }
            #expect(isAdded, "\(row)")
        }
        return try builder.finish(answer: { file, link in
            let (host, tail) = parts(link.string)
            return view(host) { host in view(tail) { file.find(host: host, tail: $0) } }
        })
    }

    static func problems(_ result: ShortLinkBuilder.Result?) -> [String] {
        result?.problems.map { "\($0.kind.rawValue) \($0.link) \($0.places.map(\.line))" } ?? []
    }
}

@Suite("A file of short links")
struct ShortLinkFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Each case is a link, half of them in the file.
    @Test("A file answers like a dictionary of the rows, in any order of the rows, with the same bytes")
    func dictionary() throws {
        var random = SeededGenerator(seed: .random(in: .min ... .max))
        let hosts = ["go.example", "x.page.link", "a.app.link", "bit.ly"]
        var known: [String: String] = [:]
        var rows: [(String, String)] = []
        for _ in 0..<LawCases.count {
            let tail = random.joined(1...3, of: ["/a", "/B", "/é", "/c?x=1", "/c?x=2", "/d#f", "/"], by: "")
            let link = random.pick(hosts) + tail + String(random.next() % 4096, radix: 36)
            let destination = "https://shop.example/p/" + String(random.next(), radix: 36)
            if known[link] == nil {
                known[link] = destination
                rows.append((random.pick(["https://", "http://"]) + link, destination))
            }
        }
        let path = folder.path("short.links")
        let result = try #require(try ShortLinkSample.build(rows, to: path))
        #expect(result.links == rows.count && result.problemCount == 0, "seed \(random.seed)")
        let file = try ShortLinkFile(path: path)
        #expect(file.count == rows.count && file.verify())
        for (link, destination) in known {
            #expect(ShortLinkSample.destination(link, in: file) == destination, "\(link), seed \(random.seed)")
            let shout = link.replacing(/^[a-z.]+/) { $0.output.uppercased() }
            #expect(ShortLinkSample.destination(shout, in: file) == destination, "\(shout), seed \(random.seed)")
            for other in [link + "z", String(link.dropLast())] where known[other] == nil {
                #expect(ShortLinkSample.destination(other, in: file) == nil, "\(other), seed \(random.seed)")
            }
        }
        #expect(Set(file.hosts) == Set(rows.map { ShortLinkSample.parts($0.0).host }))
        let again = folder.path("again.links")
        rows.shuffle(using: &random)
        _ = try ShortLinkSample.build(rows, to: again)
        #expect(try Data(contentsOf: URL(filePath: path)) == Data(contentsOf: URL(filePath: again)))
        let memory = ShortLinkFile(known.map { (Array($0.key.utf8), Array($0.value.utf8)) })
        #expect(memory.fullHash == file.fullHash && memory.verify())
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
        #expect(names == ["again.links", "short.links"])
    }

    @Test("A changed byte makes a link unknown or changes nothing, and never gives another destination")
    func damaged() throws {
        let rows = (0..<20).map { ("https://go.example/\($0)", "https://shop.example/p/\($0 * 7)") }
        let path = folder.path("whole")
        _ = try ShortLinkSample.build(rows, to: path)
        let bytes = try Data(contentsOf: URL(filePath: path))
        let place = URL(filePath: folder.path("damaged"))
        var unknown = 0
        var refused = 0
        for index in bytes.indices {
            for flip: UInt8 in [0x01, 0x80, 0xFF] {
                var copy = bytes
                copy[index] ^= flip
                try copy.write(to: place)
                guard let file = try? ShortLinkFile(path: place.path) else {
                    refused += 1
                    continue
                }
                #expect(!file.verify(), "byte \(index)")
                for (link, destination) in rows {
                    let found = ShortLinkSample.destination(link, in: file)
                    if found == nil { unknown += 1 }
                    #expect(found == nil || found == destination, "byte \(index)")
                }
            }
        }
        #expect(refused == 3 * ShortLinkFormat.headerBytes && unknown > 3 * rows.count)
    }

    @Test("A file that lacks its end, or has more bytes, is refused")
    func cut() throws {
        let path = folder.path("whole")
        _ = try ShortLinkSample.build([("https://go.example/a", "shop://a"), ("go.example/b", "shop://b")], to: path)
        let bytes = try Data(contentsOf: URL(filePath: path))
        let place = URL(filePath: folder.path("cut"))
        for count in 0..<bytes.count {
            try bytes.prefix(count).write(to: place)
            #expect(throws: ShortLinkError.self, "\(count)") { try ShortLinkFile(path: place.path) }
        }
        try (bytes + [0]).write(to: place)
        #expect(throws: ShortLinkError.self) { try ShortLinkFile(path: place.path) }
        #expect(throws: ShortLinkError.self) { try ShortLinkFile(path: folder.url.path) }
        #expect(throws: ShortLinkError.self) { try ShortLinkFile(path: folder.path("none")) }
    }

    @Test("An empty path is a slash, and a file without links knows none")
    func root() throws {
        let path = folder.path("root")
        let rows = [("https://go.example", "shop://a"), ("https://b.example?q", "shop://b")]
        _ = try ShortLinkSample.build(rows, to: path)
        let file = try ShortLinkFile(path: path)
        #expect(ShortLinkSample.destination("https://GO.example/", in: file) == "shop://a")
        #expect(ShortLinkSample.destination("https://b.example/?q", in: file) == "shop://b")
        let empty = ShortLinkFile([])
        #expect(ShortLinkSample.destination("https://go.example/", in: empty) == nil)
        #expect(!ShortLinkSample.view("go.example") { empty.mayHave(host: $0) })
        #expect(ShortLinkSample.view("Go.Example") { file.mayHave(host: $0) })
    }

    @Test("A file that is replaced by a rename stays readable for those who have it open")
    func renamed() throws {
        let path = folder.path("short.links")
        _ = try ShortLinkSample.build([("https://go.example/a", "shop://old")], to: path)
        let source = ShortLinkSource(try ShortLinkFile(path: path))
        let old = source.file
        _ = try ShortLinkSample.build([("https://go.example/a", "shop://new")], to: path)
        source.replace(try ShortLinkFile(path: path))
        #expect(source.number == 1)
        #expect(ShortLinkSample.destination("https://go.example/a", in: old) == "shop://old")
        #expect(ShortLinkSample.destination("https://go.example/a", in: source.file) == "shop://new")
    }
}

@Suite("The rows of a file of short links")
struct ShortLinkBuilderTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path("short.links") }

    init() throws { folder = try TemporaryFolder() }

    @Test("Two destinations of one link are a conflict, and the same one twice is not")
    func conflicts() throws {
        let rows = [
            ("https://go.example/a", "shop://1"), ("http://GO.example/a", "shop://1"),
            ("https://go.example/a", "shop://2"), ("https://go.example/A", "shop://3"),
        ]
        let refused = try ShortLinkSample.build(rows, to: path)
        #expect(ShortLinkSample.problems(refused) == ["conflict go.example/a [1, 3]"])
        #expect(!FileManager.default.fileExists(atPath: path))
        for (choice, expected) in [(ShortLinkBuilder.Conflicts.first, "shop://1"), (.last, "shop://2")] {
            let result = try #require(try ShortLinkSample.build(rows, to: path, conflicts: choice))
            #expect(result.links == 2 && result.duplicates == 1 && result.dropped == 1)
            let file = try ShortLinkFile(path: path)
            #expect(ShortLinkSample.destination("https://go.example/a", in: file) == expected)
        }
    }

    @Test("A link that leads to other short links has the last destination")
    func chains() throws {
        var rows = (1...7).map { ("https://go.example/\($0)", "HTTPS://Go.Example/\($0 + 1)") }
        rows += [("https://go.example/8", "https://go.example/none"), ("https://go.example/9", "shop://9")]
        let result = try #require(try ShortLinkSample.build(rows, to: path))
        #expect(result.chained == 7 && result.links == 9)
        let file = try ShortLinkFile(path: path)
        #expect(file.verify())
        for number in 1...8 {
            let found = ShortLinkSample.destination("https://go.example/\(number)", in: file)
            #expect(found == "https://go.example/none", "\(number)")
        }
        #expect(ShortLinkSample.destination("https://go.example/9", in: file) == "shop://9")
    }

    @Test("A link with a query in a chain stays, because its query counts for the context of decisions")
    func queries() throws {
        let rows = [
            ("https://go.example/a", "https://go.example/b"), ("https://go.example/b", "https://go.example/c?s=1"),
            ("https://go.example/c?s=1", "https://go.example/d"), ("https://go.example/d", "shop://d"),
        ]
        #expect(try ShortLinkSample.build(rows, to: path)?.chained == 3)
        let file = try ShortLinkFile(path: path)
        let found = rows.map { ShortLinkSample.destination($0.0, in: file) }
        #expect(found == ["https://go.example/c?s=1", "https://go.example/c?s=1", "shop://d", "shop://d"])
        // A decision follows no longer chain by itself, and an empty query or one in a fragment is none.
        for (a, b) in [("b?s=1", "c?s=2"), ("b?", "c?#x"), ("b#?x", "c")] {
            let rows = [("a", a), (a, b), (b, "d")].map { ("https://go.example/\($0.0)", "https://go.example/\($0.1)") }
            #expect(try ShortLinkSample.build(rows, to: path)?.links == 3)
            let found = ShortLinkSample.destination("https://go.example/a", in: try ShortLinkFile(path: path))
            #expect(found == "https://go.example/d", "\(a)")
        }
        let loop = [("https://go.example/a", "https://go.example/b?s=1"), ("https://go.example/b?s=1", rows[0].0)]
        #expect(ShortLinkSample.problems(try ShortLinkSample.build(loop, to: path)).count == 2)
    }

    @Test("A named pipe is refused at once")
    func pipe() throws {
        try #require(mkfifo(path, 0o600) == 0)
        #expect(throws: ShortLinkError.self) { try ShortLinkFile(path: path) }
    }

    @Test("Loops and chains that are too long are refused with their lines")
    func loops() throws {
        let before = try Data(contentsOf: URL(filePath: #filePath))
        try before.write(to: URL(filePath: path))
        let loops = try ShortLinkSample.build(
            [
                ("https://go.example/a", "https://go.example/b"), ("https://go.example/b", "http://go.example/a"),
                ("https://go.example/c", "https://go.example/c"), ("https://go.example/d", "https://go.example/a"),
                ("https://go.example/e", "shop://e"),
            ], to: path)
        #expect(
            ShortLinkSample.problems(loops).sorted() == [
                "loop go.example/a [1]", "loop go.example/b [2]", "loop go.example/c [3]", "loop go.example/d [4]",
            ])
        let long = try ShortLinkSample.build(
            (1...9).map { ("https://go.example/\($0)", "https://go.example/\($0 + 1)") }
                + [("https://go.example/10", "shop://10")], to: path)
        #expect(ShortLinkSample.problems(long) == ["chain go.example/1 [1]"])
        #expect(try Data(contentsOf: URL(filePath: path)) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["short.links"])
    }

    @Test("A file cannot be written into a directory that does not exist")
    func noDirectory() {
        #expect(throws: ShortLinkError.self) { try ShortLinkBuilder(path: folder.path("none/short.links")) }
    }

    @Test("A link that is too long is not added")
    func sizes() throws {
        let builder = try ShortLinkBuilder(path: path)
        func add(_ tail: Int, _ destination: Int) throws -> Bool {
            try ShortLinkSample.view("go.example") { host in
                try ShortLinkSample.view("/" + String(repeating: "a", count: tail)) { tail in
                    try ShortLinkSample.view(String(repeating: "b", count: destination)) {
                        try builder.add(
                            host: host, tail: tail, destination: $0, at: ShortLinkBuilder.Place(file: 0, line: 1))
                    }
                }
            }
        }
        #expect(try add(ShortLinkKey.maxBytes - 11, ShortLinkKey.maxDestinationBytes))
        #expect(try !add(ShortLinkKey.maxBytes - 10, 1))
        #expect(try !add(1, ShortLinkKey.maxDestinationBytes + 1))
        #expect(builder.rows == 1)
        let result = try builder.finish(answer: { _, _ in nil })
        #expect(result?.links == 1)
        #expect(try ShortLinkFile(path: path).verify())
    }
}
