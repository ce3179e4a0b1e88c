internal import HTTPServer

/// The address of a worker's page `/status`.
struct WorkerAddress: Sendable, Equatable {
    /// The address of the worker's server.
    let address: ListenAddress
    /// The path of the page.
    let path: String

    /// Reads a URL such as `http://worker-0:8080`.
    ///
    /// A URL with another scheme, a user, or a query ends with exit code 64. The path is `/status` if the URL has none.
    init(_ text: String) throws(CommandFailure) {
        let failure = CommandFailure(
            .usage, "--worker: `\(text.filter { $0.isASCII && !$0.isWhitespace }.prefix(200))` is not an http URL",
            advice: "pass the address of the worker's setting `http.listen`, such as http://worker-0:8080")
        guard text.hasPrefix("http://"), text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { throw failure }
        let rest = text.dropFirst("http://".count)
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        let authority = rest[..<slash]
        guard !authority.isEmpty, !authority.contains("@"), !rest.contains("?"), !rest.contains("#") else {
            throw failure
        }
        let hasPort = authority.last.map { $0.isNumber } == true && authority.contains(":") && !authority.hasSuffix("]")
        do throws(HTTPServerError) {
            address = try ListenAddress(parsing: hasPort ? String(authority) : "\(authority):80")
        } catch {
            throw failure
        }
        guard !address.host.isEmpty else { throw failure }
        path = slash == rest.endIndex || rest[slash...] == "/" ? "/status" : String(rest[slash...])
    }
}
