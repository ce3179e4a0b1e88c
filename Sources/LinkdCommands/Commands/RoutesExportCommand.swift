internal import RouteTools
internal import LinkCoordinator

/// `linkd routes export`: writes a table in the format of another system.
enum RoutesExportCommand {
    static let command = Command(
        path: ["routes", "export"],
        summary: "Export a table for apps and for consumers of its decisions",
        discussion: [
            "aasa: Apple's apple-app-site-association file with `components`. android: intent filters for a manifest. "
                + "assetlinks: the file of a site that allows an Android app to open its links. swift: a file for an "
                + "app that imports LinkCoordinator. json-schema, typescript, kotlin: the contract of the table's "
                + "decisions, for programs that read the output topic.",
            "The Swift file contains the table. It has an enum with a case for each route and a function that writes "
                + "its link, a struct for each model, an enum with a case for each screen and its models, and a type "
                + "for decisions, so that the app can switch over everything that a table or a server decides. A "
                + "route is an error if none of its links leads back to it.",
            "A contract has the table's screens, models, and routes, and is strict about them. It accepts what "
                + "versions of linkd add to decisions. The article `Contracts` of RouteTools has the rules. The "
                + "TypeScript file has types only. The Kotlin file needs Kotlin 1.3 or later, and reads a decision "
                + "from the map of any JSON library.",
            "Some patterns have no exact equivalent. For those, the export matches more links than the table, and a "
                + "line on standard error names each one. The table still decides in the app. In four cases the "
                + "export matches fewer links, also with a line on standard error: repeated slashes are not exported, "
                + "a slash at the end of a path is not exported for Android, only the first "
                + "\(LinkShape.maxRewrites) rewrites of a block are exported, and a query that meets a constraint only "
                + "with the options of `query`, such as a repeated name, is not exported for Apple. Without such a "
                + "line, two spellings are not exported for Android: a slash as %2F in a segment, and a link of a "
                + "custom scheme without a host. `linkd routes check` compares a table with the files of an app.",
        ],
        flags: [
            Flag("--format", .choice(Format.allCases.map(\.rawValue)), "Format to write. Required."),
            Flag(
                "--app-id", .texts(count: 1...64, bytes: 3...256), repeats: true, placeholder: "TEAM.BUNDLE",
                "aasa: app identifier with its prefix."),
            Flag(
                "--host", .text(bytes: 1...253), placeholder: "HOST",
                "aasa: export for this host only. Default: all hosts of the table."),
            Flag(
                "--package", .text(bytes: 3...256), default: "the application of the table, if it lists one",
                placeholder: "NAME", "assetlinks: package name of the app."),
            Flag(
                "--fingerprint", .texts(count: 1...64, bytes: 0...256), repeats: true, placeholder: "AB:CD:…",
                "assetlinks: SHA-256 fingerprint of the app's signing certificate, as keytool prints it."),
            Flag(
                "--type-name", .name(bytes: 1...64), default: "derived from the id of the table",
                "swift: name of the enum of links. The other names begin with it, without Link at its end."),
        ],
        operands: Operands(name: "TABLE", help: "The file of the table.", count: 1...1),
        examples: [
            "linkd routes export config/routes/shop.json --format aasa --app-id ABCDE12345.com.example.shop":
                "The file for https://shop.example/.well-known/apple-app-site-association.",
            "linkd routes export config/routes/shop.json --format android": "Intent filters for an <activity>.",
            "linkd routes export config/routes/shop.json --format swift > ShopLink.swift":
                "Links, models, and screens as Swift code, for an app.",
            "linkd routes export config/routes/shop.json --format typescript > shop.ts":
                "The types of decisions, for a service.",
        ],
        run: run)

    private enum Format: String, CaseIterable {
        case aasa, android, assetlinks, swift
        case jsonSchema = "json-schema"
        case typescript, kotlin
    }

