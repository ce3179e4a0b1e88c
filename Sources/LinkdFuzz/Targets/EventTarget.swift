internal import ByteStorage
internal import LinkCoordinator
internal import LinkDecider
internal import LinkIngest
internal import StrictJSON

/// The target `events`. An input is a line with the letter of the environment and the key of the record, followed by
/// the value.
///
/// An uppercase letter means that the value is a recipe, which is expanded first.
extension FuzzRunner {
    /// The size limit of an expanded recipe.
    ///
    /// Larger records belong to the benchmark of hostile records.
    static let recipeLimit = 256 << 10

    func runEvent(_ input: [UInt8]) -> String? {
        let line = input.prefix { $0 != UInt8(ascii: "\n") }
        var letter = line.first ?? UInt8(ascii: "a")
        var value = Array(input.dropFirst(line.count + 1))
        if UInt8(ascii: "A")...UInt8(ascii: "Z") ~= letter {
            letter += 32
            value = Recipe.expand(value, limit: Self.recipeLimit)
        }
        let environment = FuzzEnvironment.named(letter, of: environments)
        let key = line.count > 1 ? Array(line.dropFirst()) : nil
        let record = FuzzRecord(key: key, value: value, offset: 7)
        var lane = RecordLane(environment)
        let result = lane.results(CollectionOfOne(record))[0]
        if let wrong = costViolation(record, result, &lane) ?? wrong(result, of: record, environment) { return wrong }
        for time in ["second", "third"] {
            let again = lane.results(CollectionOfOne(record))[0]
            if again != result {
                return "the \(time) run of the record has a different result\nfirst:\n\(result)\nthen:\n\(again)"
            }
        }
        if value.count <= Self.lawLimit, let wrong = EventLaws(environment).wrong(result, of: record) { return wrong }
        return resumeViolation(result, environment)
    }

    /// The size limit of a value that is compared with equivalent ones.
    private static let lawLimit = 32 << 10

    /// Returns a description if the minimum of three runs exceeds the cost bound, or nil.
    private func costViolation(_ record: FuzzRecord, _ result: RecordResult, _ lane: inout RecordLane) -> String? {
        let bytes = record.value.count + lane.bytesWritten
        let devices = max(result.decisions.count, 1)
        var times = [lane.nanoseconds]
        while times.count < 3, let least = times.min(), cost.isOver(least, bytes: bytes, devices: devices) {
            _ = lane.digests(CollectionOfOne(record))
            times.append(lane.nanoseconds)
        }
        guard let least = times.min(), cost.isOver(least, bytes: bytes, devices: devices) else { return nil }
        return "the record takes \(least / 1_000) µs: \(bytes) bytes read and written, \(devices) devices"
    }

    /// Returns a violation of the rules that hold for the result of every record, or nil.
    func wrong(_ result: RecordResult, of record: FuzzRecord, _ environment: FuzzEnvironment) -> String? {
        if let cause = result.cause {
            if cause.item == nil, !result.decisions.isEmpty { return "a dead letter with decisions" }
            if let cause = cause.all.first(where: { $0.reason == .internal }) {
                return "a dead letter `internal`: \(cause.detail)"
            }
            return nil
        }
        if result.decisions.isEmpty { return "a record without a decision or a dead letter" }
        if record.headers.isEmpty, record.value.contains(UInt8(ascii: "{")),
            let error = Self.syntaxError(record.value, environment)
        {
            return error
        }
        for decision in result.decisions {
            if decision.key.isEmpty || decision.key.count > 256 {
                return "the id of a device has \(decision.key.count) bytes"
            }
            if let wrong = Self.decisionViolation(decision.value) { return "\(wrong)\n\(result)" }
        }
        return nil
    }

    /// Returns the syntax error of a record that was accepted as an object, or nil.
    private static func syntaxError(_ value: [UInt8], _ environment: FuzzEnvironment) -> String? {
        let isFramed = value.count > 5 && value[0] == 0
        let text = Array(value.dropFirst(isFramed ? 5 : 0))
        guard text.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) == UInt8(ascii: "{") else { return nil }
        do {
            // A payload can have one more level than other members.
            _ = try JSONValue.parse(text, maxDepth: environment.configuration.limits.depth + 1)
            return nil
        } catch {
            return "a record was accepted that is not valid JSON: \(error)"
        }
    }

    /// Returns a violation of the format of decisions, or nil.
    static func decisionViolation(_ decision: [UInt8]) -> String? {
        do {
            let value = try JSONValue.parse(decision)
            guard let outcome = value["outcome"]?.string else { return "a decision without an outcome" }
            if ["navigate", "deferred"].contains(outcome), value["stack"]?.array == nil {
                return "a decision without a stack"
            }
            if outcome == "external", value["url"]?.string == nil { return "a decision without a URL" }
            if outcome == "reject" || outcome == "none", value["reason"]?.string == nil {
                return "a decision without a reason"
            }
            if let detail = value["detail"]?.string, detail.utf8.count > 64 { return "a detail of over 64 bytes" }
            return value["context"].flatMap(contextViolation)
        } catch {
            return "a decision is not valid JSON: \(error)"
        }
    }

    /// Returns a violation of the format of what delivery and the link's query add to the context, or nil.
    private static func contextViolation(_ context: JSONValue) -> String? {
        let isTime = (context["expires"]?.string).map { text in
            Array(text.utf8).withUnsafeBufferPointer { UTCDateTime(ByteView($0)) != nil }
        }
        if isTime == false { return "the expiry is no time" }
        if let word = context["push"]?["priority"]?.string, !["very-low", "low", "normal", "high"].contains(word) {
            return "an unknown priority"
        }
        if let id = context["push"]?["collapse"]?.string, !(1...128 ~= id.utf8.count) { return "a bad collapse id" }
        let values = (context["query"]?.object ?? []).map { $0.value.string?.utf8.count ?? Int.max / 64 }
        return values.reduce(0, +) > QueryNames.valueBytes ? "the values of `context.query` are too long" : nil
    }

    /// Sends each `resume` as a new event, and returns a description if the result is a dead letter, or nil.
    func resumeViolation(_ result: RecordResult, _ environment: FuzzEnvironment) -> String? {
        for (index, decision) in result.decisions.prefix(8).enumerated() where decision.outcome == .deferred {
            guard let text = try? JSONValue.parse(decision.value), let resume = text["resume"]?.object,
                let table = text["table"]?.string,
                let application = environment.configuration.tables.tables.first(where: { table.hasPrefix($0.id + "@") }
                )?
                .source.applications.first?.value
            else { continue }
            let request = resume.filter { !["claim", "ttl", "once"].contains($0.name) }
            let claim = text["resume"]?["claim"] ?? JSONValue(.null)
            let device = JSONValue(
                .object([
                    JSONMember(name: "id", value: JSONValue(.string("d"))),
                    JSONMember(name: "claims", value: JSONValue(.array([claim]))),
                ]))
            let event = JSONValue(
                .object(
                    [JSONMember(name: "application", value: JSONValue(.string(application)))] + request
                        + [JSONMember(name: "device", value: device)])
            ).text
            let again = RecordLane.fresh(FuzzRecord(value: Array(event.utf8)), environment)
            if let cause = again.cause, cause.reason != .oversizeInput {
                let reason = "\(cause.reason.rawValue) (\(cause.detail))"
                return "device \(index): its resume is a dead letter \(reason): \(event.prefix(2_000))"
            }
        }
        return nil
    }
}

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
