import Foundation
import TestSupport
import Testing

/// Checks of files, functions, and lines, and of expressions that need a reason.
@Suite struct CodeTests {
    let swift: [Checkout.File]
    /// The Swift files that are not generated.
    let written: [Checkout.File]

    init() throws {
        swift = try Checkout.trackedFiles().filter { $0.suffix == "swift" }
        // The words are split, so that this file does not match itself.
        written = swift.filter { !$0.lines.contains("// swift-format" + "-ignore-file") }
    }

    @Test("A Swift file has at most 600 lines")
    func fileLengths() {
        let long = written.filter { $0.lines.count > 601 }
        #expect(long.map { "\($0.path): \($0.lines.count - 1) lines" } == [])
    }

    @Test("A line of code has at most 120 columns")
    func lineLengths() throws {
        let code = try Checkout.trackedFiles().filter { file in
            ["swift", "c", "h", "yml", "py"].contains(file.suffix) || file.isExecutable
                || file.path.hasSuffix("Dockerfile")
        }
        let long = code.flatMap { file in
            file.lines.enumerated().filter { $0.element.count > 120 }.map { "\(file.path):\($0.offset + 1)" }
        }
        #expect(long == [])
    }

    @Test("A function has at most 70 lines")
    func functionLengths() {
        let long = written.flatMap { file in
            Self.functions(in: file.lines).filter { $0.count > 70 }
                .map { "\(file.path):\($0.lowerBound + 1): \($0.count) lines" }
        }
        #expect(long == [])
    }

    @Test("An expression that can trap or disables a check has a reason in a comment")
    func reasons() {
        // The words are split, so that this file does not match itself.
        let words = [
            "fatal" + "Error(", "precondition" + "Failure(", "try" + "!", " as" + "! ", "@unchecked " + "Sendable",
            "nonisolated" + "(unsafe)", "swift-format" + "-ignore",
        ]
        var found: [String] = []
        for file in swift {
            let lines = file.lines
            for (index, line) in lines.enumerated() {
                let code = line.range(of: "//").map { line[..<$0.lowerBound] } ?? line
                for word in words where code.contains(word) {
                    let beside = [index - 1, index, index + 1].filter(lines.indices.contains)
                    if !beside.contains(where: { lines[$0].contains("//") }) {
                        found.append("\(file.path):\(index + 1): \(word)")
                    }
                }
            }
        }
        #expect(found == [])
    }

    @Test("A test starts a process with `start()`, because `run()` of two threads can make one wait for the other")
    func starts() {
        let word = "process" + ".run()"
        let found = written.filter { file in
            file.path.hasPrefix("Tests/") && file.lines.contains { $0.contains(word) }
        }
        #expect(found.map(\.path) == [])
    }

    @Test("No file has a marker for unfinished work")
    func nothingLeft() throws {
        let words = ["TO" + "DO", "FIX" + "ME", "XX" + "X:"]
        let found = try Checkout.trackedFiles().flatMap { file in
            file.lines.enumerated().filter { line in words.contains { line.element.contains($0) } }
                .map { "\(file.path):\($0.offset + 1)" }
        }
        #expect(found == [])
    }

    @Test("Every public declaration of the modules has a doc comment")
    func documented() {
        let declaration = #/^ *(?:@\w+(?:\([^)]*\))? )*(?:public|open) (?!import|extension)/#
        var found: [String] = []
        for file in swift where file.path.hasPrefix("Sources/") {
            let lines = file.lines
            for index in lines.indices where lines[index].firstMatch(of: declaration) != nil {
                // Attributes and conditions can precede a declaration.
                var above = index - 1
                while above >= 0,
                    lines[above].drop(while: { $0 == " " }).hasPrefix("@")
                        || lines[above].drop(while: { $0 == " " }).hasPrefix("#")
                { above -= 1 }
                let isDocumented = above >= 0 && lines[above].drop { $0 == " " }.hasPrefix("///")
                if !isDocumented && !Self.isGivenByProtocol(lines[index]) {
                    found.append("\(file.path):\(index + 1): \(lines[index].drop { $0 == " " })")
                }
            }
        }
        #expect(found == [])
    }

    @Test("An app's tests can create each public structure of the library")
    func publicInitializers() {
        let files = swift.filter { $0.path.hasPrefix("Sources/LinkCoordinator") }.map(\.lines)
        // The names in the heads of the extensions that have a public initializer.
        let extended = files.flatMap { lines in
            lines.indices.filter { lines[$0].hasPrefix("extension ") }.filter { Self.creates(from: $0, in: lines) }
                .map { lines[$0].split { " :.{".contains($0) }.dropFirst() }
        }
        var found: [Substring] = []
        var count = 0
        for lines in files {
            for start in lines.indices {
                let line = lines[start].drop { $0 == " " }
                guard line.hasPrefix("public struct ") else { continue }
                let name = line.split { " :<{".contains($0) }[2]
                count += 1
                let isExtended = extended.contains { $0.contains(name) }
                if !isExtended && !Self.creates(from: start, in: lines) { found.append(name) }
            }
        }
        #expect(found == [] && count > 15)
    }

    /// Returns a Boolean value that indicates whether a declaration has a public initializer, based on the formatter's
    /// layout.
    private static func creates(from start: Int, in lines: [Substring]) -> Bool {
        let close = lines[start].prefix { $0 == " " } + "}"
        return lines[start...].prefix { !$0.hasPrefix(close) }.contains {
            $0.drop { $0 == " " }.hasPrefix("public init")
        }
    }

    /// Members whose meaning is defined by protocols of the standard library, so that a comment would repeat it.
    static func isGivenByProtocol(_ line: Substring) -> Bool {
        [
            "func hash(into", "static func ==", "static func <", "var description: String", "var debugDescription",
            "func next()", "func makeIterator()", "var id:", "func encode(to", "init(from",
        ].contains { line.contains($0) }
    }

    /// Returns the line ranges of functions and initializers, based on the formatter's layout.
    static func functions(in lines: [Substring]) -> [ClosedRange<Int>] {
        let head = #/^( *)(?:@\w+(?:\([^)]*\))? )*(?:\w+(?:\(\w+\))? )*(?:func \S|init[?<(]|deinit\b|subscript[<(])/#
        return lines.indices.compactMap { start in
            guard let match = lines[start].firstMatch(of: head), !lines[start].hasSuffix("}") else { return nil }
            let close = match.1 + "}"
            guard let end = lines[start...].firstIndex(where: { $0.hasPrefix(close) }) else { return nil }
            // A protocol requirement has no body, so the next brace belongs to an enclosing declaration.
            let body = lines[start...end].dropFirst().dropLast()
            let isIndented = body.allSatisfy { $0.isEmpty || $0.hasPrefix(match.1) }
            let opens = lines[start...end].contains { $0.hasSuffix("{") }
            return isIndented && opens ? start...end : nil
        }
    }

    @Test("A long function is found, and a protocol requirement is ignored")
    func functionsAreFound() {
        let text = """
            protocol P {
                func required()
            }
            struct S {
                func short() {}
                @inlinable package mutating func long(
                    of: Int
                ) throws {
                    call()
                }
                init?(text: String) {
                    return nil
                }
            }
            """
        #expect(Self.functions(in: text.split(separator: "\n")) == [5...9, 10...12])
    }
}
