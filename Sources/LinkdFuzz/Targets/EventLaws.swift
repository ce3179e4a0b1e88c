internal import DispatchWorker
internal import LinkIngest
internal import StrictJSON

/// What must hold of a record beside another that says the same.
package struct EventLaws {
    private let world: World

    /// Makes the laws of a world.
    package init(_ world: World) { self.world = world }

    /// Returns what is wrong with the answer to a record beside those to its other spellings; nil if nothing is.
    ///
    /// Spelling: without white space and needless escapes it comes to the same. Devices: one of several devices gets
    /// what it would get alone.
    package func wrong(_ answer: Answer, of record: FuzzRecord) -> String? {
        let event = try? JSONValue.parse(record.value, maxDepth: world.limits.depth + 1)
        guard let event, event.object != nil else { return nil }
        let plain = FuzzRecord(key: record.key, value: Array(event.text.utf8), offset: record.offset)
        guard plain.value.count <= world.limits.recordBytes else { return nil }
        let again = RecordLane.fresh(plain, world)
        if answer.cause?.reason != again.cause?.reason {
            return "another spelling is read otherwise\nas it is: \(answer)\nspelled plainly: \(again)"
        }
        // What is passed through, and a payload that is to be resumed, stay as they were spelled.
        if world.passthrough.isEmpty {
            for (one, other) in zip(answer.decisions, again.decisions)
            where one.outcome != .deferred && (one.key != other.key || one.value != other.value) {
                return "another spelling comes out otherwise\nas it is: \(answer)\nspelled plainly: \(again)"
            }
        }
        return wrongDevices(again, of: event, record)
    }

    /// What is wrong with the decisions of a list beside those of each device in a list of its own.
    private func wrongDevices(_ answer: Answer, of event: JSONValue, _ record: FuzzRecord) -> String? {
        guard let members = event.object, let devices = event["devices"]?.array, devices.count > 1,
            devices.count <= 12, answer.decisions.count == devices.count
        else { return nil }
        for (index, device) in devices.enumerated() {
            let alone = members.map { member in
                member.name == "devices"
                    ? JSONMember(name: member.name, value: JSONValue(.array([device]))) : member
            }
            let value = Array(JSONValue(.object(alone)).text.utf8)
            let other = RecordLane.fresh(FuzzRecord(key: record.key, value: value, offset: record.offset), world)
            guard let decision = other.decisions.first else {
                return "device \(index) alone is a dead letter: \(other)"
            }
            // The id of a decision says the device's number.
            let name = UInt8(ascii: ",")
            if decision.value.drop(while: { $0 != name }) != answer.decisions[index].value.drop(while: { $0 != name })
                || decision.key != answer.decisions[index].key
            {
                return "device \(index) gets another decision among others than alone\namong others: "
                    + String(decoding: answer.decisions[index].value.prefix(2_000), as: UTF8.self)
                    + "\nalone: \(other)"
            }
        }
        return nil
    }
}
