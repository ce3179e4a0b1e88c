internal import ByteStorage
internal import HTTPServer
internal import LinkCoordinator
internal import RouteTools

/// The check of each request before a console answers it.
///
/// A page of another site can send requests to the console's address from the same browser. The `Host` header reveals
/// names that were bound to the address (DNS rebinding), `Origin` and `Sec-Fetch-Site` reveal the page of another site,
/// and a cookie with `SameSite=Strict` is not sent with its requests (RFC 6265bis, section 5.5).
struct ConsoleGuard: Sendable {
    /// The result of the check.
    enum Verdict {
        /// The request is answered.
        case pass
        /// The request is answered with this response instead.
        case answer(HTTPResponse)
    }

    /// The header that every request with an effect must have, which a form of another site cannot send.
    static let ownHeader = "X-Linkd-Console"

    /// The token of the process.
    let token: AccessToken
    /// The authorities under which browsers know the console, in lower case, such as `127.0.0.1:8090`.
    let authorities: Set<String>
    /// A Boolean value that indicates whether browsers reach the console over TLS, its own or a proxy's.
    let isSecure: Bool
    private let cookieName: String
    /// The value of the cookie, which differs from the token, so whoever learns one of them does not have the other.
    private let session: AccessToken

    /// Creates the check of a console.
    ///
    /// - Parameters:
    ///   - token: The token of the process.
    ///   - address: The address of the server.
    ///   - hosts: The other names under which browsers know the console, with a port if it is not 443.
    ///   - isSecure: A Boolean value that indicates whether browsers reach the console over TLS.
    ///   - session: The value of the cookie.
    init(
        token: AccessToken, address: ListenAddress, hosts: [String], isSecure: Bool,
        session: AccessToken = AccessToken()
    ) {
        self.token = token
        self.session = session
        self.isSecure = isSecure
        var names = ["127.0.0.1", "localhost", "[::1]"].map { "\($0):\(address.port)" }
        names.append(address.description)
        authorities = Set((names + hosts).map { $0.lowercased() })
        // Cookies do not distinguish ports, so two consoles on one machine need two names.
        cookieName = "linkd_console_\(address.port)"
    }

    /// Checks a request.
    func check(_ request: HTTPRequest) -> Verdict {
        guard let host = single("Host", request), authorities.contains(host.lowercased()) else {
            return .answer(
                .problem(
                    403, "host", "the name of this address is not one of the console's",
                    next:
                        "open the address that `linkd console` has printed, or pass --behind-proxy HOST or --host HOST")
            )
        }
        if ["/", "/index.html"].contains(request.path), let text = request.queryValue("token") {
            return .answer(exchange(text))
        }
        guard request.path.hasPrefix("/api/") else { return .pass }
        return checkAPI(request).map(Verdict.answer) ?? .pass
    }

    /// Returns the refusal of a request for data, or nil.
    private func checkAPI(_ request: HTTPRequest) -> HTTPResponse? {
        let isForeign =
            values("Sec-Fetch-Site", request).contains { $0 != "same-origin" && $0 != "none" }
            || values("Origin", request).contains { !isOwn($0) }
        if isForeign {
            return Self.refusal("origin", "a page of another site has sent this request")
        }
        guard hasToken(request) else {
            return .problem(
                401, "token", "this browser has not opened the console with its token",
                next: "open the address that `linkd console` has printed; scripts send `Authorization: Bearer TOKEN`")
        }
        guard request.method == .post else { return nil }
        let type = request.headers["Content-Type"]?.split(separator: ";").first.map { String($0).lowercased() }
        guard type == "application/json" else {
            return .problem(
                415, "content_type", "the body of this request is not JSON",
                next: "send `Content-Type: application/json`")
        }
        guard request.headers[Self.ownHeader] == "1" else {
            return Self.refusal("own_header", "the header `\(Self.ownHeader): 1` is missing")
        }
        return nil
    }

    private static func refusal(_ code: String, _ message: String) -> HTTPResponse {
        .problem(403, code, message, next: "use the console's own page, or a script that sends no `Origin`")
    }

