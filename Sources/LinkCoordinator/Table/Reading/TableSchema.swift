internal import StrictJSON

/// A use of a part that is newer than the oldest schema version, or that the library does not know.
package struct SchemaUse: Sendable {
    /// The description of the part, as in "the key `x` in a route".
    let part: String
    /// The code of the problem if the library does not know the part.
    let code: TableProblem.Code
    /// The byte offset in the file.
    let offset: Int
    /// The version that introduced the part, or nil if the library has no such part.
    let version: Int?
}

/// The schema version that a table declares, and the parts for which it matters.
package struct TableSchema: Sendable {
    /// The declared version, or nil if it is missing or invalid.
    package var declared: Int?

    /// The byte offset of the declared version.
    package var offset = 0

    /// The uses of newer and unknown parts, in the order in which they were read.
    ///
    /// The list has at most one use more for each version than problems are reported, so a large file needs little
    /// memory.
    package private(set) var uses: [SchemaUse] = []

    /// The number of uses by version, with 0 for unknown parts.
    private var counts: [Int: Int] = [:]

    /// Adds a use, unless there are enough of its version.
    mutating func add(_ use: SchemaUse) {
        let count = counts[use.version ?? 0, default: 0]
        // One more than is reported shows that the list of problems is truncated.
        if count > ProblemList.maxCount { return }
        counts[use.version ?? 0] = count + 1
        uses.append(use)
    }

    /// Adds the problems of the table's version to the problems that the reader found.
    func check(_ versions: SchemaVersions, into problems: inout ProblemList) {
        guard let declared else { return }
        if declared > versions.newest {
            problems = unsupported(declared, versions)
            return
        }
        for use in uses {
            guard let version = use.version else { continue }
            if version > versions.newest {
                problems.error(use.code, at: use.offset, "this release does not know \(use.part)")
            } else if version > declared {
                problems.error(
                    .needsSchemaVersion, at: use.offset,
                    "\(use.part) needs schemaVersion \(version), but the table declares \(declared)",
                    suggestion: "write \"schemaVersion\": \(version) when all apps that read the table support it",
                    schemaVersion: version)
            }
        }
    }

    /// Returns the problems of a table that declares a newer version than is supported: the version, and the unknown
    /// parts.
    ///
    /// All other problems are left out, because they are probably only consequences.
    private func unsupported(_ declared: Int, _ versions: SchemaVersions) -> ProblemList {
        var problems = ProblemList()
        let advice = "use a release that supports schemaVersion \(declared)"
        problems.error(
            .unsupportedSchemaVersion, at: offset,
            "the table declares schemaVersion \(declared), but this release supports the versions "
                + "\(SchemaVersions.oldest) to \(versions.newest)",
            suggestion: advice, schemaVersion: declared)
        for use in uses where (use.version ?? .max) > versions.newest {
            problems.error(
                use.code, at: use.offset, "this release does not know \(use.part)", suggestion: advice,
                schemaVersion: declared)
        }
        return problems
    }

    /// Returns the problems that a library has with the table if `newest` is the newest version that it supports.
    ///
    /// The problems that this library has with the table are not included.
    package func problems(for newest: Int, _ versions: SchemaVersions = .current) -> ProblemList {
        var problems = ProblemList()
        let declared = declared ?? versions.newest
        if declared > versions.newest { return problems }
        let newer = uses.filter { use in use.version.map { $0 > newest } ?? false }
        if declared > newest {
            let needed = newer.compactMap(\.version).max()
            problems.error(
                .unsupportedSchemaVersion, at: offset,
                "the table declares schemaVersion \(declared), but the check is for schemaVersion \(newest)",
                suggestion: needed == nil
                    ? "write \"schemaVersion\": \(newest), because the table uses no newer key or type"
                    : "remove the newer keys and types, or update the apps before the table",
                schemaVersion: declared)
        }
        for use in newer where use.version ?? 0 <= declared {
            problems.error(
                .needsSchemaVersion, at: use.offset,
                "\(use.part) needs schemaVersion \(use.version ?? 0), but the check is for schemaVersion \(newest)",
                suggestion: "remove it, or update the apps before the table", schemaVersion: use.version)
        }
        return problems
    }
}

/// A part of the table format that a schema version introduces.
package enum SchemaPart: Sendable, Hashable {
    /// A key of an object.
    case key(String, of: TableObject)
    /// The type of a field of a model.
    case fieldType(String)
    /// The type of a capture in a pattern.
    case captureType(String)
}

/// The schema versions that the library supports, with the version that introduced each part of the format.
///
/// See RouteTableReference, "Schema versions".
package struct SchemaVersions: Sendable {
    /// The oldest version.
    package static let oldest = 1

    /// The versions of this library.
    ///
    /// A part that is not listed belongs to the oldest version. A new key or type is listed here with a version that no
    /// release supports yet.
    package static let current = SchemaVersions(
        newest: 2, introduced: [.fieldType("decimal"): 2, .fieldType("datetime"): 2])

    /// The newest version.
    package let newest: Int

    /// The version of each part that is newer than the oldest version.
    package let introduced: [SchemaPart: Int]

    /// The versions of keys, by the raw value of their object.
    private let keys: [[String: Int]]

    /// A Boolean value that indicates whether a capture type is newer than the oldest version.
    let hasCaptureTypes: Bool

    /// Creates a list of versions.
    ///
    /// A lower `newest` with the same parts describes an older library: it does not know the newer parts.
    package init(newest: Int, introduced: [SchemaPart: Int]) {
        self.newest = newest
        self.introduced = introduced
        var keys = [[String: Int]](repeating: [:], count: TableObject.allCases.count)
        for case (.key(let key, let object), let version) in introduced { keys[object.rawValue][key] = version }
        self.keys = keys
        hasCaptureTypes = introduced.keys.contains { if case .captureType = $0 { true } else { false } }
    }

    /// All versions, from the oldest to the newest.
    package var supported: ClosedRange<Int> { Self.oldest...newest }

    /// Returns the version that introduced a part.
    package func version(of part: SchemaPart) -> Int { introduced[part] ?? Self.oldest }

    /// Returns the versions of the keys of an object that are newer than the oldest version.
    func newerKeys(of object: TableObject) -> [String: Int] { keys[object.rawValue] }
}

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
