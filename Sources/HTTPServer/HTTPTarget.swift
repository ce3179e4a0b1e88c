/// The path and the query of a request.
///
/// Every percent-encoding must be valid, and the decoded text must be UTF-8. The path must not contain control
/// characters, and the query must not contain NUL.
package struct HTTPTarget: Sendable, Equatable {
    /// A name and a value of the query.
    package struct QueryItem: Sendable, Equatable {
        /// The decoded name.
        package var name: String
        /// The decoded value, which is empty if there is no equals sign.
        package var value: String
    }

    /// The decoded path, which begins with a slash.
    package var path: String
    /// The decoded query items in their order.
    package var query: [QueryItem]

    /// Parses the target of a request line, such as `/status?lane=1`.
    ///
    /// Returns nil if it is not a path with an optional query. The forms for proxies are not supported.
    package init?(_ bytes: some Collection<UInt8>) {
        let end = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex
        guard bytes.first == UInt8(ascii: "/"),
            let path = Self.decode(bytes[..<end], isQuery: false)
        else { return nil }
        self.path = path
        query = []
        guard end != bytes.endIndex else { return }
        for item in bytes[bytes.index(after: end)...].split(separator: UInt8(ascii: "&")) {
            let split = item.firstIndex(of: UInt8(ascii: "=")) ?? item.endIndex
            guard let name = Self.decode(item[..<split], isQuery: true),
                let value = Self.decode(item[split...].dropFirst(), isQuery: true)
            else { return nil }
            query.append(QueryItem(name: name, value: value))
        }
    }

    /// Decodes percent-encoded bytes, and returns nil if they are not valid text.
    private static func decode(_ bytes: some Collection<UInt8>, isQuery: Bool) -> String? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var rest = bytes.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.next().flatMap(hexadecimal), let low = rest.next().flatMap(hexadecimal) else {
                    return nil
                }
                decoded.append(high << 4 | low)
            case UInt8(ascii: "+") where isQuery: decoded.append(UInt8(ascii: " "))
            default: decoded.append(byte)
            }
        }
        guard decoded.allSatisfy({ isQuery ? $0 != 0 : $0 >= 0x20 && $0 != 0x7F }) else { return nil }
        return String(validating: decoded, as: UTF8.self)
    }

    private static func hexadecimal(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
