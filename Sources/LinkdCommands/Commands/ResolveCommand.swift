internal import LinkIngest
internal import RouteTools
internal import RouteAnalysis
internal import LinkCoordinator
internal import LinkDecider
internal import ByteStorage
internal import StrictJSON

/// `linkd resolve`: resolves links and events without a broker.
enum ResolveCommand {
    static let command = Command(
        path: ["resolve"],
        summary: "Resolve links or events without a broker",
        discussion: [
            "Reads links from the arguments, or lines of standard input. Each is a link or an event (a JSON object). "
                + "`--json` prints the exact bytes of each decision, one line per device, without the members "
                + "`decision`, `event`, `device`, and `application` that the worker adds. An input that a worker would "
                + "turn into a dead letter is printed as one, and the exit code is 65.",
            "`--explain` also says which envelope and vendor of a push message were recognized, by which marks, and "
                + "where the link was found. With it, a refused table is used too if it can be compiled, so that "
                + "you can explain the example link of a problem.",
        ],
        flags: [
            Flag("--device", .text(bytes: 2...65536), placeholder: "JSON", "Facts about the device of bare links."),
            Flag(
                "--key", .text(bytes: 1...65536), default: "`device` for links, none for events",
                "Key of every record."),
            Flag(
                "--header", .pairs(count: 0...64), repeats: true, placeholder: "NAME=VALUE",
                "Header of every record, such as a header of CloudEvents."),
            Flag(
                "--explain",
                "Explain each decision: which patterns match, which do not, and which variant was chosen."),
            Flag("--json", "Print decisions as JSON, byte for byte."),
        ],
        settings: .resolve,
        operands: Operands(
            name: "LINK", help: "Links or events. Without any, the lines of standard input.", count: 0...10_000),
        examples: [
            "linkd resolve 'https://shop.example/p/new'": "With the tables that come with linkd.",
            "linkd resolve --device '{\"platform\":\"ios\",\"app\":\"3.9.0\"}' --explain 'shop:///p/new'":
                "For a device with an older app, with an explanation.",
            "linkd resolve --table my.json --json < events.jsonl": "Resolves events, as JSON.",
            "linkd resolve --key d-0042 --explain "
                + "'{\"aps\":{\"alert\":\"Sale\"},\"ab\":{},\"ab_uri\":\"shop:///p/new\"}'":
                "A push payload as it is, whose device is the key.",
        ],
        run: { call throws(CommandFailure) in
            try ResolveJob(call).run()
        })
}

/// One run of `linkd resolve`.
///
/// A class for the same reason as `Explainer`.
private final class ResolveJob {
    private let call: Invocation
    private let view: DecisionView
    private let device: JSONValue?
    private var decider: Decider
    private let explainer: Explainer
    private var arena = OutputArena()
    private let record: RecordFlags
    private var deadLetters = 0
    private var inputs = 0
    /// A Boolean value that indicates whether the use of `--device` with an event was reported.
    private var hasWarned = false

    init(_ call: Invocation) throws(CommandFailure) {
        let device = try DeviceFlag.object(call.text("device"))
        let settings = try call.settings()
        if call.operands.isEmpty { try call.reserveStandardInput(for: "the links", settings.list("tables")) }
        let shipped = ShippedFiles(environment: call.environment)
        let tables = try LoadedTables(settings, shipped: shipped, toExplain: call.isOn("explain"), on: call.console)
        let vendors = try LoadedVendors(settings, shipped, on: call.console)
        self.call = call
        self.device = device
        record = RecordFlags(key: call.text("key"), headers: call.pairs("header"))
        view = DecisionView(style: call.console.out.style)
        let configuration = DeciderConfiguration(settings, tables.tables, vendors)
        decider = Decider(configuration)
        explainer = Explainer(configuration)
    }

