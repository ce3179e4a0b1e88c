internal import LinkCoordinator
internal import StrictJSON

/// A reader of the file `vendors.json`, which collects all problems.
///
/// Invalid values are left out.
struct VendorTableReader {
    /// The limits of a table.
    static let mostVendors = 256
    static let mostForms = 16
    /// The limit of sources, examples, notes of an example, texts of `equals`, and names of platforms.
    static let mostItems = 64
    /// The limit of lists in rules, conditions in a list, places of a link, and pointers of a key.
    static let mostParts = 16
    static let mostButtons = 8
    static let mostEmbedded = 8
    static let mostPrefixBytes = 64
    static let mostNameBytes = 128
    static let mostSourceBytes = 512
    /// The limit of the texts of `wrapped`.
    static let mostWordBytes = 64
    /// The limit of the first number of numbered buttons.
    static let mostFirstNumber: Int64 = 999
    static let mostProblems = 100

    private struct Found {
        var code: RuleFileProblem.Code
        var offset: Int
        var expected: String
        var nearest: String?
    }

    private let file: [UInt8]
    private var found: [Found] = []
    /// The number that replaces `{N}` in pointers, or nil.
    var number: Int?
    /// The kinds of envelopes of all forms so far, and those of this program.
    var envelopes: Set<String> = [
        "native", "url", "apns", "fcm", "web_push", "cloudevents", "vendor_map", "map",
    ]

    private init(_ file: [UInt8]) { self.file = file }

    /// Reads a table.
    static func read(_ file: [UInt8]) throws(RuleFileFailure) -> [VendorSource] {
        var reader = VendorTableReader(file)
        var vendors: [VendorSource] = []
        do throws(JSONError) {
            vendors = reader.vendors(try JSONValue.parse(file))
        } catch {
            reader.add(.json, error.offset, error.text)
        }
        if reader.found.isEmpty { return vendors }
        throw RuleFileFailure(problems: reader.problems)
    }

    /// The problems in the order of the file.
    private var problems: [RuleFileProblem] {
        found.enumerated().sorted { ($0.element.offset, $0.offset) < ($1.element.offset, $1.offset) }.map { item in
            RuleFileProblem(
                code: item.element.code, location: JSONLocation.locate(offset: item.element.offset, in: file),
                expected: item.element.expected, nearest: item.element.nearest)
        }
    }

    /// Adds a problem, unless there are very many already.
    mutating func add(
        _ code: RuleFileProblem.Code, _ offset: Int, _ expected: String, nearest: String? = nil
    ) {
        guard found.count < Self.mostProblems else { return }
        // The descriptions of numbered buttons are read once per number.
        if number != nil, found.contains(where: { $0.offset == offset && $0.code == code }) { return }
        found.append(Found(code: code, offset: offset, expected: expected, nearest: nearest))
    }

    private mutating func vendors(_ value: JSONValue) -> [VendorSource] {
        guard members(value, "the table", required: ["schemaVersion", "vendors"], optional: ["$schema"]) else {
            return []
        }
        if let version = value["schemaVersion"], version.integer != 1 {
            add(.version, version.offset, "expected the version 1")
        }
        var vendors: [VendorSource] = []
        for item in items(value["vendors"], "vendors", most: Self.mostVendors) {
            guard let vendor = vendor(item) else { continue }
            if vendors.contains(where: { $0.id == vendor.id }) {
                add(.duplicate, item["id"]?.offset ?? item.offset, "expected an id that no other vendor has")
            }
            vendors.append(vendor)
        }
        return vendors
    }

    private mutating func vendor(_ value: JSONValue) -> VendorSource? {
        let required = ["id", "name", "sources", "forms", "examples"]
        guard members(value, "a vendor", required: required) else { return nil }
        let id = name(value["id"], "expected an id of 1 to 32 characters: a-z, 0-9, and -") {
            Self.isLowercase($0) || Self.isDigit($0) || $0 == UInt8(ascii: "-")
        }
        let name = text(value["name"], bytes: 1...Self.mostNameBytes)
        let sources = items(value["sources"], "sources").compactMap { text($0, bytes: 1...Self.mostSourceBytes) }
        let forms = items(value["forms"], "forms", most: Self.mostForms).compactMap { form($0) }
        if value["forms"]?.array?.isEmpty == true {
            add(.badValue, value["forms"]?.offset ?? 0, "expected at least one form")
        }
        let examples = items(value["examples"], "examples")
        for example in examples { checkExample(example) }
        guard let id, let name else { return nil }
        return VendorSource(id: id, name: name, sources: sources, forms: forms, examples: examples)
    }

