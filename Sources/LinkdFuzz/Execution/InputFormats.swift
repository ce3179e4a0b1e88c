internal import ByteStorage

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
        Array(("\\x" + byte.hexadecimal(digits: 2)).utf8)
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

/// The format of inputs of the targets `ingest` and `hostile`: a line with the letter of the environment, the key, and
/// the headers, followed by the value.
///
/// The parts of the line are separated by tabs: the letter, `=` and the key or nothing, and for each header its name,
/// `=`, and its value, or the name alone if the value is null. They have the escapes of `CorpusFile`, and `\x3d` stands
/// for `=` in a name. An uppercase letter means that the value is a recipe.
package enum IngestInput {
    /// Returns a record as an input.
    package static func input(_ record: FuzzRecord, letter: UInt8) -> [UInt8] {
        var line = [letter]
        if record.key != nil || !record.headers.isEmpty { line.append(UInt8(ascii: "\t")) }
        if let key = record.key { line += [UInt8(ascii: "=")] + escaped(key) }
        for header in record.headers {
            line += [UInt8(ascii: "\t")] + escaped(header.name, isName: true)
            if let value = header.value { line += [UInt8(ascii: "=")] + escaped(value) }
        }
        return line + [UInt8(ascii: "\n")] + record.value
    }

    /// Returns the letter and the record of an input.
    ///
    /// - Parameter limit: The size limit of an expanded recipe, in bytes.
    package static func record(_ input: [UInt8], limit: Int = 256 << 10) -> (letter: UInt8, record: FuzzRecord) {
        let line = input.prefix { $0 != UInt8(ascii: "\n") }
        let letter = line.first ?? UInt8(ascii: "a")
        var record = FuzzRecord(value: Array(input.dropFirst(line.count + 1)), offset: 7)
        if UInt8(ascii: "A")...UInt8(ascii: "Z") ~= letter { record.value = Recipe.expand(record.value, limit: limit) }
        let parts = line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
        for (index, part) in parts.dropFirst().enumerated() {
            let name = part.prefix { $0 != UInt8(ascii: "=") }
            let value = name.count < part.count ? CorpusFile.unescaped(Array(part.dropFirst(name.count + 1))) : nil
            if index == 0 {
                record.key = value
            } else {
                record.headers.append(RecordHeader(name: CorpusFile.unescaped(Array(name)), value: value))
            }
        }
        return (letter | 0x20, record)
    }

    private static func escaped(_ bytes: [UInt8], isName: Bool = false) -> [UInt8] {
        var text: [UInt8] = []
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\\"): text += Array("\\\\".utf8)
            case UInt8(ascii: "\n"): text += Array("\\n".utf8)
            case UInt8(ascii: "\t"): text += Array("\\t".utf8)
            case UInt8(ascii: "=") where isName: text += Array("\\x3d".utf8)
            default: text.append(byte)
            }
        }
        return text
    }
}

/// Text with repeated groups, which keeps large inputs readable and easy to change.
///
/// `<<3,:"a#":0>>` expands to `"a0":0,"a1":0,"a2":0`. A group has a number, a separator (a comma or nothing), and a
/// text in which `#` is the number of the repetition. Groups can be nested. Any other text stands for itself.
package enum Recipe {
    /// Returns the expanded text, at most `limit` bytes of it.
    package static func expand(_ text: some Collection<UInt8>, limit: Int) -> [UInt8] {
        var out: [UInt8] = []
        var reader = Reader(bytes: Array(text), limit: limit)
        reader.expand(until: nil, counter: nil, into: &out)
        return out
    }

    private struct Reader {
        let bytes: [UInt8]
        let limit: Int
        var at = 0

        /// Expands the text up to the end of the current group, or of the whole text.
        mutating func expand(until end: Int?, counter: Int?, into out: inout [UInt8]) {
            let stop = end ?? bytes.count
            while at < stop, out.count < limit {
                if let group = group(at: at, before: stop) {
                    repeatGroup(group, counter: counter, into: &out)
                } else if let counter, bytes[at] == UInt8(ascii: "#") {
                    out += Array(String(counter).utf8)
                    at += 1
                } else {
                    out.append(bytes[at])
                    at += 1
                }
            }
            at = stop
        }

        private mutating func repeatGroup(_ group: Group, counter: Int?, into out: inout [UInt8]) {
            for index in 0..<group.count where out.count < limit {
                if index > 0, group.hasComma { out.append(UInt8(ascii: ",")) }
                at = group.body.lowerBound
                // A group with one repetition uses the counter of its surroundings.
                expand(until: group.body.upperBound, counter: group.count == 1 ? counter : index, into: &out)
            }
            at = group.body.upperBound + 2
        }

        private struct Group {
            var count: Int
            var hasComma: Bool
            var body: Range<Int>
        }

        /// Returns the group that begins at an offset, or nil if there is no complete group.
        private func group(at start: Int, before stop: Int) -> Group? {
            guard start + 4 < stop, bytes[start] == UInt8(ascii: "<"), bytes[start + 1] == UInt8(ascii: "<") else {
                return nil
            }
            var position = start + 2
            var count = 0
            while position < stop, count < 1_000_000, case let digit = bytes[position] &- UInt8(ascii: "0"), digit < 10
            {
                count = count * 10 + Int(digit)
                position += 1
            }
            let hasComma = position < stop && bytes[position] == UInt8(ascii: ",")
            if hasComma { position += 1 }
            guard position < stop, position > start + 2, bytes[position] == UInt8(ascii: ":") else { return nil }
            let first = position + 1
            var depth = 1
            position = first
            while position + 1 < stop {
                if bytes[position] == UInt8(ascii: "<"), bytes[position + 1] == UInt8(ascii: "<") {
                    depth += 1
                    position += 1
                } else if bytes[position] == UInt8(ascii: ">"), bytes[position + 1] == UInt8(ascii: ">") {
                    depth -= 1
                    if depth == 0 { return Group(count: count, hasComma: hasComma, body: first..<position) }
                    position += 1
                }
                position += 1
            }
            return nil
        }
    }
}
