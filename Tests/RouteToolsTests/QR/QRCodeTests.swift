internal import Foundation
internal import LinkCoordinator
internal import TestSupport
internal import Testing

@testable internal import RouteTools

/// QR codes, compared with those of another encoder and read by a reader.
@Suite struct QRCodeTests {
    private static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(97 + ($0 * 7 + count) % 26) } }

    // The hashes are those of the modules that the Python package `qrcode` 8 draws for the same bytes, mask, and level.
    @Test(
        "A code has the modules of another encoder",
        arguments: [
            (1, 0, 1, "59266abbbea7a029"), (14, 1, 1, "ea4932b5b2671cfa"), (15, 2, 2, "d142dfc41868d9ac"),
            (60, 3, 4, "672167d9ca7385f9"), (106, 4, 6, "a145f10ba7535e20"), (180, 5, 9, "e1c02e1fced466d2"),
            (300, 6, 13, "8a6e73577b3fa24b"), (800, 7, 23, "da82a8808b20db71"), (1500, 0, 32, "ec8c2543b1ed5465"),
            (2331, 5, 40, "312c9d7e8ffa5b3a"), (2332, 2, 36, "75a739bc29500ced"), (2953, 6, 40, "a86751fda8e6d623"),
        ])
    func vectors(count: Int, mask: Int, version: Int, hash: String) throws {
        let code = try #require(QRCode(Self.bytes(count), mask: mask))
        #expect(code.version == version && code.mask == mask && code.size == version * 4 + 17)
        let text = code.modules.map { $0 ? UInt8(ascii: "1") : UInt8(ascii: "0") }
        #expect(SHA256.hex(text).prefix(16) == hash)
    }

    @Test("A code exists for each number of bytes up to the limit, in the smallest version, and for no more")
    func bounds() throws {
        #expect(QRCode([])?.version == 1)
        #expect(QRCode(Self.bytes(QRCode.maxBytes + 1)) == nil)
        for version in 1...40 {
            let count = QRCode.capacity(version, .medium)
            let full = try #require(QRCode(Self.bytes(count), mask: 0))
            #expect(full.version == version && full.level == .medium)
            let next = try #require(QRCode(Self.bytes(count + 1), mask: 0))
            #expect(version == 40 ? next.level == .low : next.version == version + 1)
        }
        #expect(QRCode.capacity(40, .low) == QRCode.maxBytes)
    }

    @Test("The image has exactly the dark modules, inside a quiet zone of four modules")
    func image() throws {
        let code = try #require(QRCode(Array("shop://p/7".utf8)))
        var drawn = [Bool](repeating: false, count: code.imageSize * code.imageSize)
        for run in code.path.matches(of: #/M(\d+) (\d+)h(\d+)v1h-\d+z/#) {
            let (column, row, count) = (try #require(Int(run.1)), try #require(Int(run.2)), try #require(Int(run.3)))
            for index in 0..<count { drawn[row * code.imageSize + column + index] = true }
        }
        for row in 0..<code.imageSize {
            for column in 0..<code.imageSize {
                let inside = (4..<(code.size + 4)).contains(row) && (4..<(code.size + 4)).contains(column)
                let isDark = inside && code.modules[(row - 4) * code.size + column - 4]
                #expect(drawn[row * code.imageSize + column] == isDark)
            }
        }
        #expect(code.svg.hasPrefix("<svg xmlns=") && code.svg.contains(code.path))
    }

    private static let reader = ["/usr/bin/zbarimg", "/usr/local/bin/zbarimg", "/opt/homebrew/bin/zbarimg"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    // A case is a text of each version, with bytes of UTF-8 in it.
    @Test(
        "A reader reads each code", .enabled(if: reader != nil, "needs zbarimg of the package zbar-tools"),
        arguments: [1, 2, 6, 7, 9, 10, 14, 21, 26, 27, 32, 36, 40])
    func read(version: Int) throws {
        let folder = try TemporaryFolder()
        let text =
            "https://shop.example/ü/" + String(decoding: Self.bytes(QRCode.capacity(version, .medium)), as: UTF8.self)
        let bytes = Array(Array(text.utf8).prefix(max(QRCode.capacity(version, .medium), 14)))
        let code = try #require(QRCode(bytes))
        // A plain image of four pixels a module, which every reader takes.
        let side = code.imageSize * 4
        var image = "P1\n\(side) \(side)\n"
        for row in 0..<side {
            for column in 0..<side {
                let (y, x) = (row / 4 - 4, column / 4 - 4)
                let isInside = (0..<code.size).contains(x) && (0..<code.size).contains(y)
                image += isInside && code.modules[y * code.size + x] ? "1" : "0"
            }
            image += "\n"
        }
        let file = folder.path("code.pbm")
        try image.write(toFile: file, atomically: true, encoding: .ascii)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(Self.reader))
        process.arguments = ["--raw", "-q", "-Sbinary", "-Sdisable", "-Sqrcode.enable", file]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.start()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(Array(output) == bytes, "version \(version)")
    }
}
