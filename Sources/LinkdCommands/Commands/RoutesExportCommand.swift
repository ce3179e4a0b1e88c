internal import RouteTools
internal import LinkCoordinator

/// `linkd routes export`: a table for other systems.
enum RoutesExportCommand {
    static let command = Command(
        path: ["routes", "export"],
        summary: "Write a table for iOS, Android or Swift: which links open the app, and how to make them",
        discussion: [
            "aasa: Apple's apple-app-site-association file with `components`. android: intent filters for a manifest. "
                + "assetlinks: the file of a site that lets an Android app open its links. swift: an enum with a case "
                + "for each route, and a function that writes its link.",
            "Some patterns cannot be said exactly. Then the export takes more links than the table, and a line on "
                + "standard error names each of them; the table still decides in the app. It takes fewer in two cases, "
                + "which are named there too: a slash at the end of a path is not exported, and of a block's rewrites "
                + "the first \(LinkShape.maxRewrites) only.",
        ],
        flags: [
            FlagDeclaration("--format", type: .choice(Format.allCases.map(\.rawValue)), "What to write; required."),
            FlagDeclaration(
                "--app-id", type: .texts(count: 1...64, bytes: 3...256), repeats: true, placeholder: "TEAM.BUNDLE",
                "aasa: the app's identifier with its prefix."),
            FlagDeclaration(
                "--host", type: .text(bytes: 1...253), placeholder: "HOST",
                "aasa: only what holds for this host; else for all hosts of the table."),
            FlagDeclaration(
                "--package", type: .text(bytes: 3...256), default: "the table's application, if there is one",
                placeholder: "NAME", "assetlinks: the app's package."),
            FlagDeclaration(
                "--fingerprint", type: .texts(count: 1...64, bytes: 95...95), repeats: true, placeholder: "AB:CD:…",
                "assetlinks: SHA-256 of the certificate that signs the app, as keytool prints it."),
            FlagDeclaration(
                "--type-name", type: .name(bytes: 1...64), default: "made of the table's id",
                "swift: the enum's name."),
        ],
        operands: OperandDeclaration(name: "TABLE", help: "The table's file.", count: 1...1),
        examples: [
            CommandExample(
                line: "linkd routes export config/routes/shop.json --format aasa --app-id ABCDE12345.com.example.shop",
                words: "For https://shop.example/.well-known/apple-app-site-association."),
            CommandExample(
                line: "linkd routes export config/routes/shop.json --format android", words: "For an <activity>."),
            CommandExample(
                line: "linkd routes export config/routes/shop.json --format swift > ShopLink.swift",
                words: "For an app that makes links."),
        ],
        run: run)

    private enum Format: String, CaseIterable { case aasa, android, assetlinks, swift }

    private static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
        guard let format = call.text("format").flatMap(Format.init) else {
            throw CommandFailure(
                .usage, "no format is named",
                advice: "give --format " + Format.allCases.map(\.rawValue).joined(separator: "|"))
        }
        let table = try CheckedTable.whole(call.operands[0])
        switch format {
        case .aasa: try apple(call, table)
        case .android:
            let filters = AndroidFilters(table)
            guard !filters.filters.isEmpty else { throw nothing(table, "links with a scheme of their own") }
            call.console.out.write(filters.xml)
            tell(filters.notes, call)
        case .assetlinks: try assetLinks(call, table)
        case .swift:
            let links = SwiftLinks(table, typeName: call.text("type-name"))
            call.console.out.write(links.text)
            tell(links.notes, call)
        }
        return .success
    }

    private static func apple(_ call: Invocation, _ table: Table) throws(CommandFailure) {
        let appIDs = call.list("app-id")
        guard !appIDs.isEmpty else {
            throw CommandFailure(
                .usage, "no app is named", advice: "give --app-id PREFIX.BUNDLE, for example ABCDE12345.com.example.app"
            )
        }
        guard let association = AppleAssociation(table, host: call.text("host")?.lowercased()) else {
            throw nothing(table, "https links")
        }
        call.console.out.write(association.json(appIDs: appIDs))
        tell(association.notes, call)
        tellHosts(table, call, file: "apple-app-site-association") { "applinks:\($0)" }
    }

    private static func assetLinks(_ call: Invocation, _ table: Table) throws(CommandFailure) {
        let applications = table.source.applications.map(\.value)
        guard let package = call.text("package") ?? (applications.count == 1 ? applications[0] : nil) else {
            throw CommandFailure(
                .usage, "no package is named", advice: "give --package NAME, for example com.example.app")
        }
        let fingerprints = call.list("fingerprint")
        guard !fingerprints.isEmpty, fingerprints.allSatisfy(AssetLinks.isFingerprint) else {
            throw CommandFailure(
                .usage, fingerprints.isEmpty ? "no fingerprint is named" : "a fingerprint is no SHA-256",
                advice: "give --fingerprint with 32 bytes in hexadecimal and colons, as keytool -list -v prints them")
        }
        guard WebBlock.first(table.source) != nil else { throw nothing(table, "https links") }
        call.console.out.write(AssetLinks.json(package: package, fingerprints: fingerprints))
        tellHosts(table, call, file: "assetlinks.json") { "android:host=\"\($0)\"" }
    }

    private static func nothing(_ table: Table, _ what: String) -> CommandFailure {
        CommandFailure(
            .badData, "table \(Escaping.visible(table.id)) takes no \(what): there is nothing to export",
            advice: "list the scheme https and a host in its `link`, or export --format swift")
    }

    /// What the export cannot say.
    private static func tell(_ notes: ExportNotes, _ call: Invocation) {
        for line in notes.lines { call.console.warn("note: " + Escaping.visible(line)) }
    }

    /// Where the file belongs, and how an app names the hosts.
    private static func tellHosts(_ table: Table, _ call: Invocation, file: String, name: (String) -> String) {
        guard let (block, _) = WebBlock.first(table.source) else { return }
        for rule in WebBlock.hosts(block) {
            let text = Escaping.visible(rule.text)
            let words: String
            switch rule {
            case .exact(_, nil): words = "Serve it as https://\(text)/.well-known/\(file)"
            case .suffix: words = "Serve it as https://HOST/.well-known/\(file) on each host of \(text)"
            default:
                call.console.warn("note: the port of \(text) cannot be said: serve the file on its default port")
                continue
            }
            call.console.note("\(words); the app names \(Escaping.visible(name(rule.text))).")
        }
    }
}
