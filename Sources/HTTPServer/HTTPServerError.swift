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
