internal import ByteStorage

/// A request to a table: a link, a coordinator path, a route with parameters, or a push payload.
public enum LinkRequest: Sendable, Hashable {
    /// A deep link, universal link, or campaign link.
    case link(String)
    /// A coordinator path: absolute, such as `/auth/a/b`, or relative, such as `auth/c`.
    case path(String, mode: Mode? = nil)
    /// A route id, with parameters: strings, numbers, and Boolean values by name.
    case route(String, params: Object = [:])
    /// A push payload, in which the table's JSON pointers find a link or a route.
    ///
    /// See RouteTableReference, "Payload".
    case payload(Object)

    /// The way in which a stack is applied to the device's stack.
    public enum Mode: String, Sendable, Codable {
        /// The stack replaces the device's stack. This is the default for an absolute path.
        case replace
        /// The entries are added on top. This is the default for a relative path.
        case append
        /// The device goes back to the last entry if it is in the device's stack. Otherwise, the mode works like
        /// `append`.
        case reuse
    }

    /// Calls a closure with the request in the form that the resolver reads.
    package func withRequest<Result>(_ body: (RequestView) -> Result) -> Result {
        switch self {
        case .link(let text): return Self.lend(text) { body(RequestView(form: .link, text: $0, isPlain: false)) }
        case .path(let text, let mode):
            return Self.lend(text) {
                var request = RequestView(form: .path, text: $0, isPlain: false)
                request.mode = mode.map(Self.mode) ?? .unsaid
                return body(request)
            }
        case .route(let id, let params):
            return Self.lend(id) { id in
                Self.lend(params.json) { params in
                    var request = RequestView(form: .route, text: id, isPlain: false)
                    request.params = params
                    return body(request)
                }
            }
        case .payload(let object):
            return Self.lend(object.json) { payload in
                withUnsafePointer(to: payload) { root in
                    var request = RequestView(form: .payload, text: .empty, isPlain: true)
                    request.payload = payload
                    request.roots = UnsafeBufferPointer(start: root, count: 1)
                    return body(request)
                }
            }
        }
    }

    private static func mode(_ mode: Mode) -> RequestView.Mode {
        switch mode {
        case .replace: .replace
        case .append: .append
        case .reuse: .reuse
        }
    }

    private static func lend<Result>(_ text: String, _ body: (ByteView) -> Result) -> Result {
        [UInt8](text.utf8).withUnsafeBufferPointer { body(ByteView($0)) }
    }
}
