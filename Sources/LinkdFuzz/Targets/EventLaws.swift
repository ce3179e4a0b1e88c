internal import LinkCoordinator
internal import LinkDecider
internal import LinkIngest
internal import StrictJSON

/// Laws that relate a record to equivalent records.
struct EventLaws {
    private let environment: FuzzEnvironment

    /// Creates the laws of an environment.
    init(_ environment: FuzzEnvironment) { self.environment = environment }

    /// Returns the violated law, or nil.
    ///
    /// A record without white space and unnecessary escapes has the same result. A device in a list of several has the
    /// same decision as alone.
    func wrong(_ result: RecordResult, of record: FuzzRecord) -> String? {
        let event = try? JSONValue.parse(record.value, maxDepth: environment.configuration.limits.depth + 1)
        guard let event, event.object != nil else { return nil }
        let plain = FuzzRecord(key: record.key, value: Array(event.text.utf8), offset: record.offset)
        guard plain.value.count <= environment.configuration.limits.recordBytes else { return nil }
        let again = RecordLane.fresh(plain, environment)
        if result.cause?.reason != again.cause?.reason {
            return "an equivalent record has a different result\noriginal: \(result)\ncompact:  \(again)"
        }
        // Passthrough members, and a payload to resume, keep their spelling.
        if environment.configuration.passthrough.names.isEmpty {
            for (one, other) in zip(result.decisions, again.decisions)
            where one.outcome != .deferred && (one.key != other.key || one.value != other.value) {
                return "an equivalent record has different decisions\noriginal: \(result)\ncompact:  \(again)"
            }
        }
        return deviceViolation(again, of: event, record)
    }

    /// Returns the difference between the decisions of a list and of lists with one device each, or nil.
    private func deviceViolation(_ result: RecordResult, of event: JSONValue, _ record: FuzzRecord) -> String? {
        guard let members = event.object, let devices = event["devices"]?.array, devices.count > 1,
            devices.count <= 12, result.decisions.count == devices.count
        else { return nil }
        for (index, device) in devices.enumerated() {
            let alone = members.map { member in
                member.name == "devices"
                    ? JSONMember(name: member.name, value: JSONValue(.array([device]))) : member
            }
            let value = Array(JSONValue(.object(alone)).text.utf8)
            let other = RecordLane.fresh(FuzzRecord(key: record.key, value: value, offset: record.offset), environment)
            guard let decision = other.decisions.first else {
                return "device \(index) alone is a dead letter: \(other)"
            }
            // Skips the id of the decision, which contains the number of the device.
            let name = UInt8(ascii: ",")
            if decision.value.drop(while: { $0 != name }) != result.decisions[index].value.drop(while: { $0 != name })
                || decision.key != result.decisions[index].key
            {
                return "device \(index) has a different decision in the list than alone\nin the list: "
                    + String(decoding: result.decisions[index].value.prefix(2_000), as: UTF8.self)
                    + "\nalone: \(other)"
            }
        }
        return nil
    }
}
