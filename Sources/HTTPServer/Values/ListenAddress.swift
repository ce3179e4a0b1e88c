/// The address that a server listens on.
package struct ListenAddress: Sendable, Equatable, CustomStringConvertible {
    /// An IP address without brackets or a host name, or an empty string for all interfaces.
    package var host: String
    /// The port, or 0 for a free port that the system selects.
    package var port: UInt16

    /// Creates an address.
    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Parses `host:port`, `[IPv6 address]:port`, or `:port`.
    package init(parsing text: String) throws(HTTPServerError) {
        guard let colon = text.lastIndex(of: ":") else { throw .invalid(text, "the port is missing") }
        let digits = text[text.index(after: colon)...]
        guard !digits.isEmpty, digits.utf8.count <= 5, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = UInt16(digits)
        else { throw .invalid(text, "the port is not a number from 0 to 65535") }
        host = try Self.host(text[..<colon], of: text)
        self.port = port
    }

    private static func host(_ host: Substring, of text: String) throws(HTTPServerError) -> String {
        if host.hasPrefix("[") {
            let inner = host.dropFirst().dropLast()
            guard host.hasSuffix("]"), inner.contains(":"), inner.utf8.count <= 64,
                inner.utf8.allSatisfy({ isNameByte($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "%") })
            else { throw .invalid(text, "the brackets do not contain an IPv6 address") }
            return String(inner)
        }
        guard !host.contains(":") else { throw .invalid(text, "an IPv6 address needs brackets") }
        guard host.utf8.count <= 253, host.utf8.allSatisfy(isNameByte) else {
            throw .invalid(text, "the host is not an IP address or a host name")
        }
        return String(host)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// The address as text, with an IPv6 address in brackets.
    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// An error that prevents the start of a server.
package struct HTTPServerError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The stable identifiers of errors.
    package enum Code: String, Sendable, CaseIterable {
        /// The text is not an address with a port.
        case invalidAddress = "http.address.invalid"
        /// The host name has no IP address.
        case unknownHost = "http.host.unknown"
        /// Another socket listens on the address and the port.
        case addressInUse = "http.address.in_use"
        /// The process is not allowed to use the port.
        case permissionDenied = "http.permission.denied"
        /// No network interface of this machine has the address.
        case addressNotAvailable = "http.address.not_available"
        /// The certificate or the key cannot be used for TLS.
        case unusableIdentity = "http.tls.unusable"
        /// The system has no more sockets, threads, or memory.
        case outOfResources = "http.resources.exhausted"
    }

    /// The identifier.
    package var code: Code
    /// The address as it was written.
    package var address: String
    /// The cause.
    package var message: String
    /// The next step.
    package var next: String

    /// The address, the message, the code, and the next step.
    package var description: String { "\(address): \(message) (\(code.rawValue)). Next: \(next)" }

    /// Returns the error for an address that cannot be parsed.
    static func invalid(_ address: String, _ message: String) -> HTTPServerError {
        HTTPServerError(
            code: .invalidAddress, address: address, message: message,
            next: "write host:port, [IPv6 address]:port, or :port for all interfaces, such as 127.0.0.1:8080")
    }

    /// Returns the error for a host name without an IP address.
    static func unknownHost(_ address: String, _ cause: String) -> HTTPServerError {
        HTTPServerError(
            code: .unknownHost, address: address, message: "the host name has no IP address: \(cause)",
            next: "correct the name, or use an IP address of this machine")
    }

    /// Returns the error for a certificate or a key that the library does not accept.
    static func unusableIdentity(_ address: String, isSupported: Bool) -> HTTPServerError {
        HTTPServerError(
            code: .unusableIdentity, address: address,
            message: isSupported
                ? "the certificate and the key cannot be used for TLS" : "libmicrohttpd was built without TLS",
            next: isSupported
                ? "check that both are in the PEM format, that the key has no password, and that they belong together"
                : "install libmicrohttpd with TLS, or put a proxy with TLS in front of the server")
    }

    /// Returns the error for a missing thread or another missing resource.
    static func resources(_ address: String, _ message: String) -> HTTPServerError {
        HTTPServerError(
            code: .outOfResources, address: address, message: message,
            next: "increase the limits of open files, threads, and memory of this process")
    }
}
