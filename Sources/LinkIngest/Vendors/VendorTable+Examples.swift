internal import ByteStorage
internal import StrictJSON

extension VendorTable {
    /// Returns the problems of a file, including those of examples that do not open what they state.
    package static func problems(of json: [UInt8]) -> [VendorTableProblem] {
        do throws(VendorTableFailure) {
            return try VendorTable(json: json).failedExamples(in: json)
        } catch {
            return error.problems
        }
    }

    /// Returns a problem for each example that opens something else than it states.
    private func failedExamples(in json: [UInt8]) -> [VendorTableProblem] {
        var reader = EventReader(vendors: self)
        var problems: [VendorTableProblem] = []
        for vendor in vendors {
            for example in vendor.examples {
                guard let (offset, expected) = Self.fault(of: example, vendor.id, &reader) else { continue }
                problems.append(
                    VendorTableProblem(
                        code: .example, location: JSONLocation.locate(offset: offset, in: json), expected: expected))
            }
        }
        return problems
    }

    /// The members of an example that are not compared.
    private static let inputs = ["payload", "platform", "action"]

    /// Returns the offset and the description of the first fault of an example, or nil.
    private static func fault(
        of example: JSONValue, _ vendor: String, _ reader: inout EventReader
    ) -> (offset: Int, expected: String)? {
        guard let members = example.object, example["payload"]?.object != nil else {
            return (example.offset, "expected an object with the member `payload`, an object")
        }
        guard let found = read(example, &reader) else { return (example.offset, "expected a message") }
        guard found.vendor == vendor else {
            return (example.offset, "expected a message of this vendor, found \(found.vendor ?? "none")")
        }
        if (example["link"] == nil) == (example["reason"] == nil) {
            return (example.offset, "expected either `link` or `reason`")
        }
        for member in members where !inputs.contains(member.name) {
            guard let actual = found.member(member.name) else {
                return (member.value.offset, "expected only members of an example")
            }
            let stated = member.value.array.map { $0.map { $0.string ?? "" } } ?? [member.value.string ?? ""]
            if stated != actual { return (member.value.offset, "expected \(actual.joined(separator: ", "))") }
        }
        return nil
    }

    /// Reads the message of an example.
    private static func read(_ example: JSONValue, _ reader: inout EventReader) -> MessageExplanation? {
        var device = [JSONMember(name: "id", value: JSONValue(.string("d")))]
        if let platform = example["platform"] { device.append(JSONMember(name: "platform", value: platform)) }
        var event = [JSONMember(name: "device", value: JSONValue(.object(device)))]
        if let action = example["action"] { event.append(JSONMember(name: "action", value: action)) }
        if let payload = example["payload"] { event.append(JSONMember(name: "payload", value: payload)) }
        let bytes = Array(JSONValue(.object(event)).text.utf8)
        return bytes.withUnsafeBufferPointer { bytes in
            guard reader.readInPlace(value: ByteView(bytes), key: nil), reader.selectDevice(at: 0) else { return nil }
            return reader.explainMessage()
        }
    }
}

extension MessageExplanation {
    /// Returns the texts of a property by its name in an example, or nil if there is no such property.
    fileprivate func member(_ name: String) -> [String]? {
        switch name {
        case "link": [link ?? "no link"]
        case "reason": [reason ?? "a link"]
        case "pointer": [pointer ?? "no pointer"]
        case "message": [message ?? "no id"]
        case "campaign": [campaign ?? "no id"]
        case "vendor": [vendor ?? "no vendor"]
        case "others": others
        case "notes": notes
        default: nil
        }
    }
}
