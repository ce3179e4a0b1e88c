package import StrictJSON

/// Reads the JSON form of a table into typed values and collects all problems.
///
/// Values that cannot be read are left out and recorded in `damage`, so that the checks do not report their
/// consequences. The parts of the format are extensions of this type, one file each. Files about a table, such as its
/// properties, are read with it too.
package struct TableReader {
    /// The maximum number of elements of a list or members of an object.
    static let maxItems = 100_000

    /// The bytes of the file.
    let file: [UInt8]

    /// The schema versions that are supported.
    var versions = SchemaVersions.current

    /// The schema version that the table declares, and the parts for which it matters.
    var schema = TableSchema()

    /// A Boolean value that indicates whether the table declares a newer schema version than is supported.
    var isNewer = false

    /// The problems that have been found.
    package var problems = ProblemList()

    /// The texts of `vars` by name.
    var vars: [String: String] = [:]

    /// The names of the vars that were used.
    var usedVars: Set<String> = []

    /// A Boolean value that indicates whether `<name>` is replaced by a var in the current part.
    package var replacesVars = false

    /// A Boolean value that indicates whether paths ignore ASCII case.
    var foldsPathCase = false

    /// The index of each model and of each of its fields, which is set before the routes are read.
    var modelIndices: [String: (index: Int, fields: [String: Int])] = [:]

    /// The parts that could not be read completely.
    var damage = TableDamage()
}

/// The parts of a table that could not be read completely.
package struct TableDamage: Sendable {
    /// The offsets of the affected routes.
    package var routes: Set<Int> = []
    /// A Boolean value that indicates whether models are affected.
    package var models = false
    /// A Boolean value that indicates whether coordinators are affected.
    package var coordinators = false
    /// A Boolean value that indicates whether link blocks are affected.
    package var link = false
    /// A Boolean value that indicates whether guards are affected.
    package var guards = false
    /// A Boolean value that indicates whether capabilities are affected.
    package var capabilities = false
    /// A Boolean value that indicates whether externals are affected.
    package var externals = false
    /// A Boolean value that indicates whether a route has no readable id.
    package var routeIDs = false

    /// A Boolean value that indicates whether all parts that determine the links of each route were read completely.
    package var hasAllPatterns: Bool { routes.isEmpty && !coordinators && !link && !routeIDs }
}

/// The members of an object whose keys were checked.
package struct Members {
    /// The object.
    package let value: JSONValue

    /// The description of the object, for messages.
    let what: String

    /// Returns the value of a key, or nil if the object does not have it.
    package subscript(key: String) -> JSONValue? { value[key] }
}

extension TableReader {
    /// Creates a reader of another file about a table.
    package init(file: [UInt8], about table: TableSource, advisor: ProblemList.Advisor?) {
        self.init(file: file, problems: ProblemList(advisor), foldsPathCase: table.foldsPathCase)
        for one in table.vars { vars[one.name.value] = one.text }
    }

    /// Reads an object of a table, and reports unknown and missing keys.
    ///
    /// Returns nil for any other value.
    mutating func object(_ value: JSONValue, _ what: String, _ object: TableObject) -> Members? {
        self.object(
            value, what, keys: object.keys, required: object.required, newer: versions.newerKeys(of: object))
    }

    /// Reads an object with known keys, and reports unknown and missing keys.
    ///
    /// Returns nil for any other value.
    package mutating func object(
        _ value: JSONValue, _ what: String, keys: [String], required: [String] = [], newer: [String: Int] = [:]
    ) -> Members? {
        guard let members = members(value, what) else { return nil }
        for member in members {
            if keys.contains(member.name) {
                if !newer.isEmpty, let version = newer[member.name] { noteKey(member, in: what, version: version) }
                continue
            }
            noteKey(member, in: what, version: nil)
            problems.error(
                .unknownKey, at: member.nameOffset - 1, "unknown key `\(member.name)` in \(what)",
                suggestion: TableHint.use(keys),
                hints: [.key(member.name, known: keys, unused: keys.filter { value[$0] == nil })])
        }
        for key in required where value[key] == nil {
            problems.error(
                .missingKey, at: value.offset, "\(what) needs the key `\(key)`", suggestion: "add \"\(key)\": …")
        }
        return Members(value: value, what: what)
    }

