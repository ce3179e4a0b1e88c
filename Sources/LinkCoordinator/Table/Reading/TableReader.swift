internal import StrictJSON

/// Reads the JSON form of a table into typed values, gathering every problem on the way.
///
/// What does not read is left out, and `damage` says where, so that the checks do not complain of what follows from
/// it. The parts of the format are extensions of this type, a file each.
struct TableReader {
    /// Most elements of one list or members of one object.
    static let maxItems = 100_000

    /// The file.
    let file: [UInt8]

    /// What was found wrong so far.
    var problems = ProblemList()

    /// Texts of `vars` by name.
    var vars: [String: String] = [:]

    /// Names of the vars that were put in somewhere.
    var usedVars: Set<String> = []

    /// Whether `<name>` stands for a var in what is read now.
    var putsVarsIn = false

    /// Whether paths fold ASCII case.
    var foldsPathCase = false

    /// Where each model stands in `models`, and each of its fields in it; set before the routes are read.
    var modelIndices: [String: (index: Int, fields: [String: Int])] = [:]

    /// Which parts did not read whole.
    var damage = TableDamage()
}

/// Which parts of a table did not read whole.
package struct TableDamage: Sendable {
    /// Offsets of the routes that did not.
    package var routes: Set<Int> = []
    /// Whether models did not.
    package var models = false
    /// Whether coordinators did not.
    package var coordinators = false
    /// Whether link blocks did not.
    package var link = false
    /// Whether guards did not.
    package var guards = false
    /// Whether capabilities did not.
    package var capabilities = false
    /// Whether externals did not.
    package var externals = false
    /// Whether some route has no readable id.
    package var routeIDs = false

    /// Whether all read whole that says which links a route takes.
    package var sparesPatterns: Bool { routes.isEmpty && !coordinators && !link && !routeIDs }
}

/// The members of an object whose keys were checked.
struct Members {
    /// The object.
    let value: JSONValue

    /// What the object is, for messages.
    let what: String

    subscript(key: String) -> JSONValue? { value[key] }
}

extension TableReader {
    /// Reads an object with known keys: unknown ones and missing ones are errors; nil if it is no object.
    mutating func object(_ value: JSONValue, _ what: String, _ object: TableObject) -> Members? {
        guard let members = members(value, what) else { return nil }
        let keys = object.keys
        for member in members where !keys.contains(member.name) {
            problems.error(
                .unknownKey, at: member.nameOffset - 1, "unknown key '\(member.name)' in \(what)",
                suggestion: LikelyKeys.advice(member.name, in: value, keys: keys))
        }
        for key in object.required where value[key] == nil {
            problems.error(
                .missingKey, at: value.offset, "\(what) lacks the key '\(key)'", suggestion: "add \"\(key)\": …")
        }
        return Members(value: value, what: what)
    }

    /// The members of an object with free keys; nil if it is no object or has too many.
    mutating func members(_ value: JSONValue, _ what: String) -> [JSONMember]? {
        guard case .object(let members) = value.kind else {
            wrongType(value, what, "an object")
            return nil
        }
        guard members.count <= Self.maxItems else {
            problems.error(.tooLarge, at: value.offset, "\(what) has over \(Self.maxItems) members")
            return nil
        }
        return members
    }

    /// The elements of a list; nil if it is no list or has too many.
    mutating func list(_ value: JSONValue, _ what: String) -> [JSONValue]? {
        guard case .array(let elements) = value.kind else {
            wrongType(value, what, "a list")
            return nil
        }
        guard elements.count <= Self.maxItems else {
            problems.error(.tooLarge, at: value.offset, "\(what) has over \(Self.maxItems) items")
            return nil
        }
        return elements
    }

    /// A text in NFC, vars put in where they stand; nil if it is no text.
    mutating func text(_ value: JSONValue, _ what: String) -> Placed<String>? {
        guard case .string(let raw) = value.kind else {
            wrongType(value, what, "a text")
            return nil
        }
        return Placed(nfc(putsVarsIn ? withVars(raw, value) : raw), at: value.offset)
    }

    /// A text that is not empty.
    mutating func filledText(_ value: JSONValue, _ what: String) -> Placed<String>? {
        guard let text = text(value, what) else { return nil }
        if text.value.isEmpty {
            problems.error(.badValue, at: text.offset, "\(what) must not be empty")
            return nil
        }
        return text
    }

    /// A list of texts, none empty and none twice.
    mutating func texts(_ value: JSONValue, _ what: String) -> [Placed<String>] {
        var seen = Set<String>()
        var read: [Placed<String>] = []
        for element in list(value, what) ?? [] {
            guard let text = filledText(element, "an item of \(what)") else { continue }
            if seen.insert(text.value).inserted {
                read.append(text)
            } else {
                problems.error(.duplicate, at: text.offset, "'\(text.value)' stands twice in \(what)")
            }
        }
        return read
    }

