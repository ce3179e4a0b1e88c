internal import ByteStorage
internal import DispatchWorker
internal import HTTPServer
internal import LinkCoordinator
internal import RouteAnalysis
internal import StrictJSON

/// The endpoints that resolve a link, an event, or a push message: `/api/resolve` and `/api/matrix`.
struct TryRoutes {
    /// The question of a request's body.
    private struct Question {
        var input: TriedInput
        var facts: [JSONMember]
        /// The table that is asked, or nil if the input selects it.
        var table: RouteTable?
    }

    /// The maximum size of an input in bytes, as that of a record.
    private static let maxInputBytes = 1 << 20
    /// The maximum size of an explained link in bytes.
    private static let maxLinkBytes = 64 << 10
    /// The maximum number of facts about the device.
    private static let maxFacts = 64

    private let site: ConsoleSite
    private let resolver: TryResolver

    /// Adds the endpoints.
    static func add(to router: inout ConsoleRouter, _ site: ConsoleSite) {
        let routes = TryRoutes(site: site, resolver: TryResolver(site))
        router.post("/api/resolve") { request throws(ConsoleProblem) in try routes.resolve(request) }
        router.post("/api/matrix") { request throws(ConsoleProblem) in try routes.matrix(request) }
    }

    private func resolve(_ request: HTTPRequest) throws(ConsoleProblem) -> HTTPResponse {
        let question = try question(request)
        var json = JSONText()
        json.beginObject()
        json.text("kind", question.input.isEmpty ? "empty" : question.input.kind.rawValue)
        let start = Platform.monotonicSeconds
        if question.input.isEmpty {
            write(TryResolver.Answer(), to: &json)
        } else {
            let record = question.input.record(facts: question.facts)
            let now = Platform.nowMilliseconds
            write(resolver.resolve(record, table: question.table, explains: true, time: now), to: &json)
        }
        json.number("micros", Int64((Platform.monotonicSeconds - start) * 1_000_000))
        json.endObject()
        return .json(json)
    }

    private func matrix(_ request: HTTPRequest) throws(ConsoleProblem) -> HTTPResponse {
        let question = try question(request)
        let record = question.input.record(facts: question.facts)
        let first = resolver.resolve(record, table: question.table, explains: false).decisions.first?.json
        let identity = first.flatMap { Self.value($0)["table"]?.string }
        let table = question.table ?? self.table(identity: identity) ?? site.tables.first?.table
        guard let table, !question.input.isEmpty else {
            throw ConsoleProblem(code: "input", message: "there is nothing to resolve", next: "pass a link or a body")
        }
        let matrix = VersionMatrix(
            question.input, facts: question.facts, table: table, isAlone: question.table != nil, resolver)
        var json = JSONText()
        json.beginObject()
        json.text("table", table.id)
        json.boolean("truncated", matrix.isTruncated)
        json.texts("platforms", matrix.platforms)
        json.objects("versions", of: matrix.columns) { json, column in
            json.text("label", column.range?.label ?? "all versions")
            json.text("version", column.range?.version)
            json.text("from", column.range?.from)
            json.text("below", column.range?.below)
        }
        json.beginArray("cells")
        for row in matrix.platforms.indices {
            json.beginArray()
            for column in matrix.columns { json.number(nil, Int64(column.cells[row])) }
            json.endArray()
        }
        json.endArray()
        json.objects("results", of: matrix.results) { json, answer in
            if let decision = answer.decisions.first {
                json.text("outcome", Self.value(decision.json)["outcome"]?.string)
                write(decision.json, answer.explanations.first, to: &json)
                write(answer.explanations.first, to: &json)
            } else if let cause = answer.cause {
                json.text("outcome", "dead_letter")
                DecisionSentence(deadLetter: cause.reason.rawValue, detail: cause.detail).write("sentence", to: &json)
                json.raw("decision", Array("null".utf8))
                json.raw("explain", Array("null".utf8))
            }
        }
        json.endObject()
        return .json(json)
    }

    // MARK: Questions

    private func question(_ request: HTTPRequest) throws(ConsoleProblem) -> Question {
        let body = try RequestBody(request, members: ["input", "device", "table"])
        let text = try body.text("input", maxBytes: Self.maxInputBytes) ?? ""
        let facts = body.value["device"]?.object ?? []
        guard facts.count <= Self.maxFacts else {
            throw ConsoleProblem(
                code: "device", message: "`device` has more than \(Self.maxFacts) facts", next: "remove some of them")
        }
        let id = try body.text("table", maxBytes: 64)
        return Question(input: TriedInput(text), facts: facts, table: try id.map(site.table)?.table)
    }

    private static func value(_ decision: [UInt8]) -> JSONValue {
        (try? JSONValue.parse(decision, maxDepth: 512)) ?? JSONValue(.null)
    }

    private func table(identity: String?) -> RouteTable? {
        site.tables.first { $0.table.identity == identity }?.table
    }

    // MARK: Answers

    private func write(_ answer: TryResolver.Answer, to json: inout JSONText) {
        json.beginArray("decisions")
        for (index, decision) in answer.decisions.enumerated() {
            let explanation = index < answer.explanations.count ? answer.explanations[index] : nil
            json.beginObject()
            json.text("device", decision.device)
            let unexpired = index < answer.unexpired.count ? answer.unexpired[index] : nil
            // The explanation does not regard the expiry.
            write(decision.json, unexpired == nil ? explanation : nil, to: &json)
            write(explanation, to: &json)
            if let unexpired {
                json.beginObject("unexpired")
                write(unexpired, explanation, to: &json)
                json.endObject()
            }
            json.endObject()
        }
        json.endArray()
        write(answer.cause, to: &json)
        json.objects("tables", of: answer.unclaimed.tables) { json, claim in
            json.text("table", claim.table.id)
            json.raw("explain", claim.explanation.json)
        }
    }

    /// Writes a decision, its sentence, and its screens.
    private func write(
        _ decision: [UInt8], _ explanation: Explainer.DeviceExplanation?, to json: inout JSONText
    ) {
        let value = Self.value(decision)
        let trace = explanation?.decision.flatMap { try? JSONValue.parse($0.json, maxDepth: 512) }
        let table = table(identity: value["table"]?.string)
        DecisionSentence(value, explanation: trace, table: table).write("sentence", to: &json)
        json.raw("decision", decision)
        json.objects("screens", of: value["stack"]?.array ?? []) { json, entry in
            json.text("coordinator", entry["coordinator"]?.string)
            json.text("screen", entry["screen"]?.string)
            json.text("title", DecisionSentence.title(of: entry))
            json.text("present", entry["present"]?.string)
        }
    }

    /// Writes the link that was explained, the explanation, and the envelope.
    private func write(_ explanation: Explainer.DeviceExplanation?, to json: inout JSONText) {
        let link = explanation?.decision?.input
        json.text("link", link.flatMap { $0.utf8.count <= Self.maxLinkBytes ? $0 : nil })
        json.raw("explain", explanation?.decision?.json ?? Array("null".utf8))
        explanation?.envelope.write("envelope", to: &json)
    }

    private func write(_ cause: DeadLetterCause?, to json: inout JSONText) {
        guard let cause else { return json.raw("deadLetter", Array("null".utf8)) }
        json.beginObject("deadLetter")
        json.text("reason", cause.reason.rawValue)
        json.text("stage", cause.reason.stage)
        json.text("pointer", cause.pointer)
        json.text("detail", cause.detail)
        DecisionSentence(deadLetter: cause.reason.rawValue, detail: cause.detail).write("sentence", to: &json)
        json.endObject()
    }
}
