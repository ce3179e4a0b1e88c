internal import LinkCoordinator
internal import RouteAnalysis
internal import RouteTools
internal import StrictJSON

/// `linkd routes check`: reports the problems of tables.
enum RoutesCheckCommand {
    static let command = Command(
        path: ["routes", "check"],
        summary: "Check route tables and run their examples",
        discussion: [
            "Prints every problem with its location, its code, and a suggestion. A table that a worker would refuse "
                + "ends with exit code 65, and so do two tables that list the same application. Warnings alone end "
                + "with 0, or with 65 if --strict is given.",
            "--for-schema also reports what an app with an older library cannot read: every key and type that is newer "
                + "than the schema version, with the version that introduced it.",
            "--aasa, --manifest, and --assetlinks read the association files of an app and compare them with one "
                + "table: which routes the system never or only partly hands to the app, and which links it hands "
                + "over that no route knows, each with a link. A link is in its usual spelling: characters that a path "
                + "allows are not percent-encoded. A result that is not proved holds for the links that were tried. "
                + "assetlinks.json has paths only for Dynamic App Links. --host and --app-id select among several "
                + "hosts of the table and several apps of the files.",
        ],
        flags: [
            Flag("--strict", "End with exit code 65 also for warnings."),
            Flag(
                "--allow", .texts(count: 1...64, bytes: 1...64), repeats: true, placeholder: "CODE",
                "Ignore warnings with this code."),
            Flag(
                "--for-schema", .integer(schemaVersions), placeholder: "VERSION",
                "Check that a library whose newest schema version is VERSION can read the tables."),
            Flag("--aasa", .file, "Compare with an apple-app-site-association file of Apple's universal links."),
            Flag("--manifest", .file, "Compare with the intent filters of an AndroidManifest.xml."),
            Flag("--assetlinks", .file, "Compare with the dynamic rules of an assetlinks.json file."),
            Flag(
                "--host", .texts(count: 1...64, bytes: 1...253), repeats: true, placeholder: "HOST",
                "Compare only web links with this host, which the association files are for."),
            Flag(
                "--app-id", .texts(count: 1...64, bytes: 1...255), repeats: true, placeholder: "ID",
                "Compare only with this app: PREFIX.BUNDLE in --aasa, a package in --assetlinks."),
            Flag("--json", "Print one JSON object."),
        ],
        settings: .routes,
        operands: .tables,
        examples: [
            "linkd routes check": "The tables that come with linkd.",
            "linkd routes check my-table.json --json": "The result as JSON, for an editor or a build.",
            "linkd routes check my-table.json --strict --allow unused_screen":
                "A build that fails on warnings, except those with one code.",
            "linkd routes check my-table.json --for-schema 1": "A build of a table that apps of last year read.",
            "linkd routes check config/routes/shop.json --aasa apple-app-site-association":
                "The routes that iOS never hands to the app, and links that no route knows.",
        ],
        run: run)

    /// The schema versions that a library can have.
    private static let schemaVersions: ClosedRange<Int64> = {
        let versions = RouteTable.supportedSchemaVersions
        return Int64(versions.lowerBound)...Int64(versions.upperBound)
    }()