    /// Records a key that is newer than the oldest version, or that the object does not have.
    private mutating func noteKey(_ member: JSONMember, in what: String, version: Int?) {
        schema.add(
            SchemaUse(
                part: "the key `\(member.name)` in \(what)", code: .unknownKey, offset: member.nameOffset - 1,
                version: version))
    }

    /// Returns the members of an object with any keys, or nil for another value or for too many members.
    mutating func members(_ value: JSONValue, _ what: String) -> [JSONMember]? {
        guard case .object(let members) = value.kind else {
            wrongType(value, what, "an object")
            return nil
        }
        guard members.count <= Self.maxItems else {
            problems.error(
                .tooLarge, at: value.offset, "\(what) has \(members.count) members, the limit is \(Self.maxItems)")
            return nil
        }
        return members
    }

    /// Returns the elements of a list, or nil for another value or for too many elements.
    package mutating func list(_ value: JSONValue, _ what: String) -> [JSONValue]? {
        guard case .array(let elements) = value.kind else {
            wrongType(value, what, "a list")
            return nil
        }
        guard elements.count <= Self.maxItems else {
            problems.error(
                .tooLarge, at: value.offset, "\(what) has \(elements.count) items, the limit is \(Self.maxItems)")
            return nil
        }
        return elements
    }

    /// Returns a text in NFC with vars replaced, or nil for another value.
    mutating func text(_ value: JSONValue, _ what: String) -> Located<String>? {
        guard case .string(let raw) = value.kind else {
            wrongType(value, what, "a string")
            return nil
        }
        return Located(nfc(replacesVars ? withVars(raw, value) : raw), at: value.offset)
    }

    /// Returns a text that must not be empty, or nil.
    package mutating func nonemptyText(_ value: JSONValue, _ what: String) -> Located<String>? {
        guard let text = text(value, what) else { return nil }
        if text.value.isEmpty {
            problems.error(.badValue, at: text.offset, "\(what) must not be empty")
            return nil
        }
        return text
    }

    /// Returns a list of nonempty and unique texts.
    mutating func texts(_ value: JSONValue, _ what: String) -> [Located<String>] {
        var seen = Set<String>()
        var read: [Located<String>] = []
        for element in list(value, what) ?? [] {
            guard let text = nonemptyText(element, "an item of \(what)") else { continue }
            if seen.insert(text.value).inserted {
                read.append(text)
            } else {
                problems.error(.duplicate, at: text.offset, "`\(text.value)` occurs twice in \(what)")
            }
        }
        return read
    }

    /// Returns one text or a list of at least one text.
    package mutating func textOrTexts(_ value: JSONValue, _ what: String) -> [Located<String>] {
        if case .string = value.kind { return nonemptyText(value, what).map { [$0] } ?? [] }
        guard case .array(let elements) = value.kind else {
            wrongType(value, what, "a string or a list of strings")
            return []
        }
        if elements.isEmpty { problems.error(.badValue, at: value.offset, "\(what) must have at least one value") }
        return texts(value, what)
    }

    /// Returns a Boolean value, or `otherwise` if it is absent or of another type.
    mutating func bool(_ value: JSONValue?, _ what: String, _ otherwise: Bool) -> Bool {
        guard let value else { return otherwise }
        if case .bool(let read) = value.kind { return read }
        wrongType(value, what, "true or false")
        return otherwise
    }

    /// Returns an integer in a range, or nil.
    package mutating func integer(_ value: JSONValue, _ what: String, in range: ClosedRange<Int64>) -> Int64? {
        guard case .number(let text) = value.kind else {
            wrongType(value, what, "a number")
            return nil
        }
        guard let number = Int64(text), range.contains(number) else {
            problems.error(
                .badValue, at: value.offset,
                "\(what) must be "
                    + (range.count == 1
                        ? "\(range.lowerBound)" : "a whole number from \(range.lowerBound) to \(range.upperBound)"))
            return nil
        }
        return number
    }

    /// Returns one of the words of an enumeration, or `otherwise` if the value is absent or invalid.
    mutating func choice<Word: RawRepresentable & CaseIterable>(
        _ value: JSONValue?, _ what: String, _ otherwise: Word
    ) -> Word where Word.RawValue == String {
        guard let value else { return otherwise }
        guard let text = text(value, what) else { return otherwise }
        if let word = Word(rawValue: text.value) { return word }
        badWord(text, what, Word.allCases.map(\.rawValue))
        return otherwise
    }

