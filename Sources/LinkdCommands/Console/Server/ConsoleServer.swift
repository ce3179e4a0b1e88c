internal import DecisionIndex
internal import DispatchWorker
internal import HTTPServer
internal import KafkaClient
internal import LinkCoordinator
internal import RouteTools
internal import SystemThreads
internal import LinkDecider

/// The running server of a console.
final class ConsoleServer {
    /// The address to open, with the token unless a file contains it.
    let url: String
    /// The file of the token, or nil if the token is random.
    private let tokenFile: String?
    private let server: HTTPServer
    /// The reader of decisions and dead letters, or nil without a broker.
    private let feed: DecisionFeed?

    /// Starts the server.
    ///
    /// An address beyond this machine without TLS and without a proxy ends with exit code 64, and one that cannot be
    /// used with 78.
    ///
    /// - Parameters:
    ///   - call: The call of the command.
    ///   - settings: The settings.
    ///   - connection: The cluster, or nil for the cluster in the settings, if they name one.
    init(_ call: Invocation, _ settings: Settings, connection: Connection? = nil) throws(CommandFailure) {
        let files = try ConsoleFiles(ShippedFiles(environment: call.environment))
        let hasBroker = !settings.list("bootstrap").isEmpty
        let cluster = hasBroker && connection == nil ? try Connection(settings) : connection
        let site = try ConsoleSite(call, settings, cluster)
        feed = cluster.map { DecisionFeed(Self.feedOptions(call, site, $0)) }
        let address = try ConsoleAddress(call)
        tokenFile = call.text("token-file")
        let given = try tokenFile.map { path throws(CommandFailure) in try AccessToken(file: path) }
        do throws(HTTPServerError) {
            // The check needs the port, which the system selects for port 0.
            let router = Monitor<ConsoleRouter?>(nil)
            server = try HTTPServer(
                Self.limits(address), answerEarly: { request in router.withLock { $0 }?.answerEarly(request) }
            ) { request in
                router.wait(milliseconds: 10_000) { $0 }?.respond(to: request)
                    ?? .problem(503, "starting", "the console is starting", next: "try again")
            }
            let token = given ?? AccessToken()
            let check = ConsoleGuard(
                token: token, address: server.address, hosts: address.authorities(port: server.address.port),
                isSecure: address.isSecure, session: given.map(AccessToken.init(sessionOf:)) ?? AccessToken())
            let ready = Self.router(check, files, site, feed, call)
            router.signal { $0 = ready }
            // Whoever can read the output of a service must not learn the token of its file.
            url = address.origin(of: server.address) + (given == nil ? "/?token=\(token.text)" : "/")
            feed?.start()
        } catch {
            throw ConsoleAddress.failure(error)
        }
    }

    /// Prints the address.
    func announce(on console: Console) {
        console.out.line("The console is at " + console.out.style.heading(url))
        if let tokenFile {
            console.note(
                "Open it once in each browser with `?token=` and the token in \(Escaping.visible(tokenFile)).")
        }
        console.note("Press Ctrl-C to stop.")
        console.flush()
    }

    /// Stops the server, its readers, and its streams.
    func stop() {
        feed?.stop()
        server.stop()
    }

    /// Returns the options of the reader of decisions and dead letters.
    private static func feedOptions(
        _ call: Invocation, _ site: ConsoleSite, _ connection: Connection
    ) -> FeedOptions {
        let now = Platform.nowMilliseconds
        let since = Timestamps.parse(call.text("since") ?? "24h", now: now) ?? now - 86_400_000
        return FeedOptions(
            connection: connection, settings: site.settings, since: since, masks: site.masks)
    }

    private static func router(
        _ check: ConsoleGuard, _ files: ConsoleFiles, _ site: ConsoleSite, _ feed: DecisionFeed?,
        _ call: Invocation
    ) -> ConsoleRouter {
        var router = ConsoleRouter(check, files)
        InfoRoute.add(to: &router, site)
        TryRoutes.add(to: &router, site)
        WorkerRoute.add(to: &router, site, RecordMask(hash: KeyedHash(), isOn: site.masks))
        ReplayRoute.add(to: &router, site, call)
        ReplayReasons.add(to: &router, site, feed)
        let traffic = feed?.routeTraffic
        MapRoutes.add(to: &router, site, traffic: traffic)
        let status = site.worker.map { worker in { @Sendable in try? WorkerClient.get(worker) } }
        CompareRoutes.add(to: &router, site, traffic: traffic, status: status)
        DecisionRoutes.add(to: &router, feed)
        DecisionRoute.add(to: &router, site, feed)
        return router
    }