    /// One text or a list of at least one.
    mutating func textOrTexts(_ value: JSONValue, _ what: String) -> [Placed<String>] {
        if case .string = value.kind { return filledText(value, what).map { [$0] } ?? [] }
        guard case .array(let elements) = value.kind else {
            wrongType(value, what, "a text or a list of texts")
            return []
        }
        if elements.isEmpty { problems.error(.badValue, at: value.offset, "\(what) must name at least one") }
        return texts(value, what)
    }

    /// A truth value.
    mutating func bool(_ value: JSONValue?, _ what: String, _ otherwise: Bool) -> Bool {
        guard let value else { return otherwise }
        if case .bool(let read) = value.kind { return read }
        wrongType(value, what, "true or false")
        return otherwise
    }

    /// A whole number within a range.
    mutating func integer(_ value: JSONValue, _ what: String, in range: ClosedRange<Int64>) -> Int64? {
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

    /// One of the words of an enum.
    mutating func choice<Word: RawRepresentable & CaseIterable>(
        _ value: JSONValue?, _ what: String, _ otherwise: Word
    ) -> Word where Word.RawValue == String {
        guard let value else { return otherwise }
        guard let text = text(value, what) else { return otherwise }
        if let word = Word(rawValue: text.value) { return word }
        badWord(text, what, Word.allCases.map(\.rawValue))
        return otherwise
    }

    /// Complains of a word that is none of those known.
    mutating func badWord(_ text: Placed<String>, _ what: String, _ words: [String]) {
        problems.error(
            .badValue, at: text.offset, "\(what) does not take '\(text.value)'",
            suggestion: NearestName.of(text.value, among: words).map { "did you mean '\($0)'?" }
                ?? "use \(words.map { "'\($0)'" }.joined(separator: ", "))")
    }

    /// Complains of a value's type.
    mutating func wrongType(_ value: JSONValue, _ what: String, _ wanted: String, suggestion: String? = nil) {
        problems.error(
            .wrongType, at: value.offset, "\(what) must be \(wanted), not \(value.typeText)",
            suggestion: suggestion ?? value.advice(wanting: wanted))
    }

    /// A name under a rule; complained of, but kept, if it breaks it.
    mutating func name(_ text: String, at offset: Int, _ what: String, _ rule: NameRule, reserves: Bool = false) {
        if !rule.takes(text) {
            problems.error(
                .badName, at: offset, "'\(text)' is no name of \(what)", suggestion: "a name is \(rule.text)")
        } else if reserves, NameRule.isReserved(text) {
            problems.error(.reservedName, at: offset, "the name '\(text)' is reserved and cannot be \(what)'s")
        }
    }

    /// Complains of a text that does not read, at the byte where it does not.
    ///
    /// - Parameter role: The place of the text, if it is a path; where the error says nothing of what to do, the right
    ///   form of the whole is told.
    mutating func complain(
        _ error: TextError, in text: Placed<String>, _ code: TableProblem.Code, _ role: PathText.Role? = nil
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
        problems.error(
            own, at: place(error.offset, in: text), error.message, suggestion: error.suggestion ?? path?.advice)
    }

    /// The offset in the file of a byte of a text: exact where the text stands there as it was read.
    func place(_ offset: Int, in text: Placed<String>) -> Int {
        let start = text.offset + 1
        let bytes = text.value.utf8
        let isExact = start + bytes.count < file.count && file[start..<(start + bytes.count)].elementsEqual(bytes)
        return isExact ? start + min(offset, bytes.count) : text.offset
    }

    /// The text with each `<name>` replaced by its var.
    private mutating func withVars(_ text: String, _ value: JSONValue) -> String {
        guard text.utf8.contains(UInt8(ascii: "<")) else { return text }
        var out = ""
        var reader = TextReader(text)
        while !reader.isAtEnd {
            out += reader.text(until: "<")
            guard reader.take("<") else { break }
            let back = reader
            let name = String(decoding: reader.run(while: NameRule.identifier.continues), as: UTF8.self)
            guard NameRule.identifier.takes(name), reader.take(">") else {
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
                    .unknownVar, at: value.offset, "there is no var '\(name)'",
                    suggestion: NearestName.of(name, among: vars.keys).map { "did you mean '\($0)'?" }
                        ?? "add it to \"vars\"; a capture is written '{\(CaptureNames.allowed(name))}'")
            }
        }
        return out
    }
}
