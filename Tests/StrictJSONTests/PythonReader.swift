import Foundation
import TestSupport

/// Python's json module as a second reader.
///
/// One child process reads all texts.
enum PythonReader {
    /// The result for a text: `ok` with the value in the form of `JSONValue.rendered`, or an error.
    struct Answer: Equatable {
        var verdict: String
        var rendered: String
    }

    static let path: String? = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return folders.map { "\($0)/python3" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }()

    /// UTF-8 is decoded strictly.
    ///
    /// Hooks refuse repeated names, `NaN`, and `Infinity`, and keep numbers as text. Lone surrogates, which Python
    /// accepts, are reported as `lone`. The depth is counted by this program.
    private static let script = """
        import json, sys
        class Twice(Exception): pass
        class Constant(Exception): pass
        class Number(str): pass
        class Pairs(list): pass
        def pairs(found):
            names = [name for name, _ in found]
            if len(set(names)) != len(names): raise Twice()
            return Pairs(found)
        def constant(_): raise Constant()
        def hexed(text): return text.encode('utf-8').hex()
        def show(value):
            if value is None: return 'n'
            if value is True: return 't'
            if value is False: return 'f'
            if isinstance(value, Number): return '#' + str(value)
            if isinstance(value, str): return '"' + hexed(value)
            if isinstance(value, Pairs):
                return '{' + ','.join(hexed(n) + ':' + show(v) for n, v in value) + '}'
            return '[' + ','.join(show(v) for v in value) + ']'
        sys.setrecursionlimit(20000)
        with open(sys.argv[1]) as source, open(sys.argv[2], 'w') as out:
            for line in source:
                try:
                    text = bytes.fromhex(line).decode('utf-8')
                    value = json.loads(text, object_pairs_hook=pairs, parse_constant=constant,
                                       parse_int=Number, parse_float=Number)
                    out.write('ok ' + show(value) + '\\n')
                except Twice: out.write('twice \\n')
                except Constant: out.write('constant \\n')
                except UnicodeDecodeError: out.write('utf8 \\n')
                except UnicodeEncodeError: out.write('lone \\n')
                except json.JSONDecodeError: out.write('bad \\n')
        """

    /// Reads all texts, or returns nil if Python is not available.
    static func read(_ texts: [[UInt8]]) throws -> [Answer]? {
        guard let path else { return nil }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("strict-json-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = folder.appendingPathComponent("texts")
        let answers = folder.appendingPathComponent("answers")
        try Data(hexLines(texts)).write(to: source)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = ["-c", script, source.path, answers.path]
        try process.start()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failed(status: process.terminationStatus) }
        return try String(contentsOf: answers, encoding: .utf8).split(separator: "\n").map { line in
            let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
            return Answer(verdict: String(parts[0]), rendered: String(parts[1]))
        }
    }

    struct Failed: Error { var status: Int32 }

    private static func hexLines(_ texts: [[UInt8]]) -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        var out: [UInt8] = []
        for text in texts {
            for byte in text { out += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
            out.append(UInt8(ascii: "\n"))
        }
        return out
    }
}