    /// Returns the limits of the server.
    private static func limits(_ address: ConsoleAddress) -> HTTPServerConfiguration {
        var result = HTTPServerConfiguration(address: address.listen)
        result.tls = address.tls
        result.maxConnections = 128
        // All users of a proxy have its address.
        result.maxConnectionsPerAddress = 128
        result.maxBodyBytes = 8 << 20
        result.handlerMilliseconds = 60_000
        result.handlerThreads = 4
        result.shares = shares
        return result
    }

    /// The threads of each kind of request, so that many requests of one kind do not hold up the others.
    private static let shares = [
        HTTPThreadShare(["/api/resolve", "/api/matrix"], threads: 4),
        HTTPThreadShare(["/api/map", "/api/route"], threads: 2),
        HTTPThreadShare(["/api/compare"], threads: 2),
        HTTPThreadShare(["/api/decision"], threads: 4),
        HTTPThreadShare(["/api/decisions.csv"], threads: 2),
        HTTPThreadShare(["/api/decisions", "/api/deadletters", "/api/chart"], threads: 4),
        HTTPThreadShare(["/api/replay", "/api/replay/reasons"], threads: 2),
        HTTPThreadShare(["/api/worker"], threads: 2),
    ]
}

/// The address of a console, and the names under which browsers reach it.
struct ConsoleAddress {
    /// The limit of the file of a certificate or a key, in bytes.
    private static let fileLimit = 1 << 20

    /// The address to listen on.
    let listen: ListenAddress
    /// The certificate and the key of the console's own TLS, or nil.
    let tls: TLSIdentity?
    /// The names of a proxy with TLS in front of the console.
    private let proxies: [String]
    /// The names of the console with TLS of its own.
    private let hosts: [String]

    /// Reads the address from the flags.
    ///
    /// An address beyond this machine without TLS and without a proxy ends with exit code 64, and a file that cannot be
    /// read with 78.
    init(_ call: Invocation) throws(CommandFailure) {
        do throws(HTTPServerError) {
            listen = try ListenAddress(parsing: call.text("listen") ?? "127.0.0.1:8090")
        } catch {
            throw Self.failure(error)
        }
        (proxies, hosts) = (call.list("behind-proxy"), call.list("host"))
        let files = (call.text("tls-certificate"), call.text("tls-key"))
        switch files {
        case (let certificate?, let key?):
            tls = TLSIdentity(
                certificate: try Self.text(of: certificate, "--tls-certificate"),
                key: try Self.text(of: key, "--tls-key"))
        case (nil, nil): tls = nil
        default:
            throw CommandFailure(
                .usage, "--tls-certificate and --tls-key need each other", advice: "pass both, or neither")
        }
        if tls == nil, !hosts.isEmpty {
            throw CommandFailure(
                .usage, "--host is the name of a console with TLS of its own",
                advice: "pass --tls-certificate and --tls-key, or --behind-proxy HOST for a proxy with TLS")
        }
        if tls != nil, hosts.isEmpty, proxies.isEmpty, ["", "0.0.0.0", "::"].contains(listen.host) {
            throw CommandFailure(
                .usage, "--listen \(listen) says no name of the console",
                advice: "pass --host HOST, a name of the certificate under which browsers reach this machine")
        }
        guard tls != nil || !proxies.isEmpty || ["127.0.0.1", "::1", "localhost"].contains(listen.host) else {
            throw CommandFailure(
                .usage, "--listen \(listen) is reachable from other machines, which need TLS",
                advice: "listen on 127.0.0.1, pass --tls-certificate and --tls-key, "
                    + "or pass --behind-proxy HOST if a proxy with TLS is in front of it")
        }
    }

    private static func text(of path: String, _ flag: String) throws(CommandFailure) -> String {
        switch Platform.contents(of: path, limit: fileLimit) {
        case .success(let bytes): return String(decoding: bytes, as: UTF8.self)
        case .failure(let error):
            throw CommandFailure(
                .configuration, "\(flag): \(Escaping.visible(path)) cannot be read: \(error.text)",
                advice: "pass a file in the PEM format that this user can read")
        }
    }

    /// Returns the error of a server that does not start.
    static func failure(_ error: HTTPServerError) -> CommandFailure {
        CommandFailure(
            .configuration, "--listen: \(error.address): \(error.message) (\(error.code.rawValue))",
            advice: error.next)
    }

    /// A Boolean value that indicates whether browsers reach the console over TLS.
    var isSecure: Bool { tls != nil || !proxies.isEmpty }

    /// Returns the authorities of a running server other than its own address, the one to show first.
    func authorities(port: UInt16) -> [String] {
        proxies + hosts.flatMap { host in port == 443 ? [host, "\(host):443"] : ["\(host):\(port)"] }
    }

