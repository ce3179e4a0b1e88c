internal import RouteAnalysis
internal import RouteTools
internal import LinkCoordinator
internal import StrictJSON

/// `linkd routes prove`: proves the properties that the owner of a table states.
enum RoutesProveCommand {
    static let command = Command(
        path: ["routes", "prove"],
        summary: "Prove what the owner of a table states about it",
        discussion: [
            "A property says that some requests never, or always, have some results, such as that no request shows a "
                + "screen of the account to a device without the claim `session`. It covers links, coordinator paths, "
                + "routes by their id, and payloads.",
            "Each property is proved for all requests and all devices, refuted with a request and a device that break "
                + "it, or unproved with the reason. The resolver has decided each request that is printed.",
            "The setting `properties` makes a worker refuse a table that breaks one of its properties.",
            "Ends with exit code 0 if no property is refuted, and with 1 if one is, or with --strict if one is "
                + "unproved. A file that cannot be read as properties ends with 65.",
        ],
        flags: [
            Flag("--strict", "End with exit code 1 also for properties that are unproved."),
            Flag("--json", "Print one JSON object."),
        ],
        operands: Operands(
            name: "TABLE PROPERTIES", help: "The file of the table, and the file of its properties.", count: 2...2),
        examples: [
            "linkd routes prove config/samples/tours.json config/samples/tours-properties.json":
                "The ten properties of a sample table.",
            "linkd routes prove my-table.json my-properties.json --strict": "Fails in CI unless each is proved.",
        ],
        run: run)

    private static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
        let table = try CheckedTable.validTable(at: call.operands[0])
        let path = call.operands[1]
        let check = PropertyCheck(path: path, json: try PropertyCheck.bytes(of: path), table)
        guard let file = check.file else {
            print(check, file: path, call)
            throw check.failure ?? CommandFailure(.badData, "the properties cannot be read", advice: "fix the file")
        }
        if call.json {
            writeJSON(check, file, table, call.console.out)
        } else {
            print(check, file: path, call)
        }
        let unproved = check.problems.count - check.refuted
        if let failure = check.failure { throw CommandFailure(.finding, failure.reason, advice: failure.advice) }
        guard call.isOn("strict"), unproved > 0 else { return .success }
        throw CommandFailure(
            .finding,
            "\(Counts.text(unproved, "property", plural: "properties")) \(unproved == 1 ? "is" : "are") unproved",
            advice: "see the reasons above")
    }

    private static func print(_ check: PropertyCheck, file path: String, _ call: Invocation) {
        let out = call.console.out
        for problem in check.problems { problem.print(file: path, on: out) }
        for (property, verdict) in zip(check.file?.properties ?? [], check.verdicts) {
            guard case .proved(let note) = verdict else { continue }
            let text = property.text.map { "  " + out.style.paint(Escaping.visible($0), .dim) } ?? ""
            out.line(out.style.paint("proved", .good) + "  \(Escaping.visible(property.id.value))" + text)
            if let note { out.line("  note: \(note)") }
        }
    }

    private static func writeJSON(
        _ check: PropertyCheck, _ file: PropertyFile, _ table: RouteTable, _ out: Channel
    ) {
        out.json { json in
            json.text("table", table.identity)
            json.objects("properties", of: Array(zip(file.properties, check.verdicts))) { json, one in
                json.text("id", one.0.id.value)
                json.text("text", one.0.text)
                switch one.1 {
                case .proved(let note):
                    json.text("verdict", "proved")
                    json.text("note", note)
                case .unproved(let gap):
                    json.text("verdict", "unproved")
                    json.text("reason", gap)
                case .refuted(let witness):
                    json.text("verdict", "refuted")
                    json.text("request", witness.request.text)
                    json.text("device", witness.device.json)
                    json.text("decision", witness.decision.description)
                }
            }
        }
    }
}