    private static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
        let (allowed, allowedOfFiles) = try allowed(call.list("allow"))
        let schema = call.number("for-schema").map { Int($0) }
        var checked: [CheckedTable] = []
        for path in try TablePaths.of(call) {
            var one = try CheckedTable(path: path, includesAdvice: true, forSchemaVersion: schema)
            one.problems.removeAll { $0.severity == .warning && allowed.contains($0.code) }
            checked.append(one)
        }
        let valid = checked.filter { $0.table != nil }
        let conflicts = TableSet(valid.compactMap(\.table)).conflicts
        let shared = SharedApplication.all(conflicts, in: valid.map { ($0.path, $0.json) })
        let associations = try associations(call, checked, allowedOfFiles)
        if call.json {
            printJSON(checked, (conflicts, shared), associations, schema, call.console.out)
        } else {
            printText(checked, schema, call.console.out)
            associations?.print(on: call.console.out)
        }
        for conflict in conflicts where conflict.offsets == nil { call.console.warn(Escaping.visible(conflict.text)) }
        for problem in shared { call.console.warn(problem.textWithPlaces) }
        if let note = associations?.note { call.console.note("note: " + Escaping.visible(note)) }
        guard let first = checked.first(where: \.isRefused) else {
            if let problem = shared.first { throw problem.failure }
            if let path = associations?.refused {
                throw CommandFailure(
                    .badData, "association file \(Escaping.visible(path)) cannot be used",
                    advice: "fix the problems listed above")
            }
            let warnings = checked.reduce(conflicts.count + (associations?.warnings ?? 0)) { $0 + $1.problems.count }
            guard call.isOn("strict"), warnings > 0 else { return .success }
            let subject = associations == nil ? "the tables" : "the table and the association files"
            throw CommandFailure(
                .badData, "\(subject) have \(Counts.text(warnings, "warning"))",
                advice: "fix the problems listed above, or ignore a code with --allow CODE")
        }
        let count = checked.count(where: \.isRefused)
        let refused = schema.map { "refused for schemaVersion \($0)" } ?? "refused"
        throw CommandFailure(
            .badData,
            count == 1
                ? "table \(Escaping.visible(first.path)) is \(refused): \(first.errorsText)"
                : "\(count) tables are \(refused), the first is \(Escaping.visible(first.path))",
            advice: "fix the problems listed above")
    }

    /// Returns the comparison of the table with association files, or nil if there are none, or the table is refused.
    ///
    /// Association files with several tables end with exit code 64.
    private static func associations(
        _ call: Invocation, _ checked: [CheckedTable], _ allowed: Set<AssociationProblem.Code>
    ) throws(CommandFailure) -> AssociationResult? {
        guard AssociationResult.isWanted(call) else {
            guard let flag = ["host", "app-id"].first(where: { !call.list($0).isEmpty }) else { return nil }
            throw CommandFailure(
                .usage, "--\(flag) is given, but no association file",
                advice: "pass --aasa, --manifest, or --assetlinks too")
        }
        guard checked.count == 1 else {
            throw CommandFailure(
                .usage, "association files are compared with one table, but there are \(checked.count)",
                advice: "pass the file of the app's table")
        }
        guard let table = checked[0].table, !checked[0].isRefused else { return nil }
        return try AssociationResult(call, table, allowed: allowed)
    }

    /// Returns the codes to ignore, separately for tables and for association files.
    ///
    /// A word that is not the code of a warning ends with exit code 64.
    private static func allowed(
        _ names: [String]
    ) throws(CommandFailure) -> (tables: Set<TableProblem.Code>, files: Set<AssociationProblem.Code>) {
        var codes: Set<TableProblem.Code> = []
        var codesOfFiles: Set<AssociationProblem.Code> = []
        for name in names {
            if let code = TableProblem.Code.ofWarnings.first(where: { $0.rawValue == name }) {
                codes.insert(code)
                continue
            }
            if let code = AssociationProblem.Code.ofWarnings.first(where: { $0.rawValue == name }) {
                codesOfFiles.insert(code)
                continue
            }
            let known =
                TableProblem.Code.ofWarnings.map(\.rawValue) + AssociationProblem.Code.ofWarnings.map(\.rawValue)
            let isError = TableProblem.Code(rawValue: name) != nil || AssociationProblem.Code(rawValue: name) != nil
            throw CommandFailure(
                .usage,
                isError
                    ? "`\(Escaping.visible(name))` is the code of an error, which cannot be ignored"
                    : "`\(Escaping.visible(name))` is not the code of a warning",
                advice: NearestName.of(name, among: known).map { "use `\($0)`" }
                    ?? "use one of \(known.joined(separator: ", "))")
        }
        return (codes, codesOfFiles)
    }

    private static func printText(_ tables: [CheckedTable], _ schema: Int?, _ out: Channel) {
        for checked in tables {
            for problem in checked.problems { problem.print(file: checked.path, on: out) }
            guard let table = checked.table, !checked.isRefused else { continue }
            let readable = schema.map { ", readable with schemaVersion \($0)" } ?? ""
            out.line(
                out.style.paint("ok", .good) + "  \(Escaping.visible(table.identity))  "
                    + "\(Counts.text(table.source.routes.count, "route")), "
                    + "\(Counts.text(table.source.examples.count, "example")) passed\(readable)  "
                    + out.style.paint(Escaping.visible(checked.path), .dim))
        }
    }

    private static func printJSON(
        _ tables: [CheckedTable], _ conflicts: (all: [TableConflict], shared: [SharedApplication]),
        _ associations: AssociationResult?, _ schema: Int?, _ out: Channel
    ) {
        out.json { json in
            if let schema { json.number("forSchema", Int64(schema)) }
            json.objects("tables", of: tables) { json, checked in
                json.text("file", checked.path)
                json.boolean("ok", !checked.isRefused)
                json.text("table", checked.table?.identity)
                json.number("routes", (checked.table?.source.routes.count).map { Int64($0) })
                json.number("examples", (checked.table?.source.examples.count).map { Int64($0) })
                json.objects("problems", of: checked.problems) { json, problem in problem.write(to: &json) }
                json.boolean("truncated", checked.isTruncated)
            }
            var shared = conflicts.shared[...]
            json.objects("conflicts", of: conflicts.all) { json, conflict in
                json.text("severity", conflict.offsets == nil ? "warning" : "error")
                json.texts("tables", [conflict.names.first, conflict.names.second])
                json.text("message", conflict.text)
                if conflict.offsets != nil, let problem = shared.popFirst() {
                    json.text("code", SharedApplication.code)
                    json.texts("places", [problem.first.text, problem.second.text])
                }
            }
            associations?.write(to: &json)
        }
    }
}

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
