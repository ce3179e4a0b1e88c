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
