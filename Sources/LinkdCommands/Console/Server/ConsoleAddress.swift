internal import HTTPServer
internal import RouteTools

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
        let bytes = try Platform.required(
            path, limit: fileLimit, as: "\(flag): \(Escaping.visible(path))",
            advice: "pass a file in the PEM format that this user can read")
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the error of a server that does not start.
    static func failure(_ error: HTTPServerError) -> CommandFailure {
        CommandFailure(
            .configuration, "--listen: \(error.address): \(error.message) (\(error.code.rawValue))",
            advice: error.next)
    }

    /// A Boolean value that indicates whether browsers reach the console over TLS.
    var isSecure: Bool { tls != nil || !proxies.isEmpty }

    /// Returns the authorities of a running server beside its own address, the one to show first.
    func authorities(port: UInt16) -> [String] {
        proxies + hosts.flatMap { host in port == 443 ? [host, "\(host):443"] : ["\(host):\(port)"] }
    }

    /// Returns the origin to show for a running server.
    func origin(of address: ListenAddress) -> String {
        let scheme = isSecure ? "https" : "http"
        return "\(scheme)://\(authorities(port: address.port).first ?? address.description)"
    }
}
