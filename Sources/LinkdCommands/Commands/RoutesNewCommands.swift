internal import LinkCoordinator
internal import RouteTools

/// `linkd routes import`: makes a table from the description of links of another system.
enum RoutesImportCommand {
    static let command = Command(
        path: ["routes", "import"],
        summary: "Make a table from an app's link files",
        discussion: [
            "aasa: Apple's apple-app-site-association file. manifest: an AndroidManifest.xml, best the merged one of a "
                + "build. react-navigation: the `linking` object of React Navigation, saved as JSON.",
            "The table is valid, and its examples are links of the source. It resolves the links of the source as the "
                + "source does. Lines on standard error name what the source does not say, such as screens and data "
                + "types (unknown), links of the source that no route opens (leaves out), and links that only the "
                + "table opens (opens more). Where a table cannot express a pattern, it opens less: an exclusion "
                + "becomes wider, and what it covers is left out.",
        ],
        flags: [
            Flag("--from", .choice(TableImport.Source.allCases.map(\.rawValue)), "Kind of the file. Required."),
            Flag("--id", .name(bytes: 1...64), default: "imported", "Id of the table."),
            Flag(
                "--host", .texts(count: 1...64, bytes: 1...253), repeats: true, placeholder: "HOST",
                "aasa: host on which the file is served. Required, because the file does not name it."),
            Flag(
                "--app-id", .texts(count: 1...64, bytes: 1...255), repeats: true, placeholder: "ID",
                "aasa: import the components of this app only, as PREFIX.BUNDLE."),
        ] + OutputFile.flags("table"),
        operands: Operands(name: "FILE", help: "The file to import, or - for standard input.", count: 1...1),
        examples: [
            "linkd routes import --from aasa --host shop.example --out shop.json apple-app-site-association":
                "A table for the universal links of an app.",
            "linkd routes import --from manifest --out shop.json AndroidManifest.xml":
                "A table for its intent filters.",
            "linkd routes import --from react-navigation --out shop.json linking.json":
                "Screens, parents, and parameters of React Navigation.",
        ],
        run: run)

    private static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
        try OutputFile.check(call)
        guard let source = call.text("from").flatMap(TableImport.Source.init) else {
            throw CommandFailure(
                .usage, "no kind of file is specified",
                advice: "pass --from " + TableImport.Source.allCases.map(\.rawValue).joined(separator: "|"))
        }
        if source != .aasa, let flag = ["host", "app-id"].first(where: { !call.list($0).isEmpty }) {
            throw CommandFailure(
                .usage, "--\(flag) is for --from aasa", advice: "remove it: the file names its hosts and its app")
        }
        if source == .aasa, call.list("host").isEmpty {
            throw CommandFailure(
                .usage, "an apple-app-site-association file does not name its host",
                advice: "pass --host with the host on which the file is served, such as shop.example")
        }
        if let host = call.list("host").first(where: { !TableImport.isHost($0) }) {
            throw CommandFailure(
                .usage, "--host: \(Escaping.visible(host)) is not a host on which the file can be served",
                advice: "pass its name without a port, such as shop.example: the file is served on port 443")
        }
        let id = try call.tableID(otherwise: "imported")
        let path = call.operands[0]
        let bytes = try Platform.required(
            path, limit: AssociationCheck.maxBytes, as: "file \(Escaping.visible(path))",
            advice: "specify a file of at most \(AssociationCheck.maxBytes) bytes that this user can read",
            readsInput: true)
        let imported: TableImport
        do throws(AssociationProblem) {
            imported = try TableImport(
                bytes, from: source, id: id, hosts: call.list("host"),
                apps: call.list("app-id"))
        } catch {
            let place = error.line > 0 ? ":\(error.line):\(error.column)" : ""
            throw CommandFailure(
                .badData, "\(Escaping.visible(path))\(place): \(Escaping.visible(error.message))",
                advice: "correct the file, or pass the flags that fit it")
        }
        if imported.hasLinks { try OutputFile.write(imported.json, call) }
        for note in imported.notes {
            let place = note.line > 0 ? "\(Escaping.visible(path)):\(note.line):\(note.column): " : ""
            call.console.warn("\(place)\(note.kind.rawValue): \(Escaping.visible(note.message))")
        }
        guard imported.hasLinks else {
            throw CommandFailure(
                .badData,
                "\(Escaping.visible(path)): no link of the file can be in a table: there is no link to import",
                advice: "correct the file, or pass the flags that fit it")
        }
        if let file = OutputFile.path(call) {
            call.console.note("Next: linkd routes check \(ShellQuote.posix(Escaping.visible(file)))")
        }
        return .success
    }
}

extension Invocation {
    /// Returns `--id`, the id of a new table.
    func tableID(otherwise id: String) throws(CommandFailure) -> String {
        let id = text("id") ?? id
        guard NameRule.identifier.matches(id) else {
            throw CommandFailure(
                .usage, "--id: \(id) is not the id of a table", advice: "pass \(NameRule.identifier.text)")
        }
        return id
    }
}

/// `linkd routes new`: writes a small table to start from.
enum RoutesNewCommand {
    static let command = Command(
        path: ["routes", "new"],
        summary: "Write a table with three routes to start from",
        discussion: [
            "The table is the one of the article Your first table: a list of products, a product, and a search, with "
                + "models, a fallback, and examples. `linkd routes check` accepts it. Change it route by route, and "
                + "check it after each step."
        ],
        flags: [
            Flag("--id", .name(bytes: 1...64), default: "my-shop", "Id of the table."),
            Flag(
                "--scheme", .text(bytes: 1...64), default: "shop", placeholder: "SCHEME",
                "Scheme of the app's links, such as shop in shop://p/7."),
            Flag(
                "--host", .text(bytes: 1...253), placeholder: "HOST",
                "Host of the app's web links, such as shop.example. Without it, the table has no web links."),
        ] + OutputFile.flags("table"),
        examples: [
            "linkd routes new --out my-shop.json": "A table for links such as shop://p/7.",
            "linkd routes new --id news --scheme news --host news.example --out news.json":
                "The same for https://news.example/p/7 too.",
        ],
        run: run)

    private static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
        try OutputFile.check(call)
        let scheme = call.text("scheme") ?? "shop"
        let id = try call.tableID(otherwise: "my-shop")
        guard TableTemplate(id: id, scheme: scheme) != nil else {
            throw CommandFailure(
                .usage, "--scheme: `\(Escaping.visible(scheme))` is not a scheme of an app's own links",
                advice: "pass lowercase letters and digits without ://, such as shop; --host adds links of the web")
        }
        guard let table = TableTemplate(id: id, scheme: scheme, host: call.text("host")) else {
            throw CommandFailure(
                .usage, "--host: `\(Escaping.visible(call.text("host") ?? ""))` is not a host of web links",
                advice: "pass a host in lowercase without https:// and without port 443, such as shop.example")
        }
        try OutputFile.write(table.text, call)
        guard let out = OutputFile.path(call) else { return .success }
        let file = ShellQuote.posix(Escaping.visible(out))
        call.console.note("Next: linkd routes check \(file)")
        call.console.note("      linkd resolve --table \(file) --explain '\(scheme)://p/7'")
        return .success
    }
}
