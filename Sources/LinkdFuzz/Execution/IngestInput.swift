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
                record.headers.append(FuzzHeader(name: CorpusFile.unescaped(Array(name)), value: value))
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