    // MARK: Values

    /// Reports unknown and missing members, and returns false if the value is not an object.
    mutating func members(
        _ value: JSONValue, _ description: String, required: [String], optional: [String] = []
    ) -> Bool {
        guard let object = value.object else {
            add(.wrongType, value.offset, "expected \(description) to be an object")
            return false
        }
        let known = required + optional
        for member in object where !known.contains(member.name) {
            let names = known.sorted().map { "`\($0)`" }.joined(separator: ", ")
            add(
                .unknownMember, member.value.offset, "expected only the members \(names)",
                nearest: NearestName.of(member.name, among: known))
        }
        for name in required where value[name] == nil {
            add(.missingMember, value.offset, "expected the member `\(name)`")
        }
        return true
    }

    /// Returns the elements of an array, or none if the member is absent.
    mutating func items(
        _ value: JSONValue?, _ name: String, fewest: Int = 0, most: Int = Self.mostItems
    ) -> [JSONValue] {
        guard let value else { return [] }
        guard let items = value.array else {
            add(.wrongType, value.offset, "expected `\(name)` to be an array")
            return []
        }
        if items.count > most {
            add(.tooMany, value.offset, "expected at most \(most) elements")
            return []
        }
        if items.count < fewest {
            add(.badValue, value.offset, "expected at least \(fewest) \(fewest == 1 ? "element" : "elements")")
        }
        return items
    }

    /// Returns a string with a length in a range.
    mutating func text(_ value: JSONValue?, bytes: ClosedRange<Int>) -> String? {
        guard let value else { return nil }
        guard let text = value.string else {
            add(.wrongType, value.offset, "expected a string")
            return nil
        }
        guard bytes.contains(text.utf8.count) else {
            add(.badValue, value.offset, "expected \(bytes.lowerBound) to \(bytes.upperBound) bytes")
            return nil
        }
        return text
    }

    /// Returns a string of 1 to 32 allowed characters.
    mutating func name(_ value: JSONValue?, _ expected: String, isAllowed: (UInt8) -> Bool) -> String? {
        guard let value else { return nil }
        guard let text = value.string, (1...32).contains(text.utf8.count), text.utf8.allSatisfy(isAllowed) else {
            add(value.string == nil ? .wrongType : .badValue, value.offset, expected)
            return nil
        }
        return text
    }

    static func isLowercase(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "a") < 26 }
    static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    mutating func bool(_ value: JSONValue) -> Bool? {
        if case .bool(let flag) = value.kind { return flag }
        add(.wrongType, value.offset, "expected true or false")
        return nil
    }

    /// Returns a pointer, with the number of the button in place of `{N}`.
    mutating func pointer(_ value: JSONValue?) -> VendorPointer? {
        guard let value else { return nil }
        guard let text = value.string else {
            add(.wrongType, value.offset, "expected a JSON pointer")
            return nil
        }
        if number == nil, text.contains(Self.placeholder) {
            add(.badValue, value.offset, "expected `{N}` only in numbered buttons")
            return nil
        }
        guard let pointer = VendorPointer(number.map { Self.replace(text, number: $0) } ?? text) else {
            add(
                .badValue, value.offset,
                "expected a JSON pointer with 1 to \(VendorPointer.mostSegments) segments and at most "
                    + "\(VendorPointer.mostBytes) bytes")
            return nil
        }
        return pointer
    }

    mutating func pointers(_ value: JSONValue?, _ name: String, most: Int = Self.mostParts) -> [VendorPointer] {
        items(value, name, most: most).compactMap { pointer($0) }
    }

    /// The text that the number of a button replaces.
    static let placeholder = "{N}"

    /// Replaces each `{N}` in a text by a number.
    private static func replace(_ text: String, number: Int) -> String {
        var bytes: [UInt8] = []
        let all = Array(text.utf8)
        var index = 0
        while index < all.count {
            if all[index...].starts(with: "{N}".utf8) {
                bytes += Array("\(number)".utf8)
                index += 3
            } else {
                bytes.append(all[index])
                index += 1
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
