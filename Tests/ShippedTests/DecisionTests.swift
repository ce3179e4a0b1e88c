import Foundation
import TestSupport
import Testing

/// The decisions of `linkd resolve --json`, compared with the expectations in the samples and with the schema.
@Suite struct DecisionTests {
    /// Returns the lines that `linkd resolve` prints for events, with the shipped tables or with one table.
    static func resolve(_ events: [String], table: String? = nil) throws -> [String] {
        let flags = table.map { ["--table", $0] } ?? []
        let result = try ChildProcess.run(
            [BuiltProgram.linkd, "resolve", "--json"] + flags, in: Checkout.root,
            input: events.map { $0 + "\n" }.joined())
        // The exit code is 65 if there is a dead letter.
        guard result.status == 0 || result.status == 65 else {
            throw ChildProcess.Failure(text: "linkd resolve ended with \(result.status): \(result.errors)")
        }
        return result.output.split(separator: "\n").map(String.init)
    }

    static func members(_ line: String) throws -> [String: Any] {
        try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
    }

    /// Returns the differences between a decision and the expected members.
    ///
    /// An expected null means an absent member.
    static func differences(_ expected: [String: Any], _ decision: [String: Any]) -> [String] {
        expected.compactMap { name, value in
            if value is NSNull { return decision[name] == nil ? nil : name }
            guard let found = decision[name] as? NSObject, let expectedValue = value as? NSObject else { return name }
            return found == expectedValue ? nil : name
        }
    }

    @Test("Each sample has the expected decision", arguments: Shipped.eventFiles)
    func samples(file: String) throws {
        for sample in try Shipped.samples(file) {
            // Expiry depends on the timestamp of a record, which only a worker has.
            if sample.expected["reason"] as? String == "expired" { continue }
            let lines = try Self.resolve([sample.text])
            let devices = (sample.members["devices"] as? [Any])?.count ?? 1
            #expect(lines.count == devices, "\(sample.name)")
            for line in lines {
                #expect(Self.differences(sample.expected, try Self.members(line)) == [], "\(sample.name): \(line)")
            }
        }
    }

    /// Returns the examples of a table as events.
    static func examples(of table: Checkout.File) throws -> [String] {
        let examples = try members(table.text ?? "")["examples"] as? [[String: Any]] ?? []
        return try examples.map { example in
            var event = example["request"] as? [String: Any] ?? [:]
            if let link = example["link"] { event["link"] = link }
            event["device"] = (example["device"] as? [String: Any] ?? [:]).merging(["id": "d-1"]) { $1 }
            let text = try JSONSerialization.data(withJSONObject: event, options: [.withoutEscapingSlashes])
            return String(decoding: text, as: UTF8.self)
        }
    }

    @Test(
        "Every decision for samples and examples of tables matches the schema",
        .enabled(if: SchemaValidator.isAvailable, Comment(rawValue: SchemaValidator.unavailableReason)))
    func decisionsFitTheSchema() throws {
        var subjects: [SchemaValidator.Subject] = []
        for file in Shipped.eventFiles {
            for line in try Self.resolve(Shipped.samples(file).map(\.text)) {
                subjects.append(SchemaValidator.Subject(name: "\(file): \(line)", text: line))
            }
        }
        for table in try Shipped.tables() {
            let examples = try Self.examples(of: table)
            let lines = try Self.resolve(examples, table: table.path)
            #expect(lines.count == examples.count, "\(table.path)")
            subjects += lines.map { SchemaValidator.Subject(name: "\(table.path): \($0)", text: $0) }
        }
        #expect(subjects.count > 100)
        #expect(try SchemaValidator.errors(schema: "decision", in: subjects) == [:])
        let outcomes = Set(try subjects.compactMap { try Self.members($0.text)["outcome"] as? String })
        #expect(outcomes.isSuperset(of: ["navigate", "external", "none", "reject"]))
    }
}