    func run() throws(CommandFailure) -> ExitCode {
        if call.operands.isEmpty {
            // A record with a byte order mark is a dead letter.
            try ByteSource(path: "-").forEachLine(
                limit: EventInput.limit, request: "Type links or events", on: call.console, keepsMark: true
            ) {
                resolve($0)
            }
        } else {
            let names = call.operands.filter { !$0.hasPrefix("{") && !$0.contains(":") }
            if let name = names.first(where: Platform.exists) {
                let path = Escaping.visible(name)
                let isDirectory = FileStamp(of: name)?.isDirectory == true
                throw CommandFailure(
                    .usage, "\(path) is a \(isDirectory ? "directory" : "file"), not a link or an event",
                    advice: "pass a table with --table, and lines of links or events on standard input, with the "
                        + "flags of this command: `linkd resolve < \(isDirectory ? "FILE" : ShellQuote.posix(path))`")
            }
            for operand in call.operands { resolve(Array(operand.utf8)) }
        }
        guard deadLetters > 0 else { return .success }
        throw CommandFailure(
            .badData,
            "\(deadLetters) of \(Counts.text(inputs, "input")) would become "
                + "\(deadLetters == 1 ? "a dead letter" : "dead letters")",
            advice: "correct the inputs (the worker reference describes each reason)")
    }

    private func resolve(_ input: [UInt8]) {
        inputs += 1
        arena.reset()
        if device != nil, input.first == UInt8(ascii: "{"), !hasWarned {
            call.console.warn(
                "warning: --device is for bare links; the device of an event is its own `device`, or else --key")
            hasWarned = true
        }
        let value = event(input)
        var decisions: [(device: String, json: [UInt8])] = []
        var explanations: [Explainer.DeviceExplanation] = []
        var unclaimed = Explainer.UnclaimedEvent()
        let cause = value.withUnsafeBufferPointer { value in
            // A bare link needs a key for its device. An event has its own device.
            let isEvent = value.first == UInt8(ascii: "{") || value.first == UInt8(ascii: "[")
            let key = record.key ?? (isEvent ? nil : ByteView("device"))
            return resolve(ByteView(value), key, &decisions, &explanations, &unclaimed)
        }
        if !call.json { printInput(input) }
        if cause?.item == nil, cause != nil { decisions = [] }
        for (index, decision) in decisions.enumerated() {
            let explanation = index < explanations.count ? explanations[index] : nil
            if call.json {
                printJSON(explanation?.json(of: decision.json) ?? decision.json)
            } else {
                printDecision(decision.json, explanation, of: decisions.count > 1 ? decision.device : nil)
            }
        }
        if cause != nil { deadLetters += 1 }
        for cause in cause?.all ?? [] { printDeadLetter(cause, input, unclaimed) }
    }

    /// Resolves a record, and explains its decisions.
    private func resolve(
        _ value: ByteView, _ key: ByteView?, _ decisions: inout [(device: String, json: [UInt8])],
        _ explanations: inout [Explainer.DeviceExplanation], _ unclaimed: inout Explainer.UnclaimedEvent
    ) -> DeadLetterCause? {
        let headers = record.headers
        if call.isOn("explain") { explanations = explainer.explain(value: value, key: key, headers: headers) }
        let cause = decider.decide(value: value, key: key, headers: headers, into: &arena) {
            device, decision, _ in
            decisions.append((device.string, decision.array))
        }
        if call.isOn("explain"), cause?.reason == .applicationUnknown, cause?.item == nil {
            unclaimed = explainer.unclaimed(value: value, key: key, headers: headers)
        }
        return cause
    }

    private func printInput(_ input: [UInt8]) {
        let text = DisplayWidth.cut(String(decoding: input, as: UTF8.self), to: 200)
        call.console.out.line(view.style.name(Escaping.visible(text)))
    }

    /// Prints the exact bytes of a decision, or of a decision whose last member is an explanation.
    private func printJSON(_ bytes: [UInt8]) {
        let line = String(decoding: bytes, as: UTF8.self)
        let out = call.console.out
        out.line(out.isTerminal ? TerminalControl.escaped(json: line) : line)
    }

    /// Returns an event for a bare link with the facts of `--device`.
    ///
    /// Any other input is returned unchanged.
    private func event(_ input: [UInt8]) -> [UInt8] {
        guard let device, input.first != UInt8(ascii: "{"), let link = String(validating: input, as: UTF8.self),
            input.contains(UInt8(ascii: ":")), !input.contains(where: { $0 <= 0x20 || $0 == 0x7F })
        else { return input }
        let text = JSONText.object { json in
            json.text("link", link)
            json.beginObject("device")
            json.text("id", device["id"]?.string ?? record.key?.string ?? "device")
            for fact in device.object ?? [] where fact.name != "id" { json.value(fact.name, fact.value) }
            json.endObject()
        }
        return Array(text.utf8)
    }

