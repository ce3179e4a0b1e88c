internal import HTTPServer
internal import LinkCoordinator
internal import LinkDecider
internal import LinkIngest
internal import RouteAnalysis
internal import RouteTools
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

    /// The maximum size of an input in bytes, which is also the default limit of a record.
    private static let maxInputBytes = 1 << 20
    /// The maximum size of an explained link in bytes.
    private static let maxLinkBytes = 64 << 10
    /// The maximum number of facts about the device.
    private static let maxFacts = 64

    private let site: ConsoleSite
    private let resolver: TryResolver

    /// Adds the endpoints.
    static func add(to router: inout ConsoleRouter, _ site: ConsoleSite) {
        let routes = TryRoutes(site: site, resolver: TryResolver(site.decider))
        router.post("/api/resolve") { request throws(ConsoleProblem) in try routes.resolve(request) }
        router.post("/api/matrix") { request throws(ConsoleProblem) in try routes.matrix(request) }
    }

    private func resolve(_ request: HTTPRequest) throws(ConsoleProblem) -> HTTPResponse {
        let question = try question(request)
        return .json(
            JSONText.object { json in
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
            })
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
        return .json(
            JSONText.object { json in
                json.text("table", table.id)
                json.boolean("truncated", matrix.isTruncated)
                json.texts("platforms", matrix.platforms)
                json.objects("versions", of: matrix.columns) { json, column in
                    json.text("label", column.range?.label ?? "all versions")
                    json.text("version", column.range?.version)
                    json.text("from", column.range?.from)
                    json.text("below", column.range?.below)
                }
                json.matrix("cells", matrix.platforms.indices.map { row in matrix.columns.map { $0.cells[row] } })
                if let census = site.census {
                    let (devices, others) = matrix.devices(of: census)
                    json.matrix("devices", devices)
                    json.number("others", Int64(others))
                }
                json.objects("results", of: matrix.results) { json, answer in
                    if let decision = answer.decisions.first {
                        json.text("outcome", Self.value(decision.json)["outcome"]?.string)
                        write(decision.json, answer.explanations.first, to: &json)
                        write(answer.explanations.first, to: &json)
                    } else if let cause = answer.cause {
                        json.text("outcome", "dead_letter")
                        DecisionSentence(deadLetter: cause.reason.rawValue, detail: cause.detail).write(
                            "sentence", to: &json)
                        json.text("decision", nil)
                        json.text("explain", nil)
                    }
                }
            })
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
            // The explanation ignores the expiry.
            write(decision.json, unexpired == nil ? explanation : nil, to: &json)
            write(explanation, to: &json)
            if let unexpired {
                json.object("unexpired") { json in write(unexpired, explanation, to: &json) }
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
        json.object("deadLetter", of: cause) { json, cause in
            json.text("reason", cause.reason.rawValue)
            json.text("stage", cause.reason.stage)
            json.text("pointer", cause.pointer)
            json.text("detail", cause.detail)
            DecisionSentence(deadLetter: cause.reason.rawValue, detail: cause.detail).write("sentence", to: &json)
        }
    }
}

/// The text that a person wants to try: a link, an event, or the body of a push message.
struct TriedInput {
    /// The kind of an input.
    enum Kind: String {
        /// A link, as it would be in a message.
        case link
        /// An event in the product's own format.
        case event
        /// The body of a push message of any vendor, or a list of them.
        case push
    }

    let kind: Kind
    /// The text without white space at its ends.
    private let text: String
    /// The members of the object, or nil for a link and for a text that is not valid JSON.
    private let members: [JSONMember]?

    /// The members of an event that say what it requests.
    private static let requests: Set = ["link", "path", "route", "payload"]

    /// Creates an input from a text.
    init(_ text: String) {
        let bytes = Array(text.utf8).trimmed
        self.text = String(decoding: bytes, as: UTF8.self)
        guard bytes.first == UInt8(ascii: "{") else {
            // The messages of a list have devices of their own.
            (kind, members) = (bytes.first == UInt8(ascii: "[") ? .push : .link, nil)
            return
        }
        members = (try? JSONValue.parse(Array(bytes), maxDepth: 512))?.object
        let names = Set(members?.map(\.name) ?? [])
        kind = names.isDisjoint(with: Self.requests) || names.contains("aps") ? .push : .event
    }

    /// A Boolean value that indicates whether there is nothing to try.
    var isEmpty: Bool { text.isEmpty }