    private static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
        guard let format = call.text("format").flatMap(Format.init) else {
            throw CommandFailure(
                .usage, "no format is specified",
                advice: "pass --format " + Format.allCases.map(\.rawValue).joined(separator: "|"))
        }
        let (table, json) = try CheckedTable.validFile(at: call.operands[0])
        switch format {
        case .aasa: try exportAssociation(call, table)
        case .android:
            let filters = AndroidFilters(table)
            guard !filters.filters.isEmpty else { throw emptyExport(table, "links with a listed scheme") }
            call.console.out.write(filters.xml)
            printNotes(filters.notes, call)
        case .assetlinks: try exportAssetLinks(call, table)
        case .swift: try exportSwift(call, table, json)
        case .jsonSchema: call.console.out.write(DecisionContract(table).jsonSchema)
        case .typescript: call.console.out.write(DecisionContract(table).typeScript)
        case .kotlin:
            do throws(ContractError) {
                call.console.out.write(try ContractKotlin(DecisionContract(table)).text)
            } catch {
                throw CommandFailure(
                    .badData, "table \(Escaping.visible(table.id)) cannot be exported: \(error)",
                    advice: "split the model or the screen, or use --format json-schema")
            }
        }
        return .success
    }

    private static func exportSwift(
        _ call: Invocation, _ table: RouteTable, _ json: [UInt8]
    ) throws(CommandFailure) {
        do throws(SwiftExportError) {
            let file = try SwiftExport(table, json: json, typeName: call.text("type-name"))
            call.console.out.write(file.text)
            printNotes(file.notes, call)
        } catch {
            throw CommandFailure(
                .badData, "table \(Escaping.visible(table.id)) cannot be exported: \(Escaping.visible("\(error)"))",
                advice: "change the route so that its links have values, or remove its `match`")
        }
    }

    private static func exportAssociation(_ call: Invocation, _ table: RouteTable) throws(CommandFailure) {
        let appIDs = call.list("app-id")
        guard !appIDs.isEmpty else {
            throw CommandFailure(
                .usage, "no app is specified",
                advice: "pass --app-id PREFIX.BUNDLE, for example ABCDE12345.com.example.app"
            )
        }
        for id in appIDs where !AppleAssociation.isAppID(id) {
            call.console.warn(
                "warning: iOS ignores `\(Escaping.visible(id))`, which is not a prefix of 10 capital letters and "
                    + "digits with a bundle id, such as ABCDE12345.com.example.app")
        }
        guard let association = AppleAssociation(table, host: call.text("host")?.lowercased()) else {
            throw emptyExport(table, "https links")
        }
        try AssociationResult.check(call.text("host").map { [$0] } ?? [], table)
        let json = association.json(appIDs: appIDs)
        call.console.out.write(json)
        if let note = AppleAssociation.sizeNote(json) { call.console.warn("warning: " + note) }
        printNotes(association.notes, call)
        printHosts(table, call, host: call.text("host"), file: "apple-app-site-association") { "applinks:\($0)" }
    }

    private static func exportAssetLinks(_ call: Invocation, _ table: RouteTable) throws(CommandFailure) {
        let applications = table.source.applications.map(\.value)
        guard let package = call.text("package") ?? (applications.count == 1 ? applications[0] : nil) else {
            throw CommandFailure(
                .usage, "no package is specified", advice: "pass --package NAME, for example com.example.app")
        }
        guard AssetLinks.isPackage(package) else {
            throw CommandFailure(
                .usage, "`\(Escaping.visible(package))` is not the name of an Android package",
                advice: "pass --package NAME, the applicationId of the app, for example com.example.app")
        }
        let fingerprints = call.list("fingerprint")
        guard !fingerprints.isEmpty, fingerprints.allSatisfy(AssetLinksFile.isFingerprint) else {
            throw CommandFailure(
                .usage, fingerprints.isEmpty ? "no fingerprint is specified" : "a fingerprint is not a SHA-256 hash",
                advice: "pass --fingerprint with 32 hexadecimal bytes and colons, as keytool -list -v prints them")
        }
        guard WebBlock.first(table.source) != nil else { throw emptyExport(table, "https links") }
        call.console.out.write(AssetLinks.json(package: package, fingerprints: fingerprints))
        printHosts(table, call, host: nil, file: "assetlinks.json") { "android:host=\"\($0)\"" }
    }

    private static func emptyExport(_ table: RouteTable, _ content: String) -> CommandFailure {
        CommandFailure(
            .badData, "table \(Escaping.visible(table.id)) matches no \(content), so there is nothing to export",
            advice: "add the scheme https and a host to its `link`, or use --format swift")
    }

    /// Prints notes about the parts of the table that the export cannot express.
    private static func printNotes(_ notes: ExportNotes, _ call: Invocation) {
        for line in notes.lines { call.console.warn("note: " + Escaping.visible(line)) }
    }

    /// Prints the URL of the file on each host, and the entry of the host in the app.
    private static func printHosts(
        _ table: RouteTable, _ call: Invocation, host: String?, file: String, name: (String) -> String
    ) {
        guard let (block, _) = WebBlock.first(table.source) else { return }
        for rule in WebBlock.hosts(block) {
            if let host, !rule.matches(host: Array(host.lowercased().utf8), port: nil) { continue }
            let text = Escaping.visible(host?.lowercased() ?? rule.text)
            let location: String
            switch rule {
            case .exact(_, .some):
                call.console.warn("note: the file cannot state the port of \(text), so serve it on the default port")
                continue
            case .suffix where host == nil:
                location = "Serve it as https://HOST/.well-known/\(file) on each host of \(text)"
            default: location = "Serve it as https://\(text)/.well-known/\(file)"
            }
            call.console.note("\(location). The entry in the app is \(Escaping.visible(name(rule.text))).")
        }
    }
}