    /// Returns the origin to show for a running server.
    func origin(of address: ListenAddress) -> String {
        let scheme = isSecure ? "https" : "http"
        return "\(scheme)://\(authorities(port: address.port).first ?? address.description)"
    }
}

/// The state that the endpoints of a console share, from its start to its end.
final class ConsoleSite: Sendable {
    /// A table and its file.
    struct Table: Sendable {
        let table: RouteTable
        /// The path of the file.
        let path: String
        /// The bytes of the file.
        let json: [UInt8]
    }

    /// The tables of the settings, or the shipped ones.
    let tables: [Table]
    let settings: Settings
    /// The shipped files.
    let shipped: ShippedFiles
    /// The vendors and link platforms.
    let vendors: LoadedVendors
    /// The cluster, or nil without a broker.
    let connection: Connection?
    /// A Boolean value that indicates whether device ids and link parameters of records are masked.
    let masks: Bool
    /// A Boolean value that indicates whether dead letters can be replayed.
    let allowsReplay: Bool
    /// The worker whose state is shown, or nil.
    let worker: WorkerAddress?

    /// The configuration by which a worker with these settings decides.
    var decider: DeciderConfiguration { DeciderConfiguration(settings, tables.map(\.table), vendors) }

    /// Creates the shared state of a console.
    init(_ call: Invocation, _ settings: Settings, _ connection: Connection?) throws(CommandFailure) {
        self.settings = settings
        shipped = ShippedFiles(environment: call.environment)
        let isDirectory = settings.text("table.directory") != nil
        let paths = try isDirectory ? TableFiles(settings).paths() : LoadedTables.paths(settings, shipped)
        let loaded = try LoadedTables(paths: paths) { file, problem in
            guard problem.severity == .error else { return }
            call.console.warn(Escaping.visible(problem.text(file: file)))
        }
        tables = loaded.files.compactMap { file in
            file.table.map { Table(table: $0, path: file.path, json: file.json) }
        }
        vendors = try LoadedVendors(settings, shipped, on: call.console)
        self.connection = connection
        masks = call.isOn("mask")
        allowsReplay = call.isOn("allow-replay")
        worker = try call.text("worker").map { text throws(CommandFailure) in try WorkerAddress(text) }
    }

    /// The topic of the decisions.
    var decisionTopic: String { settings.text("output") ?? "link-decisions" }

    /// Returns the table with an id.
    func table(_ id: String?) throws(ConsoleProblem) -> Table {
        guard let id else {
            guard let first = tables.first, tables.count == 1 else {
                throw ConsoleProblem(
                    code: "table", message: "the parameter `table` is missing", next: "pass one of \(ids)")
            }
            return first
        }
        guard let found = tables.first(where: { $0.table.id == id }) else {
            throw ConsoleProblem(
                status: 404, code: "table", message: "no table has this id", next: "pass one of \(ids)")
        }
        return found
    }

    private var ids: String { tables.map { "`\($0.table.id)`" }.joined(separator: ", ") }
}

/// The files of the page, which are read once, when the console starts.
struct ConsoleFiles: Sendable {
    /// A file.
    struct File: Sendable {
        /// The name in the directory.
        var name: String
        /// The value of the `Content-Type` header.
        var contentType: String
        /// The contents.
        var bytes: [UInt8]

        /// The paths of the file: its name, and for the page itself also the root.
        var paths: [String] { name == "index.html" ? ["/", "/index.html"] : ["/" + name] }
    }

    /// The maximum size of a file in bytes.
    private static let limitBytes = 1 << 20
    private static let types = [
        "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8",
        "svg": "image/svg+xml",
    ]

    /// The files.
    let all: [File]

    /// Reads the files of the directory `console` that comes with linkd.
    ///
    /// A directory or a file that cannot be read ends with exit code 78.
    init(_ shipped: ShippedFiles) throws(CommandFailure) {
        let directory = try shipped.path("console")
        var files: [File] = []
        for name in Platform.names(in: directory).sorted() {
            guard let dot = name.lastIndex(of: "."), let type = Self.types[String(name[name.index(after: dot)...])]
            else { continue }
            switch Platform.contents(of: directory + "/" + name, limit: Self.limitBytes) {
            case .success(let bytes): files.append(File(name: name, contentType: type, bytes: bytes))
            case .failure(let error):
                throw CommandFailure(
                    .configuration, "\(directory)/\(name), a file of the console's page, cannot be read: \(error.text)",
                    advice: "install linkd again, or set LINKD_HOME to its directory `config`")
            }
        }
        guard files.contains(where: { $0.name == "index.html" }) else {
            throw CommandFailure(
                .configuration, "\(directory) has no file index.html, the console's page",
                advice: "install linkd again, or set LINKD_HOME to its directory `config`")
        }
        all = files
    }
}
