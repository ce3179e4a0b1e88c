internal import CPlatform
internal import DispatchWorker

/// `linkd console`: serves a page that shows links, tables, and decisions.
enum ConsoleCommand {
    static let command = Command(
        path: ["console"],
        summary: "Serve a page to try links, and to look at tables and decisions",
        discussion: [
            "Serves one page: what a link opens on which version of the app, the map of each table, the decisions and "
                + "dead letters of a cluster and the reason of each, and what a new table would change. Without "
                + "--bootstrap, it shows tables and resolves links only. It only reads, except with --allow-replay.",
            "The printed address contains a token, which the browser keeps as a cookie until linkd ends. Scripts send "
                + "it to the endpoints under /api/ as `Authorization: Bearer TOKEN`. Whoever has the token sees what "
                + "this user's credentials can read. The token of --token-file and its cookies stay valid after a "
                + "restart, and it is not printed.",
            "An address that other machines can reach needs TLS: --tls-certificate with --tls-key and --host, "
                + "or a proxy and --behind-proxy.",
        ],
        flags: [
            Flag("--listen", .address, default: "127.0.0.1:8090", "Address of the page. Port 0 selects a free port."),
            Flag(
                "--behind-proxy", .texts(count: 1...16, bytes: 1...253), repeats: true, placeholder: "HOST",
                "Name under which browsers reach a proxy with TLS in front of the console."),
            Flag("--tls-certificate", .file, "Certificate chain in the PEM format, to serve the page over TLS."),
            Flag("--tls-key", .file, "Private key of the certificate, without a password."),
            Flag(
                "--host", .texts(count: 1...16, bytes: 1...253), repeats: true, placeholder: "HOST",
                "Name of the certificate under which browsers reach the console."),
            Flag(
                "--token-file", .file,
                "File with the token, 22 to 256 characters, instead of a random one. It stays valid after a restart."),
            Flag(
                "--census", .file,
                "Census of `linkd forecast --save-census` for these tables, to show how many devices see what."),
            Flag("--since", .time, default: "24h", "Time from which decisions and dead letters are read."),
            Flag("--mask", "Mask the ids of devices and the parameters of links in records."),
            Flag("--allow-replay", "Allow to replay dead letters, after a dry run."),
            Flag(
                "--worker", .text(bytes: 8...2048), placeholder: "URL",
                "Address of a worker's `http.listen`, whose state the page shows."),
        ],
        settings: .console,
        examples: [
            "linkd console --table my.json": "Tries links with a table, without a broker.",
            "linkd console -b localhost:9092 --since 7d --state-dir /var/lib/linkd":
                "Shows a week of decisions, each explained with the table that made it.",
            "linkd console -b k1:9092 --listen :8090 --behind-proxy links.example.com --mask":
                "For a team, behind a proxy that checks who they are.",
            "linkd console --listen :8443 --host links.example.com --tls-certificate c.pem --tls-key k.pem":
                "For a team, with a certificate of the console's own.",
        ],
        run: { call throws(CommandFailure) in
            linkd_use_one_heap()
            StopSignals.block()
            StopSignals.ignoreBrokenPipes()
            let server = try ConsoleServer(call, try call.settings())
            server.announce(on: call.console)
            StopSignals.waitForBlocked()
            server.stop()
            return .success
        })
}
