internal import Foundation

/// A validator of JSON Schema 2020-12: Python's `jsonschema` in a separate process.
package enum SchemaValidator {
    /// A text to validate.
    package struct Subject {
        /// The name of the text in errors.
        package var name: String
        /// The JSON text.
        package var text: String

        /// Creates a text to validate.
        package init(name: String, text: String) {
            self.name = name
            self.text = text
        }
    }

    /// The reason why tests are skipped if the validator is not available.
    package static let unavailableReason = "Python's jsonschema 4 is not installed (python3 -m pip install jsonschema)"

    /// A Boolean value that indicates whether Python and the validator are available, or required.
    package static let isAvailable: Bool = isRun(environment: ProcessInfo.processInfo.environment) {
        let probe = "from jsonschema import Draft202012Validator"
        return (try? ChildProcess.run(["python3", "-c", probe]))?.status == 0
    }

    /// Returns a Boolean value that indicates whether the tests run: they fail without the validator where all tests
    /// must run.
    package static func isRun(environment: [String: String], hasValidator: () -> Bool) -> Bool {
        environment["LINKD_TEST_REQUIRE_BROKER"] == "1" || hasValidator()
    }

    /// A program that reads lines of `{"name","text"}` and prints the errors of each: name, location, and message.
    private static let program = """
        import json, sys
        from jsonschema import Draft202012Validator
        schema = json.load(open(sys.argv[1], encoding="utf-8"))
        Draft202012Validator.check_schema(schema)
        validator = Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
        for line in sys.stdin:
            subject = json.loads(line)
            for error in validator.iter_errors(json.loads(subject["text"])):
                location = "/" + "/".join(str(part) for part in error.absolute_path)
                print(json.dumps([subject["name"], (location + ": " + error.message)[:300]]))
        """

    /// Validates texts with a schema of `config/schemas`, and returns the errors by the name of the text.
    ///
    /// - Throws: `ChildProcess.Failure` if the validator fails or a text is not JSON.
    package static func errors(schema: String, in subjects: [Subject]) throws -> [String: [String]] {
        let lines = try subjects.map { subject in
            let line = try JSONSerialization.data(withJSONObject: ["name": subject.name, "text": subject.text])
            return String(decoding: line, as: UTF8.self)
        }
        let file = Checkout.root.appending(path: "config/schemas/\(schema).schema.json").path
        let result = try ChildProcess.run(
            ["python3", "-X", "utf8", "-c", program, file], input: lines.joined(separator: "\n"))
        guard result.status == 0 else { throw ChildProcess.Failure(text: "the validator failed: \(result.errors)") }
        var found: [String: [String]] = [:]
        for line in result.output.split(separator: "\n") {
            let pair = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String] ?? []
            guard pair.count == 2 else {
                throw ChildProcess.Failure(text: "the validator printed \(line) instead of [name, error]")
            }
            found[pair[0], default: []].append(pair[1])
        }
        return found
    }
}
