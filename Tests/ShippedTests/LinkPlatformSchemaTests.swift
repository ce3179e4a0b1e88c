import Foundation
import LinkIngest
import TestSupport
import Testing

/// The schema of link platforms, checked with an independent validator.
@Suite(.enabled(if: SchemaValidator.isAvailable, Comment(rawValue: SchemaValidator.unavailableReason)))
struct LinkPlatformSchemaTests {
    private static func text(_ path: String) throws -> String {
        try String(contentsOf: Checkout.root.appending(path: path), encoding: .utf8)
    }

    @Test("The shipped rules of link platforms match their schema")
    func rules() throws {
        let file = SchemaValidator.Subject(name: "rules", text: try Self.text("config/link-platforms.json"))
        #expect(try SchemaValidator.errors(schema: "link-platforms", in: [file]) == [:])
    }

    @Test("The schema refuses every rule that the program refuses")
    func faults() throws {
        let lines = try Self.text("Tests/LinkIngestTests/Fixtures/faulty-link-rules.jsonl").split(separator: "\n")
        let subjects = try lines.map { line in
            let row = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            let file: [String: Any] = [
                "schemaVersion": 1,
                "platforms": [
                    [
                        "id": "p", "name": "P", "rules": [row?["rule"] ?? 0],
                        "examples": [["link": "https://z.example/", "result": "itself"]],
                    ]
                ],
            ]
            let text = String(decoding: try JSONSerialization.data(withJSONObject: file), as: UTF8.self)
            #expect(throws: RuleFileFailure.self) { try LinkPlatforms(file: Array(text.utf8)) }
            return SchemaValidator.Subject(name: String(line), text: text)
        }
        let errors = try SchemaValidator.errors(schema: "link-platforms", in: subjects)
        #expect(subjects.count > 25 && subjects.map(\.name).filter { errors[$0] == nil } == [])
    }
}
