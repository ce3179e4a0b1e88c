import Foundation
import TestSupport
import Testing

/// What `linkd resolve --json` says to real inputs: held against what the samples expect, and against the schema.
@Suite struct DecisionTests {
    /// The lines that `linkd resolve` prints for events, with the tables it ships or with one.
    static func resolve(_ events: [String], table: String? = nil) throws -> [String] {
        let flags = table.map { ["--table", $0] } ?? []
        let result = try ChildProcess.run(
            [BuiltProgram.linkd, "resolve", "--json"] + flags, in: Checkout.root,
            input: events.map { $0 + "\n" }.joined())
        // 65: a dead letter is among them.
        guard result.status == 0 || result.status == 65 else {
            throw ChildProcess.Failure(text: "linkd resolve ended with \(result.status): \(result.errors)")
        }
        return result.output.split(separator: "\n").map(String.init)
    }

    static func members(_ line: String) throws -> [String: Any] {
        try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
    }

    /// Whether a decision has the expected members; null expects that one is absent.
    static func differences(_ expected: [String: Any], _ decision: [String: Any]) -> [String] {
        expected.compactMap { name, value in
            if value is NSNull { return decision[name] == nil ? nil : name }
            guard let found = decision[name] as? NSObject, let wanted = value as? NSObject else { return name }
            return found == wanted ? nil : name
        }
    }

    @Test("The samples become what they say", arguments: Shipped.eventFiles)
    func samples(file: String) throws {
        for sample in try Shipped.samples(file) {
            // What is too late is found out from the record's timestamp, which only the worker has.
            if sample.expected["reason"] as? String == "expired" { continue }
            let lines = try Self.resolve([sample.text])
            let devices = (sample.members["devices"] as? [Any])?.count ?? 1
            #expect(lines.count == devices, "\(sample.name)")
            for line in lines {
                #expect(Self.differences(sample.expected, try Self.members(line)) == [], "\(sample.name): \(line)")
            }
        }
    }

    /// The examples of a table as events, those with an odd fact of a device aside.
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
        "Every decision about samples and about the tables' examples is one of the schema",
        .enabled(if: SchemaValidator.isThere, Comment(rawValue: SchemaValidator.absence)))
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
        #expect(try SchemaValidator.complaints(schema: "decision", about: subjects) == [:])
        let outcomes = Set(try subjects.compactMap { try Self.members($0.text)["outcome"] as? String })
        #expect(outcomes.isSuperset(of: ["navigate", "external", "none", "reject"]))
    }
}