    /// Reports an unknown word.
    package mutating func badWord(_ text: Located<String>, _ what: String, _ words: [String]) {
        problems.error(
            .badValue, at: text.offset, "`\(text.value)` is not a valid value of \(what)",
            suggestion: TableHint.use(words), hints: [.word(text.value, known: words)])
    }

    /// Reports a value of the wrong type.
    mutating func wrongType(_ value: JSONValue, _ what: String, _ expected: String, suggestion: String? = nil) {
        problems.error(
            .wrongType, at: value.offset, "\(what) must be \(expected), not \(value.found.type)",
            suggestion: suggestion,
            hints: suggestion == nil
                ? [.value(type: value.found.type, text: value.found.text, expected: expected)] : [])
    }

    /// Checks a name, and reports one that violates the rule or is reserved.
    ///
    /// The caller uses the name even if it is invalid.
    package mutating func name(_ text: String, at offset: Int, _ what: String, _ rule: NameRule, reserves: Bool = false)
    {
        if !rule.matches(text) {
            problems.error(
                .badName, at: offset, "`\(text)` is not a valid name for \(what)", suggestion: "use \(rule.text)")
        } else if reserves, NameRule.isReserved(text) {
            problems.error(
                .reservedName, at: offset, "the name `\(text)` is reserved and cannot be used for \(what)",
                suggestion: NameRule.reservedAdvice)
        }
    }

    /// Reports a malformed text at the position of the error.
    ///
    /// - Parameters:
    ///   - error: The error of the text.
    ///   - text: The text.
    ///   - code: The code for a syntax error.
    ///   - role: The role of the text if it is a path. The correct form of the whole path can be suggested, unless the
    ///     error has a suggestion.
    mutating func reportTextError(
        _ error: TextError, in text: Located<String>, _ code: TableProblem.Code, _ role: PathText.Role? = nil
    ) {
        let path = role.map { PathText(text: text.value, role: $0, foldsCase: foldsPathCase) }
        let own: TableProblem.Code =
            switch error.kind {
            case .syntax: code
            case .tailPosition: .tailPosition
            case .name: .badName
            case .reservedName: .reservedName
            case .duplicate: .duplicate
            }
        let advice = error.kind == .reservedName ? NameRule.reservedAdvice : nil
        problems.error(
            own, at: fileOffset(of: error.offset, in: text), error.message,
            suggestion: error.suggestion ?? advice,
            hints: error.hints + (error.suggestion == nil ? path.map { [.path($0)] } ?? [] : []))
    }

    /// Returns the offset in the file of a byte of a text.
    ///
    /// It is exact if the file contains the text without escapes and vars. Otherwise, it is the offset of the text.
    func fileOffset(of offset: Int, in text: Located<String>) -> Int {
        let start = text.offset + 1
        let bytes = text.value.utf8
        let isExact = start + bytes.count < file.count && file[start..<(start + bytes.count)].elementsEqual(bytes)
        return isExact ? start + min(offset, bytes.count) : text.offset
    }

    /// Returns the text with each `<name>` replaced by its var.
    private mutating func withVars(_ text: String, _ value: JSONValue) -> String {
        guard text.utf8.contains(UInt8(ascii: "<")) else { return text }
        var out = ""
        var reader = TextReader(text)
        while !reader.isAtEnd {
            out += reader.text(until: "<")
            guard reader.take("<") else { break }
            let back = reader
            let name = String(decoding: reader.run(while: NameRule.identifier.continues), as: UTF8.self)
            guard NameRule.identifier.matches(name), reader.take(">") else {
                out += "<"
                reader = back
                continue
            }
            if let known = vars[name] {
                out += known
                usedVars.insert(name)
            } else {
                out += "<\(name)>"
                problems.error(
                    .unknownVar, at: value.offset, "there is no var `\(name)`",
                    hints: [.variable(name, known: Array(vars.keys))])
            }
        }
        return out
    }
}

extension JSONValue {
    /// The type of the value in words, and its text or the number of its items.
    fileprivate var found: (type: String, text: String) {
        switch kind {
        case .string(let text): ("a string", text)
        case .number(let text): ("a number", text)
        case .bool(let truth): (truth ? "true" : "false", "")
        case .null: ("null", "")
        case .array(let elements): ("a list", String(elements.count))
        case .object: ("an object", "")
        }
    }
}
