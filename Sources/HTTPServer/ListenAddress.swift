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