    private func printDecision(
        _ bytes: [UInt8], _ explanation: Explainer.DeviceExplanation?, of device: String?
    ) {
        guard let json = try? JSONValue.parse(bytes, maxDepth: 512) else { return }
        let out = call.console.out
        let route = json["route"]?.string.map { "  " + Escaping.visible($0) } ?? ""
        let table = json["table"]?.string.map { "  " + view.style.paint(Escaping.visible($0), .dim) } ?? ""
        let owner = device.map { Escaping.visible($0) + "  " } ?? ""
        let lines = DecisionLines(bytes, view)
        out.line("  " + owner + lines.outcome + route + table)
        for line in explanation?.envelope.lines ?? [] { out.line("    " + Escaping.visible(line)) }
        if let text = explanation?.decision?.text {
            for line in text.split(separator: "\n") { out.line("    " + line) }
            return
        }
        if !lines.summary.isEmpty { out.line("    " + lines.summary) }
        for line in lines.data { out.line("      " + line) }
        let via = json["via"]?.array?.compactMap(\.string) ?? []
        if !via.isEmpty { out.line("    via " + Escaping.visible(via.joined(separator: ", "))) }
        for note in json["notes"]?.array?.compactMap(\.string) ?? [] {
            out.line("    " + view.style.paint("note: " + Escaping.visible(note), .dim))
        }
    }

    /// Prints a dead letter, as JSON in the form `{"dead_letter":{"reason","stage","pointer","detail"}}`.
    ///
    /// The dead letter of an item has `item` first. The pointer is null if no member is at fault. With `--explain`, the
    /// members `envelope` and `tables` follow if no table claims the link.
    private func printDeadLetter(
        _ cause: DeadLetterCause, _ input: [UInt8], _ unclaimed: Explainer.UnclaimedEvent
    ) {
        let out = call.console.out
        guard call.json else {
            let item = cause.item.map { "item \($0)  " } ?? ""
            out.line(
                "  " + item + view.style.paint("dead letter", .bad)
                    + "  \(cause.reason.rawValue) (\(cause.reason.stage))")
            let place = InputPlace.text(pointer: cause.pointer, in: input)
            out.line("    " + Escaping.visible(cause.detail) + place)
            for line in unclaimed.envelope?.lines ?? [] { out.line("    " + Escaping.visible(line)) }
            for claim in unclaimed.tables { printUnclaimed(claim) }
            if call.isOn("explain"), cause.reason == .applicationUnknown, cause.item == nil, unclaimed.tables.isEmpty {
                out.line("    applications of the tables: " + Escaping.visible(list(explainer.applications)))
            }
            return
        }
        out.json { json in
            json.beginObject("dead_letter")
            if let item = cause.item { json.number("item", Int64(item)) }
            json.text("reason", cause.reason.rawValue)
            json.text("stage", cause.reason.stage)
            json.text("pointer", cause.pointer)
            json.text("detail", cause.detail)
            unclaimed.envelope?.write("envelope", to: &json)
            if !unclaimed.tables.isEmpty {
                json.objects("tables", of: unclaimed.tables) { json, claim in
                    json.text("table", claim.table.identity)
                    json.boolean("claims", claim.isClaimed)
                    json.raw("explain", claim.explanation.json)
                }
            }
            json.endObject()
        }
    }

    /// Prints the reason why a table does not claim a link, or that another one claims it too.
    ///
    /// An explanation with suggestions is printed completely, any other as one line.
    private func printUnclaimed(_ claim: Explainer.Claim) {
        let out = call.console.out
        let name = view.style.name(Escaping.visible(claim.table.id))
        if claim.isClaimed {
            return out.line("    " + name + "  reads links with this scheme and host, as another table does")
        }
        let explanation = claim.explanation
        guard explanation.suggestions.isEmpty else {
            out.line("    " + name)
            for line in explanation.text.split(separator: "\n") { out.line("      " + line) }
            return
        }
        let text = explanation.failure?.text ?? "does not choose a table for this request"
        let listed = explanation.listed.isEmpty ? "" : " (the table lists \(list(explanation.listed)))"
        out.line("    " + name + "  " + Escaping.visible(text + listed))
    }

    private func list(_ names: [String]) -> String {
        names.isEmpty ? "none" : names.map { $0.isEmpty ? "(no host)" : $0 }.joined(separator: ", ")
    }
}
