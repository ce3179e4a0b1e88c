internal import LinkCoordinator
package import StrictJSON

/// A problem in a file with rules for messages: a vendor table, or the rules of link platforms.
package struct RuleFileProblem: Error, Sendable, Equatable {
    /// The kind of a problem.
    package enum Code: String, Sendable, CaseIterable {
        /// The file is not strict JSON.
        case json
        /// The file declares a version of the format that is not supported.
        case version
        /// A member is not part of the format, or not allowed in its context.
        case unknownMember = "unknown_member"
        /// A required member is missing.
        case missingMember = "missing_member"
        /// A value does not have the type of its member.
        case wrongType = "wrong_type"
        /// A value is not valid for its member.
        case badValue = "bad_value"
        /// An id occurs twice.
        case duplicate
        /// A number of items exceeds its limit.
        case tooMany = "too_many"
        /// A message or a link of `examples` does not open what it states.
        case example

        /// A description of what to do.
        package var advice: String {
            switch self {
            case .json: "correct the JSON at this place"
            case .version: "write the file in the version that this program reads"
            case .unknownMember: "remove the member, or correct its name"
            case .missingMember: "add the member"
            case .wrongType: "write a value of the expected type"
            case .badValue: "write a value that the reference of the file allows"
            case .duplicate: "remove one of the two, or give it another name"
            case .tooMany: "remove some, or divide the row into several"
            case .example: "correct the rules, or the expected result of the example"
            }
        }
    }

    /// The kind of the problem.
    package var code: Code
    /// The location of the value at fault.
    package var location: JSONLocation
    /// A description of the expected value.
    package var expected: String
    /// The known name that a misspelled one most likely means, or nil.
    package var nearest: String?

    /// Creates a problem.
    package init(code: Code, location: JSONLocation, expected: String, nearest: String? = nil) {
        self.code = code
        self.location = location
        self.expected = expected
        self.nearest = nearest
    }

    /// Returns a Boolean value that indicates whether links of a scheme are unsafe.
    ///
    /// They run a script, contain a document, open a file of the device or a page of the browser itself, start or
    /// install another app, or begin a call.
    ///
    /// No rule may lead to them.
    static func isUnsafeScheme(_ scheme: String) -> Bool { unsafeSchemes.contains(scheme.lowercased()) }

    private static let unsafeSchemes: Set<String> = [
        "about", "blob", "chrome", "content", "data", "file", "filesystem", "intent", "itms-services", "jar",
        "javascript", "mhtml", "ms-its", "tel", "vbscript", "view-source",
    ]

    /// A description of what to do.
    package var suggestion: String { nearest.map { "did you mean `\($0)`?" } ?? code.advice }
}

/// The problems of a file that is not valid, at least one.
package struct RuleFileFailure: Error, Sendable {
    /// The problems in the order of the file.
    package var problems: [RuleFileProblem]
}

/// The problems of a rule file, collected while it is read, and the checks that all rule files need.
struct RuleFileLog {
    private struct Found {
        var code: RuleFileProblem.Code
        var offset: Int
        /// The name of the member at fault if it is missing in the object at the offset, or nil.
        var missing: String?
        var expected: String
        var nearest: String?
    }

    private let most: Int
    private var found: [Found] = []
    /// A Boolean value that indicates whether a value that is read again is reported only once.
    var reportsOnce = false

    init(most: Int = 100) { self.most = most }

    var isEmpty: Bool { found.isEmpty }

    /// Adds a problem with a value, unless there are very many already.
    mutating func add(
        _ code: RuleFileProblem.Code, at offset: Int, missing: String? = nil, _ expected: String,
        nearest: String? = nil
    ) {
        guard found.count < most else { return }
        if reportsOnce, found.contains(where: { $0.offset == offset && $0.code == code }) { return }
        found.append(Found(code: code, offset: offset, missing: missing, expected: expected, nearest: nearest))
    }

    /// Adds a problem with a member of an object, which may be missing.
    mutating func add(
        _ code: RuleFileProblem.Code, _ name: String, of object: JSONValue, _ expected: String
    ) {
        let member = object[name]
        add(code, at: (member ?? object).offset, missing: member == nil ? name : nil, expected)
    }

    /// Puts the problems in the order of the file.
    mutating func sort() {
        found = found.enumerated().sorted { ($0.element.offset, $0.offset) < ($1.element.offset, $1.offset) }
            .map(\.element)
    }

    /// Returns the problems with their locations.
    func problems(in file: [UInt8]) -> [RuleFileProblem] {
        found.map { one in
            let place = JSONLocation.locate(offset: one.offset, in: file)
            let pointer = place.pointer + (one.missing.map(JSONLocation.step) ?? "")
            return RuleFileProblem(
                code: one.code, location: JSONLocation(line: place.line, column: place.column, pointer: pointer),
                expected: one.expected, nearest: one.nearest)
        }
    }

    /// Returns the text of a file as JSON, or nil if it is not strict JSON.
    mutating func parse(_ file: [UInt8]) -> JSONValue? {
        do throws(JSONError) {
            return try JSONValue.parse(file)
        } catch {
            add(.json, at: error.offset, error.text)
            return nil
        }
    }

    /// Reports unknown members, and returns false if the value is not an object.
    mutating func members(_ value: JSONValue, _ known: [String], _ expected: String) -> Bool {
        guard let object = value.object else {
            add(.wrongType, at: value.offset, expected)
            return false
        }
        for member in object where !known.contains(member.name) {
            add(
                .unknownMember, at: member.value.offset, "expected only the members \(Self.list(known.sorted()))",
                nearest: NearestName.of(member.name, among: known))
        }
        return true
    }

    /// Returns the elements of a list, or nil if there are too many.
    mutating func elements(_ list: [JSONValue], of value: JSONValue, most: Int) -> [JSONValue]? {
        if list.count <= most { return list }
        add(.tooMany, at: value.offset, "expected at most \(most) elements")
        return nil
    }

    /// Reports a value that is not one of these words.
    mutating func refuse(_ value: JSONValue, _ words: [String], _ expected: String) {
        add(
            value.string == nil ? .wrongType : .badValue, at: value.offset, expected,
            nearest: value.string.flatMap { NearestName.of($0, among: words) })
    }

    /// Returns names in quotes.
    static func list(_ names: [String], _ separator: String = ", ") -> String {
        names.map { "`\($0)`" }.joined(separator: separator)
    }

    /// Returns a Boolean value that indicates whether a byte is a lowercase letter, a digit, or a hyphen.
    static func isInID(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") < 10 || byte == UInt8(ascii: "-")
    }
}
