internal import ByteStorage
package import StrictJSON

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
                request.mode = mode.map(Self.mode) ?? .unspecified
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

extension LinkRequest {
    /// A JSON object: the parameters of a route or a push payload.
    ///
    /// You can write it as a literal, `["order": 12, "gift": true]`, or read it from JSON with ``init(json:)``. Two
    /// objects are equal if they have the same members with equal values, in any order. Numbers are equal if their
    /// texts are equal.
    public struct Object: Sendable, Hashable, ExpressibleByDictionaryLiteral {
        /// The object as JSON text.
        public let json: String

        /// The object as a tree.
        package let value: JSONValue

        /// The maximum size of an object, in bytes.
        public static let maxBytes = 1 << 20

        /// The maximum nesting depth of arrays and objects.
        public static let maxDepth = 64

        /// Reads an object from UTF-8 encoded JSON.
        ///
        /// - Parameter json: The bytes of one JSON object, with at most ``maxBytes`` bytes and ``maxDepth`` levels. A
        ///   name may occur only once in an object.
        /// - Throws: A ``LinkRequestError`` if the bytes are not such an object. The error never contains the bytes.
        public init(json: some Sequence<UInt8>) throws(LinkRequestError) {
            let bytes = [UInt8](json.prefix(Self.maxBytes + 1))
            guard bytes.count <= Self.maxBytes else {
                throw LinkRequestError(description: "the object is larger than \(Self.maxBytes) bytes")
            }
            let value: JSONValue
            do throws(JSONError) {
                value = try JSONValue.parse(bytes, maxDepth: Self.maxDepth)
            } catch {
                throw LinkRequestError(description: "not JSON: \(error.text) at byte \(error.offset)")
            }
            guard value.object != nil else { throw LinkRequestError(description: "expected a JSON object") }
            self.json = String(decoding: bytes, as: UTF8.self)
            self.value = value
        }

        /// Creates an object from members in order.
        ///
        /// If a name occurs more than once, its last value is used.
        ///
        /// - Parameter members: The names and values.
        public init(_ members: some Sequence<(String, Value)>) {
            self.init(validated: Value.json(Array(members)))
        }

        /// Creates an object from a literal.
        ///
        /// If a name occurs more than once, its last value is used.
        public init(dictionaryLiteral elements: (String, Value)...) { self.init(elements) }

        /// Creates an object from a tree, or returns nil if the tree is not an object.
        package init?(_ value: JSONValue) {
            guard value.object != nil else { return nil }
            self.init(validated: value)
        }

        init(validated value: JSONValue) {
            json = value.text
            self.value = value
        }

        /// The names of the members, in order.
        public var names: [String] { value.object?.map(\.name) ?? [] }

        /// Returns the value of a member, or nil if the object does not have it.
        public subscript(name: String) -> Value? { value[name].map { Value($0) } }

        /// Returns a Boolean value that indicates whether both objects have the same members with equal values.
        public static func == (a: Object, b: Object) -> Bool { a.value.isEqual(to: b.value) }

        /// Adds the members to a hash, regardless of their order.
        public func hash(into hasher: inout Hasher) { value.hash(into: &hasher) }
    }

    /// A value in the parameters of a route or in a push payload.
    public enum Value: Sendable, Hashable {
        /// A null.
        case null
        /// A Boolean value.
        case bool(Bool)
        /// A number, as the text of a JSON number, so that no precision is lost.
        ///
        /// A text that is not a JSON number is written as a string.
        case number(String)
        /// A text.
        case string(String)
        /// A list of values.
        case array([Value])
        /// An object.
        case object(Object)
    }
}

extension LinkRequest.Value: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates a text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates a number.
    public init(integerLiteral value: Int64) { self = .number("\(value)") }
    /// Creates a number.
    public init(floatLiteral value: Double) { self = .number(decimalText(value)) }
    /// Creates a Boolean value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates a list.
    public init(arrayLiteral elements: LinkRequest.Value...) { self = .array(elements) }
    /// Creates an object.
    public init(dictionaryLiteral elements: (String, LinkRequest.Value)...) {
        self = .object(LinkRequest.Object(elements))
    }
}

extension LinkRequest.Value {
    init(_ json: JSONValue) {
        switch json.kind {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .number(let text): self = .number(text)
        case .string(let text): self = .string(text)
        case .array(let elements): self = .array(elements.map { Self($0) })
        case .object: self = LinkRequest.Object(json).map { .object($0) } ?? .null
        }
    }

    /// The value as a JSON tree.
    var json: JSONValue {
        switch self {
        case .null: JSONValue(.null)
        case .bool(let value): JSONValue(.bool(value))
        case .number(let text): Self.isNumber(text) ? JSONValue(.number(text)) : JSONValue(.string(text))
        case .string(let text): JSONValue(.string(text))
        case .array(let elements): JSONValue(.array(elements.map(\.json)))
        case .object(let object): object.value
        }
    }

    /// Returns an object with the last value of each name.
    fileprivate static func json(_ members: [(String, LinkRequest.Value)]) -> JSONValue {
        // Names are compared byte by byte, as in `init(json:)`. A `String` is also equal to its other Unicode forms.
        var seen: [[UInt8]: Int] = [:]
        var written: [JSONMember] = []
        for (name, value) in members {
            let member = JSONMember(name: name, value: value.json)
            let bytes = Array(name.utf8)
            if let index = seen[bytes] {
                written[index] = member
            } else {
                seen[bytes] = written.count
                written.append(member)
            }
        }
        return JSONValue(.object(written))
    }

    private static func isNumber(_ text: String) -> Bool {
        if case .number? = (try? JSONValue.parse([UInt8](text.utf8)))?.kind { return true }
        return false
    }
}

/// An error for a request that cannot be read.
public struct LinkRequestError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The error as a phrase: what was found or expected.
    ///
    /// It never contains the request.
    public let description: String

    /// Creates an error from a phrase that contains no part of the request.
    package init(description: String) { self.description = description }
}