    /// Returns the value of the record with which a producer would send the input to a device with these facts.
    ///
    /// The facts override the facts of an event's device. An input that is not valid is returned unchanged, so that it
    /// gets the same answer as from a worker.
    func record(facts: [JSONMember]) -> [UInt8] {
        switch kind {
        case .link:
            // A text that is no link must stay one, for the same dead letter as in a worker.
            guard !facts.isEmpty, text.contains(":"), !text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else {
                return Array(text.utf8)
            }
            return event(facts) { json in json.text("link", text) }
        case .push:
            guard !facts.isEmpty, members != nil else { return Array(text.utf8) }
            return event(facts) { json in json.raw("payload", Array(text.utf8)) }
        case .event:
            guard !facts.isEmpty, let members else { return Array(text.utf8) }
            return event(merged(facts, members)) { json in
                for member in members where member.name != "device" && member.name != "devices" {
                    json.value(member.name, member.value)
                }
            }
        }
    }

    /// Returns the facts of an event's first device, overridden by others.
    private func merged(_ facts: [JSONMember], _ members: [JSONMember]) -> [JSONMember] {
        let device = members.first { $0.name == "device" }?.value
        let devices = members.first { $0.name == "devices" }?.value.array
        let names = Set(facts.map(\.name))
        return ((device ?? devices?.first)?.object ?? []).filter { !names.contains($0.name) } + facts
    }

    private func event(_ facts: [JSONMember], _ write: (inout JSONText) -> Void) -> [UInt8] {
        let text = JSONText.object { json in
            write(&json)
            json.beginObject("device")
            json.text("id", facts.first { $0.name == "id" }?.value.string ?? Self.device)
            for fact in facts where fact.name != "id" { json.value(fact.name, fact.value) }
            json.endObject()
        }
        return Array(text.utf8)
    }

    /// The id of the device for an input without one.
    static let device = "device"
}

/// The decisions about one input across platforms and the versions of the app that the table distinguishes.
struct VersionMatrix {
    /// The platforms that are always shown.
    private static let commonPlatforms = ["ios", "android"]
    /// The maximum number of platforms.
    private static let maxPlatforms = 8
    /// The time after which no more versions are added, in seconds.
    private static let maxSeconds = 5.0

    /// A column: versions with the same decisions on all platforms.
    struct Column {
        /// The range of versions, or nil if the table does not distinguish versions.
        var range: DeviceChoices.VersionRange?
        /// The indices of the decisions in `results`, one for each platform.
        var cells: [Int]

        /// Returns a Boolean value that indicates whether a version of a device is in the range.
        func contains(_ app: String?) -> Bool {
            guard let range else { return true }
            guard let version = app.flatMap(VersionText.init) else { return false }
            return (range.from.flatMap(VersionText.init).map { $0.order(version) <= 0 } ?? true)
                && (range.below.flatMap(VersionText.init).map { version.order($0) < 0 } ?? true)
        }
    }

    /// The platforms, which are the rows.
    let platforms: [String]
    /// The columns, from the lowest version to the highest.
    private(set) var columns: [Column] = []
    /// The different answers, each once.
    private(set) var results: [TryResolver.Answer] = []
    /// A Boolean value that indicates whether versions are missing, because there are too many or they take too long.
    private(set) var isTruncated: Bool

    /// Resolves an input for every platform and version.
    ///
    /// - Parameters:
    ///   - input: The input.
    ///   - facts: The other facts about the device.
    ///   - table: The table whose versions are shown.
    ///   - isAlone: A Boolean value that indicates whether only this table is asked.
    ///   - resolver: The resolver.
    init(
        _ input: TriedInput, facts: [JSONMember], table: RouteTable, isAlone: Bool, _ resolver: TryResolver
    ) {
        let asked = isAlone ? table : nil
        let choices = DeviceChoices(table)
        platforms = Self.platforms(choices.platforms, facts.first { $0.name == "platform" }?.value.string)
        isTruncated = choices.isTruncated
        let ranges: [DeviceChoices.VersionRange?] = choices.versions.isEmpty ? [nil] : choices.versions
        var known: [[UInt8]: Int] = [:]
        let end = Platform.monotonicSeconds + Self.maxSeconds
        for range in ranges {
            guard columns.isEmpty || Platform.monotonicSeconds < end else {
                isTruncated = true
                return
            }
            var cells: [Int] = []
            for platform in platforms {
                let facts = Self.facts(facts, platform, range?.version)
                let record = input.record(facts: facts)
                let answer = resolver.resolve(record, table: asked, explains: false)
                let name = answer.decisions.first?.json ?? Array((answer.cause?.reason.rawValue ?? "").utf8)
                if known[name] == nil {
                    known[name] = results.count
                    results.append(resolver.resolve(record, table: asked, explains: true))
                }
                cells.append(known[name] ?? 0)
            }
            add(range, cells)
        }
    }

