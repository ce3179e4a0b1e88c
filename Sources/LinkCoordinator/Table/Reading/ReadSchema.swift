internal import StrictJSON

extension TableReader {
    /// Reads `schemaVersion`.
    mutating func schemaVersion(_ value: JSONValue) {
        guard case .number(let text) = value.kind else {
            wrongType(value, "schemaVersion", "a number")
            return
        }
        guard let version = Int(text), version >= SchemaVersions.oldest else {
            let range = versions.supported
            problems.error(
                .badValue, at: value.offset,
                "schemaVersion must be a whole number from \(range.lowerBound) to \(range.upperBound)")
            return
        }
        schema.declared = version
        schema.offset = value.offset
        isNewer = version > versions.newest
    }

    /// Records the newer and unknown types in the type of a field.
    mutating func noteFieldTypes(_ text: Located<String>) {
        var reader = TextReader(text.value)
        var isList = false
        repeat {
            let start = reader.at
            let name = reader.typeName()
            noteType(
                "the field type `\(name.isEmpty ? text.value : name)`", .fieldType(name),
                isKnown: FieldTypeParser.names.contains(name), .badType, at: start, in: text)
            isList = name == "list" && reader.take("<")
        } while isList
    }

    /// Records the newer and unknown types of the captures in a pattern.
    mutating func noteCaptureTypes(_ text: Located<String>) {
        guard isNewer || versions.hasCaptureTypes else { return }
        var reader = TextReader(text.value)
        while !reader.isAtEnd {
            _ = reader.text(until: "{")
            guard reader.take("{") else { return }
            let name = reader.run(while: NameRule.identifier.continues)
            guard !name.isEmpty, reader.take(":") else { continue }
            let start = reader.at
            let type = reader.typeName()
            // A class such as `[a-z]{1,8}` has no name.
            if type.isEmpty { continue }
            noteType(
                "the capture type `\(type)`", .captureType(type), isKnown: CaptureType.names.contains(type),
                .badPattern, at: start, in: text)
        }
    }

    private mutating func noteType(
        _ text: @autoclosure () -> String, _ part: SchemaPart, isKnown: Bool, _ code: TableProblem.Code,
        at offset: Int, in whole: Located<String>
    ) {
        let version = isKnown ? versions.version(of: part) : nil
        if version == SchemaVersions.oldest { return }
        schema.add(
            SchemaUse(part: text(), code: code, offset: fileOffset(of: offset, in: whole), version: version))
    }
}

extension TextReader {
    /// Reads the name of a type, which consists of letters.
    fileprivate mutating func typeName() -> String {
        String(decoding: run { ($0 | 0x20) &- UInt8(ascii: "a") < 26 }, as: UTF8.self)
    }
}
