/// The format of inputs as lines of text, which are readable in version control and can hold any bytes.
///
/// Each line is an input. `\n`, `\t`, and `\\` have their usual meaning, and `\xNN` is a byte that is not text. A line
/// that begins with `#` is a comment, so an input that begins with `#` is written with `\x23`.
package enum CorpusFile {
    /// Returns the inputs of a file's text.
    package static func inputs(of text: String) -> [[UInt8]] {
        text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { unescaped(Array($0.utf8)) }
    }

    /// Returns an input as a line without its line feed.
    package static func line(_ input: [UInt8]) -> String {
        // UTF-8 text stays unchanged. In other inputs each byte above 0x7F is written as a number.
        let isText = String(validating: input, as: UTF8.self) != nil
        var line: [UInt8] = []
        for (index, byte) in input.enumerated() {
            switch byte {
            case UInt8(ascii: "\\"): line += Array("\\\\".utf8)
            case UInt8(ascii: "\n"): line += Array("\\n".utf8)
            case UInt8(ascii: "\t"): line += Array("\\t".utf8)
            case UInt8(ascii: "#") where index == 0: line += Array("\\x23".utf8)
            case UInt8(ascii: " ") where index == input.count - 1: line += Array("\\x20".utf8)
            case 0..<0x20, 0x7F: line += hexadecimal(byte)
            case 0x80... where !isText: line += hexadecimal(byte)
            default: line.append(byte)
            }
        }
        return String(decoding: line, as: UTF8.self)
    }

    private static func hexadecimal(_ byte: UInt8) -> [UInt8] {
        Array(("\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)).utf8)
    }

    /// Returns the bytes of a line, or of a part of it.
    static func unescaped(_ line: [UInt8]) -> [UInt8] {
        var input: [UInt8] = []
        var at = 0
        while at < line.count {
            guard line[at] == UInt8(ascii: "\\"), at + 1 < line.count else {
                input.append(line[at])
                at += 1
                continue
            }
            switch line[at + 1] {
            case UInt8(ascii: "n"): input.append(UInt8(ascii: "\n"))
            case UInt8(ascii: "t"): input.append(UInt8(ascii: "\t"))
            case UInt8(ascii: "x") where at + 3 < line.count:
                let digits = String(decoding: line[(at + 2)...(at + 3)], as: UTF8.self)
                input.append(UInt8(digits, radix: 16) ?? UInt8(ascii: "x"))
                at += 2
            default: input.append(line[at + 1])
            }
            at += 2
        }
        return input
    }
}
