internal import ByteStorage
internal import StrictJSON

extension VendorTable {
    /// Reads a table and runs its examples.
    ///
    /// - Parameter json: The bytes of the file.
    /// - Returns: The table, or nil if the file is not valid, and the problems with the file and its examples.
    package static func check(_ json: [UInt8]) -> (table: VendorTable?, problems: [RuleFileProblem]) {
        do throws(RuleFileFailure) {
            let table = try VendorTable(json: json)
            return (table, table.failedExamples(of: table.vendors, in: json))
        } catch {
            return (nil, error.problems)
        }
    }

    /// Returns the problems of a file, including those of its examples.
    package static func problems(of json: [UInt8]) -> [RuleFileProblem] { check(json).problems }

    /// Returns the differences between the examples of rows and the results of this table.
    func failedExamples(of rows: [VendorSource], in json: [UInt8]) -> [RuleFileProblem] {
        var reader = EventReader(vendors: self)
        var problems: [RuleFileProblem] = []
        for vendor in rows {
            for example in vendor.examples {
                for difference in Self.differences(example, of: vendor.id, &reader) {
                    problems.append(
                        RuleFileProblem(
                            code: .example, location: JSONLocation.locate(offset: difference.offset, in: json),
                            expected: difference.text))
                }
            }
        }
        return problems
    }

    /// Returns the members of an example that the result of its message does not have.
    private static func differences(
        _ example: JSONValue, of vendor: String, _ reader: inout EventReader
    ) -> [(offset: Int, text: String)] {
        let found: MessageExplanation
        switch read(example, &reader) {
        case .success(let explanation): found = explanation
        case .failure(let failure):
            return [(example.offset, "expected a message, found the failure `\(failure.reason.rawValue)`")]
        }
        var differences: [(offset: Int, text: String)] = []
        func compare(_ name: String, _ member: JSONValue?, _ expected: String?, _ actual: String?) {
            guard let expected, expected != actual else { return }
            let text = actual.map { $0.isEmpty ? "none" : "`\($0)`" } ?? "none"
            let wanted = expected.isEmpty ? "no \(name)" : "the \(name) `\(expected)`"
            differences.append(((member ?? example).offset, "expected \(wanted), found \(text)"))
        }
        compare("vendor", nil, vendor, found.vendor)
        compare("link", example["link"], example["link"]?.string, found.link ?? found.reason)
        compare("reason", example["reason"], example["reason"]?.string, found.reason ?? found.link)
        for (name, actual) in [
            ("pointer", found.pointer), ("message", found.message), ("campaign", found.campaign),
        ] { compare(name, example[name], example[name]?.string, actual) }
        let notes = example["notes"]?.array.map { $0.compactMap(\.string).joined(separator: ", ") }
        compare("notes", example["notes"], notes, found.notes.joined(separator: ", "))
        return differences
    }

    /// Reads the message of an example as the payload of an event.
    private static func read(
        _ example: JSONValue, _ reader: inout EventReader
    ) -> Result<MessageExplanation, IngestFailure> {
        var members = ["\"payload\":" + (example["payload"]?.text ?? "{}")]
        for name in ["payloadType", "action"] {
            if let value = example[name] { members.append("\"\(name)\":\(value.text)") }
        }
        let platform = example["platform"].map { ",\"platform\":\($0.text)" } ?? ""
        members.append("\"device\":{\"id\":\"device\"\(platform)}")
        let event = Array("{\(members.joined(separator: ","))}".utf8)
        return event.withUnsafeBufferPointer { event in
            guard reader.readInPlace(value: ByteView(event), key: nil), reader.selectDevice(at: 0) else {
                return .failure(reader.failure)
            }
            guard let explanation = reader.explainMessage() else {
                return .failure(IngestFailure(.missingLink, "expected a push message"))
            }
            return .success(explanation)
        }
    }
}
