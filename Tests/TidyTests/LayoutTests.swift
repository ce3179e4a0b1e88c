import Foundation
import TestSupport
import Testing

/// Checks of the names, locations, and text format of files.
@Suite struct LayoutTests {
    let files: [Checkout.File]

    init() throws { files = try Checkout.trackedFiles() }

    @Test("The root directory has only the agreed entries")
    func topLevel() {
        let agreed: Set = ["Package.swift", "Sources", "Tests", "docker-compose.yml", "config", "README.md"]
        let found = Set(files.map { String($0.path.prefix { $0 != "/" }) }).filter { !$0.hasPrefix(".") }
        #expect(found.subtracting(agreed) == [])
    }

    @Test("File names have only letters, digits, and . _ + -")
    func plainNames() {
        let plain = #/[A-Za-z0-9._+\/-]+/#
        #expect(files.filter { $0.path.wholeMatch(of: plain) == nil }.map(\.path) == [])
    }

    @Test("Exactly the files that begin with #! are executable")
    func executableBits() {
        let wrong = files.filter { file in
            let isScript = file.lines.first?.hasPrefix("#!") ?? false
            return isScript != file.isExecutable
        }
        #expect(wrong.map(\.path) == [])
    }

    @Test("Build products and temporary files of editors are not committed")
    func noLeftovers() {
        let leftovers = files.filter { file in
            file.path.contains(".build") || file.path.hasSuffix("Package.resolved") || file.path.hasSuffix(".orig")
                || file.path.hasSuffix("~") || file.path.hasSuffix(".swp") || file.path.hasSuffix(".DS_Store")
        }
        #expect(leftovers.map(\.path) == [])
    }

    @Test("No file contains a path of one machine or the host of a package registry")
    func noLocalPaths() {
        // The words are split, so that this file does not match itself.
        let words = [
            "/work/" + "main", "/work/" + "shared", "/root" + "/", "/tmp/" + "team", "/opt/" + "swift",
            "pypi" + ".org", "deb.debian" + ".org", "pythonhosted" + ".org", "npmjs" + ".org",
            "archive.ubuntu" + ".com",
        ]
        let found = files.flatMap { file in
            words.filter { file.text?.contains($0) ?? false }.map { "\(file.path): \($0)" }
        }
        #expect(found == [])
    }

    @Test("Text files end with a line feed, and have no white space at line ends and no carriage returns")
    func plainText() {
        let endings: Set = ["swift", "md", "json", "yml", "h", "c", "py", ""]
        var found: [String] = []
        for file in files where endings.contains(file.suffix) && !file.path.contains("/samples/") {
            guard let text = file.text, !text.isEmpty else { continue }
            if !text.utf8.elementsEqual(text.utf8.filter { $0 != 13 }) { found.append("\(file.path): carriage return") }
            if text.utf8.last != 10 { found.append("\(file.path): no line feed at the end") }
            for (number, line) in file.lines.enumerated() where line.last == " " || line.last == "\t" {
                found.append("\(file.path):\(number + 1): white space at the end")
            }
        }
        #expect(found == [])
    }

    @Test("Every file in the overview's table of questions exists, and there are at least twenty questions")
    func questions() throws {
        let overview = "Sources/LinkdCommands/Documentation.docc/LinkdCommands.md"
        let lines = try #require(files.first { $0.path == overview }).lines
        let rows = lines.drop { $0 != "## Where to look" }.dropFirst().prefix { !$0.hasPrefix("## ") }
            .filter { $0.hasPrefix("| ") && $0.contains("`") }
        let missing = rows.flatMap { row in
            row.matches(of: #/`([^`]+)`/#).map { String($0.1) }.filter { path in
                !files.contains { $0.path == path || $0.path.hasPrefix(path + "/") }
            }
        }
        #expect(missing == [])
        #expect(rows.count >= 20)
    }
}