    /// Returns the numbers of devices of a census for each platform and column, and the number of all other devices.
    ///
    /// The others have another platform, or no known platform or version.
    func devices(of census: DeviceCensus) -> (cells: [[Int]], others: Int) {
        var counts = platforms.map { _ in columns.map { _ in 0 } }
        var counted = 0
        for entry in census.entries {
            let facts = census.kinds.facts(of: entry.kind)
            guard let platform = facts.platform?.lowercased(),
                let row = platforms.firstIndex(where: { $0.lowercased() == platform }),
                let column = columns.firstIndex(where: { $0.contains(facts.app) })
            else { continue }
            counts[row][column] += entry.count
            counted += entry.count
        }
        return (counts, census.devices + census.merged - counted)
    }

    /// Returns the common platforms, the platform of the device, and the platforms in the table's conditions, each
    /// once.
    private static func platforms(_ named: [String], _ asked: String?) -> [String] {
        var platforms = commonPlatforms
        for platform in [asked].compactMap({ $0 }) + named where platforms.count < maxPlatforms {
            let isKnown = platforms.contains { $0.lowercased() == platform.lowercased() }
            if !isKnown, !platform.isEmpty { platforms.append(platform) }
        }
        return platforms
    }

    /// Adds a column, or extends the last one if its decisions are the same.
    private mutating func add(_ range: DeviceChoices.VersionRange?, _ cells: [Int]) {
        if let last = columns.indices.last, columns[last].cells == cells {
            columns[last].range?.below = range?.below
        } else {
            columns.append(Column(range: range, cells: cells))
        }
    }

    private static func facts(_ facts: [JSONMember], _ platform: String, _ version: String?) -> [JSONMember] {
        let own = ["platform": platform, "app": version].compactMapValues { $0 }
        return facts.filter { $0.name != "platform" && $0.name != "app" }
            + own.sorted { $0.key < $1.key }.map { JSONMember(name: $0.key, value: JSONValue(.string($0.value))) }
    }
}

extension DeviceChoices.VersionRange {
    /// The range in words, such as `4.0.0 and later`.
    var label: String {
        switch (from, below) {
        case (nil, let below?): "before \(below)"
        case (let from?, nil): "\(from) and later"
        case (let from?, let below?): "\(from) to before \(below)"
        case (nil, nil): "all versions"
        }
    }
}

/// The endpoints `/api/link`, which writes the link of a screen, and `/api/qr`, which draws a link as a QR code.
struct LinkRoutes {
    private let site: ConsoleSite

    /// Adds the endpoints.
    static func add(to router: inout ConsoleRouter, _ site: ConsoleSite) {
        let routes = LinkRoutes(site: site)
        router.post("/api/link") { request throws(ConsoleProblem) in try routes.link(request) }
        router.post("/api/qr") { request throws(ConsoleProblem) in try routes.code(request) }
    }

    private func link(_ request: HTTPRequest) throws(ConsoleProblem) -> HTTPResponse {
        let body = try RequestBody(
            request, members: ["table", "screen", "route", "data", "scheme", "host", "device"])
        let screen = try body.text("screen", maxBytes: 256)
        let route = try body.text("route", maxBytes: 64)
        let scheme = try body.text("scheme", maxBytes: 64)
        let host = try body.text("host", maxBytes: 256)
        guard screen != nil || route != nil else {
            throw ConsoleProblem(
                code: "screen", message: "`screen` and `route` are missing",
                next: "pass a screen such as catalog/item, or the id of a route")
        }
        let table = try site.table(body.text("table", maxBytes: 64)).table
        let facts = body.value["device"].map { DeviceFacts($0) } ?? DeviceFacts()
        do throws(ScreenLink.Failure) {
            let found = try ScreenLink(
                to: screen, route: route, data: body.value["data"] ?? JSONValue(.object([])), scheme: scheme,
                host: host,
                device: facts, in: table)
            return .json(
                JSONText.object { json in
                    json.text("link", found.link)
                    json.text("route", found.route)
                    json.text("path", found.decision.path)
                })
        } catch {
            throw ConsoleProblem(code: "link", message: error.message, next: error.advice)
        }
    }

    private func code(_ request: HTTPRequest) throws(ConsoleProblem) -> HTTPResponse {
        let text = try RequestBody(request, members: ["text"]).text("text", maxBytes: QRCode.maxBytes)
        guard let text, !text.isEmpty, let code = QRCode(Array(text.utf8)) else {
            throw ConsoleProblem(code: "text", message: "`text` is missing", next: "pass a link")
        }
        return .json(
            JSONText.object { json in
                json.number("size", Int64(code.imageSize))
                json.text("path", code.path)
            })
    }
}
