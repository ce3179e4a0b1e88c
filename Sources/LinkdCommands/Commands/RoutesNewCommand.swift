internal import LinkCoordinator
internal import RouteTools

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
        let id = call.text("id") ?? "my-shop"
        guard NameRule.identifier.matches(id) else {
            throw CommandFailure(
                .usage, "--id: \(id) is not the id of a table", advice: "pass \(NameRule.identifier.text)")
        }
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
