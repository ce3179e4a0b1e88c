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
    /// The port.
    package var port: UInt16

    /// The address as text, with an IPv6 address in brackets.
    package var description: String { address.contains(":") ? "[\(address)]:\(port)" : "\(address):\(port)" }
}

/// A complete request.
package struct HTTPRequest: Sendable {
    /// The method.
    package var method: HTTPMethod
    /// The decoded path, which begins with a slash.
    package var path: String
    /// The decoded query items in their order.
    package var query: [HTTPTarget.QueryItem] = []
    /// The headers.
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
    /// Headers in addition to those that the server adds.
    ///
    /// A header of the same name replaces the server's `Cache-Control` and `X-Content-Type-Options`. A response with a
    /// `Connection`, `Content-Length`, `Content-Type`, `Date`, or `Transfer-Encoding` header, or with a control
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
