internal import ByteStorage

/// The method of a request.
package struct HTTPMethod: RawRepresentable, Hashable, Sendable {
    /// The method's name, which is case-sensitive.
    package let rawValue: String

    /// Creates a method with a name.
    package init(rawValue: String) { self.rawValue = rawValue }

    /// Returns a representation of a resource.
    package static let get = HTTPMethod(rawValue: "GET")
    /// Returns only the status and the headers of `get`.
    package static let head = HTTPMethod(rawValue: "HEAD")
    /// Processes the body of the request.
    package static let post = HTTPMethod(rawValue: "POST")
}

/// Headers in the order in which they were sent or added.
package struct HTTPHeaders: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    /// A header's name and value.
    package struct Field: Sendable, Equatable {
        /// The name as it was written.
        package var name: String
        /// The value without white space at its ends.
        package var value: String
    }

    /// All headers.
    package private(set) var fields: [Field] = []

    /// Creates headers from names and values.
    package init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { add(name, value) }
    }

    /// Adds a header, even if there is one with the same name.
    package mutating func add(_ name: String, _ value: String) { fields.append(Field(name: name, value: value)) }

    /// Returns the value of the first header with a name, in any case, or nil.
    package subscript(name: String) -> String? {
        fields.first { Self.isSame($0.name, name) }?.value
    }

    /// Returns a Boolean value that indicates whether two names are equal if the case of ASCII letters is ignored.
    static func isSame(_ one: String, _ other: String) -> Bool {
        one.utf8.count == other.utf8.count && zip(one.utf8, other.utf8).allSatisfy { lower($0) == lower($1) }
    }

    private static func lower(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
}

/// The address of a client.
package struct HTTPPeer: Sendable, Hashable, CustomStringConvertible {
    /// The IP address as text, such as `127.0.0.1` or `::1`.
    package var address: String
    package var port: UInt16

    /// The address as text, with an IPv6 address in brackets.
    package var description: String { address.contains(":") ? "[\(address)]:\(port)" : "\(address):\(port)" }
}

/// A complete request.
package struct HTTPRequest: Sendable {
    package var method: HTTPMethod
    /// The decoded path, which begins with a slash.
    package var path: String
    /// The decoded query items in their order.
    package var query: [HTTPTarget.QueryItem] = []
    package var headers: HTTPHeaders = [:]
    /// The body, or an empty array.
    package var body: [UInt8] = []
    /// The address of the client.
    package var peer: HTTPPeer

    /// Returns the value of the first query item with a name, or nil.
    package func queryValue(_ name: String) -> String? { query.first { $0.name == name }?.value }
}

/// The answer to a request.
package struct HTTPResponse: Sendable {
    /// The content of a response.
    package enum Body: Sendable {
        /// All bytes.
        case bytes([UInt8])
        /// Bytes that are sent as they become available.
        case stream(HTTPStream)
    }

    /// The status code, from 200 to 599.
    package var status: Int
    /// Headers in addition to the server's own.
    ///
    /// A header of the same name replaces the server's `Cache-Control` and `X-Content-Type-Options`. A response with a
    /// `HTTPConnection`, `Content-Length`, `Content-Type`, `Date`, or `Transfer-Encoding` header, or with a control
    /// character in a header, is replaced with a response of status 500.
    package var headers: HTTPHeaders
    /// The value of the `Content-Type` header.
    package var contentType: String
    /// The content.
    package var body: Body

    /// Creates a response.
    package init(status: Int = 200, contentType: String, headers: HTTPHeaders = [:], body: Body) {
        self.status = status
        self.contentType = contentType
        self.headers = headers
        self.body = body
    }

    /// Closes the stream of a response that nobody receives, so that its producer learns it.
    func discard() {
        if case .stream(let stream) = body { stream.close() }
    }

    /// Creates a response with a line of plain text.
    package static func text(_ text: String, status: Int = 200, headers: HTTPHeaders = [:]) -> HTTPResponse {
        HTTPResponse(
            status: status, contentType: "text/plain; charset=utf-8", headers: headers,
            body: .bytes(Array("\(text)\n".utf8)))
    }
}

/// The path and the query of a request.
///
/// Every percent-encoding must be valid, and the decoded text must be UTF-8. The path must not contain control
/// characters, and the query must not contain NUL.
package struct HTTPTarget: Sendable, Equatable {
    /// A name and a value of the query.
    package struct QueryItem: Sendable, Equatable {
        /// The decoded name.
        package var name: String
        /// The decoded value, or an empty text if there is no equals sign.
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
                guard let high = rest.next().flatMap(hexDigit), let low = rest.next().flatMap(hexDigit) else {
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
}

/// Functions that answer requests, by exact path and method.
package struct HTTPRouter: Sendable {
    /// A function that answers a request.
    package typealias Handler = @Sendable (HTTPRequest) -> HTTPResponse

    private var routes: [String: [HTTPMethod: Handler]] = [:]

    /// Creates a router without routes.
    package init() {}

    /// Sets the function for a path and a method.
    ///
    /// A function for `get` also answers `head`, whose body the server omits.
    package mutating func on(_ method: HTTPMethod, _ path: String, _ handler: @escaping Handler) {
        routes[path, default: [:]][method] = handler
    }

    /// Returns the answer to a request.
    ///
    /// The status is 404 for an unknown path, and 405 for a method that the path does not have.
    package func respond(to request: HTTPRequest) -> HTTPResponse {
        guard let methods = routes[request.path] else { return .text("not found", status: 404) }
        let isHead = request.method == .head
        if let handler = methods[request.method] ?? (isHead ? methods[.get] : nil) { return handler(request) }
        var allowed = methods.keys.map(\.rawValue)
        if methods[.get] != nil && methods[.head] == nil { allowed.append(HTTPMethod.head.rawValue) }
        let list = allowed.sorted().joined(separator: ", ")
        return .text("method not allowed; methods: \(list)", status: 405, headers: ["Allow": list])
    }
}
