internal import ByteStorage
internal import StrictJSON

/// What is asked of a table: a link, a coordinator path, a route with parameters, or a push payload.
public enum LinkRequest: Sendable, Hashable {
    /// A deep link, universal link or campaign link.
    case link(String)
    /// A coordinator path, `/auth/a/b` or relative `auth/c`.
    case path(String, mode: Mode? = nil)
    /// A route by id; parameters as a JSON object of strings, numbers and booleans.
    case route(String, params: String = "{}")
    /// A push payload: the text of a JSON object in which the table's pointers look for a link.
    case payload(String)

    /// How a path is applied to the device's stack.
    public enum Mode: String, Sendable {
        /// The stack takes the place of the device's; the default for an absolute path.
        case replace
        /// The entries go on top; the default for a relative path.
        case append
        /// The device goes back to the last entry if it has it, else as `append`.
        case reuse
    }

    /// Lends the request in the form that the resolver reads; nil where a JSON text in it does not read as an object.
    package func withRequest<Result>(_ body: (RequestView) -> Result) -> Result? {
        switch self {
        case .link(let text): return Self.lend(text) { body(RequestView(form: .link, text: $0, isPlain: false)) }
        case .path(let text, let mode):
            return Self.lend(text) {
                var request = RequestView(form: .path, text: $0, isPlain: false)
                request.mode = mode.map(Self.mode) ?? .unsaid
                return body(request)
            }
        case .route(let id, let params):
            guard Self.isObject(params) else { return nil }
            return Self.lend(id) { id in
                Self.lend(params) { params in
                    var request = RequestView(form: .route, text: id, isPlain: false)
                    request.params = params
                    return body(request)
                }
            }
        case .payload(let json):
            guard Self.isObject(json) else { return nil }
            return Self.lend(json) { payload in
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

    private static func isObject(_ text: String) -> Bool { (try? JSONValue.parse([UInt8](text.utf8)))?.object != nil }

    private static func lend<Result>(_ text: String, _ body: (ByteView) -> Result) -> Result {
        [UInt8](text.utf8).withUnsafeBufferPointer { body(ByteView($0)) }
    }
}
