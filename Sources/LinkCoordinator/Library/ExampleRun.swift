internal import StrictJSON

/// Checks the examples in a table against the table's own decisions.
enum ExampleRun {
    /// Resolves every example and reports those whose decision differs from the expectation.
    static func check(
        _ source: TableSource, _ table: CompiledTable, into problems: inout ProblemList, until isOver: () -> Bool
    ) {
        for example in source.examples where !isOver() {
            guard let request = request(of: example) else { continue }
            let device = example.device.map { DeviceFacts($0) } ?? DeviceFacts()
            let decision = Decision(table.resolve(request, device))
            for expectation in example.expectations {
                guard let difference = difference(expectation, decision) else { continue }
                problems.error(
                    .example, at: expectation.value.offset,
                    "the example does not hold: \(difference.subject) is \(difference.actual), "
                        + "expected \(difference.expected)",
                    suggestion:
                        "correct the route or the example; `linkd resolve --explain` shows how the decision was made",
                    witness: witness(example))
            }
        }
    }

    private static func witness(_ example: TableSource.Example) -> String? {
        if case .link(let text) = example.request { return text }
        return nil
    }

    private static func request(of example: TableSource.Example) -> LinkRequest? {
        switch example.request {
        case .link(let text): return .link(text)
        case .request(let json):
            if let link = json["link"]?.string { return .link(link) }
            if let path = json["path"]?.string {
                return .path(path, mode: json["mode"]?.string.flatMap(LinkRequest.Mode.init))
            }
            if let route = json["route"]?.string {
                return .route(route, params: json["params"].flatMap { LinkRequest.Object($0) } ?? [:])
            }
            return json["payload"].flatMap { LinkRequest.Object($0) }.map { .payload($0) }
        }
    }

    private typealias Difference = (subject: String, expected: String, actual: String)

    private static func difference(
        _ expectation: TableSource.Example.Expectation, _ decision: Decision
    ) -> Difference? {
        let expected = expectation.value
        if expectation.member == "models" { return modelDifference(expected, decision) }
        let actual = actual(expectation.member, decision)
        if isAbsence(expected, of: expectation.member) {
            return actual.map { (expectation.member, "none", $0.text) }
        }
        if let actual, actual.isEqual(to: expected) { return nil }
        return (expectation.member, expected.text, actual?.text ?? "absent")
    }

    /// Returns a Boolean value that indicates whether the expectation is that the decision does not have the member.
    private static func isAbsence(_ expected: JSONValue, of member: String) -> Bool {
        if expected.isNull { return true }
        if member == "via" || member == "notes", let list = expected.array { return list.isEmpty }
        if member == "dismissModals", case .bool(false) = expected.kind { return true }
        return false
    }

    private static func actual(_ member: String, _ decision: Decision) -> JSONValue? {
        switch member {
        case "screens":
            return decision.value["stack"]?.array.map { JSONValue(.number(String($0.count))) }
        case "present", "identity": return decision.value["stack"]?.array?.last?[member]
        default: return decision.value[member]
        }
    }

    /// Compares the expected fields with the last entry that has the model.
    private static func modelDifference(_ expected: JSONValue, _ decision: Decision) -> Difference? {
        for model in expected.object ?? [] {
            let entry = decision.value["stack"]?.array?.last { $0["data"]?[model.name] != nil }
            guard let data = entry?["data"]?[model.name] else {
                return ("the model \(model.name)", "an entry with this model", "absent")
            }
            for field in model.value.object ?? [] {
                let actual = data[field.name]
                if let actual, actual.isEqual(to: field.value) { continue }
                return ("\(model.name).\(field.name)", field.value.text, actual?.text ?? "absent")
            }
        }
        return nil
    }
}