    /// Returns a Boolean value that indicates whether the console's page has this origin.
    private func isOwn(_ origin: String) -> Bool {
        let schemes = isSecure ? ["https://", "http://"] : ["http://"]
        return schemes.contains { scheme in
            origin.hasPrefix(scheme) && authorities.contains(origin.dropFirst(scheme.count).lowercased())
        }
    }

    /// Returns a Boolean value that indicates whether a request has the token as a bearer token, or the cookie.
    private func hasToken(_ request: HTTPRequest) -> Bool {
        if let value = single("Authorization", request) {
            let parts = value.split(separator: " ", maxSplits: 1)
            return parts.count == 2 && parts[0].lowercased() == "bearer" && token.matches(String(parts[1]))
        }
        return request.headers.fields.contains { field in
            field.name.lowercased() == "cookie"
                && field.value.split(separator: ";").contains { pair in
                    let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
                    return parts.count == 2 && parts[0] == cookieName && session.matches(String(parts[1]))
                }
        }
    }

    /// Returns the response that sets the cookie for the token of the address, and removes the token from it.
    private func exchange(_ text: String) -> HTTPResponse {
        guard token.matches(text) else {
            return .problem(
                403, "token", "this is not the token of the process that now runs",
                next: "open the address that `linkd console` has printed since its last start")
        }
        let secure = isSecure ? "; Secure" : ""
        return HTTPResponse(
            status: 303, contentType: "text/plain; charset=utf-8",
            headers: [
                "Location": "/",
                "Set-Cookie": "\(cookieName)=\(session.text); Path=/; SameSite=Strict; HttpOnly\(secure)",
            ], body: .bytes([]))
    }

    /// Returns the value of a header that a request has exactly once, or nil.
    private func single(_ name: String, _ request: HTTPRequest) -> String? {
        let values = values(name, request)
        return values.count == 1 ? values[0] : nil
    }

    /// Returns the values of all headers with a name.
    private func values(_ name: String, _ request: HTTPRequest) -> [String] {
        request.headers.fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }
}

/// A secret that opens the API of a console: the token of scripts, or the cookie of browsers.
///
/// It is either 128 random bits, written as 32 hexadecimal digits, or the text of a file. Random bits are valid as long
/// as the process runs. The text of a file stays valid after a restart.
struct AccessToken: Sendable {
    let text: String

    /// The length of the shortest token in a file: 128 bits in base64.
    static let minBytes = 22
    /// The length of the longest token in a file.
    static let maxBytes = 256

    /// Creates a token with random bits of the system.
    init() {
        var generator = SystemRandomNumberGenerator()
        text = [generator.next(), generator.next()].map { (bits: UInt64) in bits.hexadecimal(digits: 16) }.joined()
    }

    /// Reads the token of a file, without the white space at its ends.
    ///
    /// A file that cannot be read, or that has no long token of the characters of URLs, ends with exit code 78.
    init(file path: String) throws(CommandFailure) {
        let advice = "write a token into it, for example with `openssl rand -hex 16`"
        let file = "--token-file: \(Escaping.visible(path))"
        let token = try Platform.required(path, limit: 4096, as: file, advice: advice).trimmed
        guard (Self.minBytes...Self.maxBytes).contains(token.count), token.allSatisfy({ $0.isASCIIWord(or: "-._~") })
        else {
            throw CommandFailure(
                .configuration,
                "\(file): expected \(Self.minBytes) to \(Self.maxBytes) letters, "
                    + "digits, `-`, `.`, `_`, and `~`",
                advice: advice)
        }
        text = String(decoding: token, as: UTF8.self)
    }

    /// Creates the value of the cookie for the token of a file, the same in every process with this file.
    ///
    /// Whoever learns it does not have the token.
    init(sessionOf token: AccessToken) {
        text = String(SHA256.hex(Array("linkd console session\n\(token.text)".utf8)).prefix(32))
    }

    /// Returns a Boolean value that indicates whether a text is the token.
    ///
    /// The time does not depend on the position of the first difference.
    func matches(_ other: String) -> Bool {
        let (own, other) = (Array(text.utf8), Array(other.utf8))
        guard own.count == other.count else { return false }
        return zip(own, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
