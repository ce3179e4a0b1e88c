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
    package func withRequest<Result>(_ body: (UnsafePointer<RequestView>) -> Result) -> Result {
        switch self {
        case .link(let text): return Self.lend(text) { withUnsafePointer(to: RequestView(form: .link, text: $0), body) }
        case .path(let text, let mode):
            return Self.lend(text) {
                var request = RequestView(form: .path, text: $0)
                request.mode = mode.map(Self.mode) ?? .unspecified
                return withUnsafePointer(to: request, body)
            }
        case .route(let id, let params):
            return Self.lend(id) { id in
                Self.lend(params.json) { params in
                    var request = RequestView(form: .route, text: id)
                    request.params = params
                    return withUnsafePointer(to: request, body)
                }
            }
        case .payload(let object):
            return Self.lend(object.json) { payload in
                withUnsafePointer(to: payload) { root in
                    var request = RequestView(form: .payload, text: .empty)
                    request.payload = payload
                    request.roots = UnsafeBufferPointer(start: root, count: 1)
                    return withUnsafePointer(to: request, body)
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

    /// A JSON object: the parameters of a route or a push payload.
    ///
    /// You can write it as a literal, `["order": 12, "gift": true]`, or read it from JSON with ``init(json:)``. Two
    /// objects are equal if they have the same members with equal values, in any order. Numbers are equal if their
    /// texts are equal. An object that is printed shows only the number of its members, so that no payload reaches a
    /// log.
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

extension LinkRequest.Object: CustomStringConvertible, CustomReflectable {
    /// The number of members.
    ///
    /// ``json`` is the whole object.
    public var description: String {
        let count = value.object?.count ?? 0
        return count == 1 ? "1 member" : "\(count) members"
    }

    /// A mirror without the members.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// An error for a request that cannot be read.
public struct LinkRequestError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The error as a phrase: what was found or expected.
    ///
    /// It never contains the request.
    public let description: String

    /// Creates an error from a phrase that contains no part of the request.
    public init(description: String) { self.description = description }
}

extension LinkRequest: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable { case link, path, mode, route, params, payload }

    /// Reads a request as the members of an event: `link`; `path` and `mode`; `route` and `params`; or `payload`.
    ///
    /// - Throws: `DecodingError` if there is not exactly one of `link`, `path`, `route`, and `payload`, or a member is
    ///   invalid.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let forms = [CodingKeys.link, .path, .route, .payload].filter { container.contains($0) }
        guard let form = forms.first, forms.count == 1 else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: container.codingPath,
                    debugDescription: "expected exactly one of `link`, `path`, `route`, and `payload`"))
        }
        switch form {
        case .path:
            self = .path(
                try container.decode(String.self, forKey: .path),
                mode: try container.decodeIfPresent(Mode.self, forKey: .mode))
        case .route:
            self = .route(
                try container.decode(String.self, forKey: .route),
                params: try container.decodeIfPresent(Object.self, forKey: .params) ?? [:])
        case .payload: self = .payload(try container.decode(Object.self, forKey: .payload))
        default: self = .link(try container.decode(String.self, forKey: .link))
        }
    }

    /// Writes the request as the members of an event.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .link(let link): try container.encode(link, forKey: .link)
        case .path(let path, let mode):
            try container.encode(path, forKey: .path)
            try container.encodeIfPresent(mode, forKey: .mode)
        case .route(let id, let params):
            try container.encode(id, forKey: .route)
            if !params.names.isEmpty { try container.encode(params, forKey: .params) }
        case .payload(let payload): try container.encode(payload, forKey: .payload)
        }
    }
}

extension LinkRequest.Object: Codable {
    /// Reads an object.
    ///
    /// A decoder provides numbers as 64-bit integers or as doubles. Read objects with longer numbers with
    /// ``init(json:)``.
    ///
    /// - Throws: `DecodingError` if the object has more than ``maxBytes`` bytes or ``maxDepth`` levels.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: AnyKey.self)
        let object = Self(validated: try CodedJSON(container).value)
        guard object.json.utf8.count <= Self.maxBytes else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: container.codingPath,
                    debugDescription: "the object is larger than \(Self.maxBytes) bytes"))
        }
        self = object
    }

    /// Writes the members of the object.
    public func encode(to encoder: any Encoder) throws { try CodedJSON(value).encode(to: encoder) }
}

extension LinkRequest.Value: Codable {
    /// Reads a value.
    ///
    /// A decoder provides numbers as 64-bit integers or as doubles.
    ///
    /// - Throws: `DecodingError` if the value has more than ``LinkRequest/Object/maxDepth`` levels.
    public init(from decoder: any Decoder) throws { self.init(try CodedJSON(from: decoder).value) }

    /// Writes the value.
    ///
    /// A number is written as a 64-bit integer if it is one, and as a double otherwise.
    public func encode(to encoder: any Encoder) throws { try CodedJSON(json).encode(to: encoder) }
}

/// A JSON tree that is decoded and encoded in linear time, regardless of its depth.
private struct CodedJSON: Codable {
    let value: JSONValue
    /// The number of levels of arrays and objects.
    private let depth: Int

    init(_ value: JSONValue) {
        self.value = value
        depth = 0
    }

    private init(_ value: JSONValue, depth: Int, at path: [any CodingKey]) throws {
        guard depth <= LinkRequest.Object.maxDepth else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: path,
                    debugDescription: "the value is nested deeper than \(LinkRequest.Object.maxDepth) levels"))
        }
        self.value = value
        self.depth = depth
    }

    init(_ container: KeyedDecodingContainer<AnyKey>) throws {
        var depth = 0
        var members: [JSONMember] = []
        for key in container.allKeys {
            let member = try container.decode(Self.self, forKey: key)
            depth = max(depth, member.depth)
            members.append(JSONMember(name: key.stringValue, value: member.value))
        }
        try self.init(JSONValue(.object(members)), depth: depth + 1, at: container.codingPath)
    }

    init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: AnyKey.self) {
            try self.init(container)
            return
        }
        if var list = try? decoder.unkeyedContainer() {
            var depth = 0
            var elements: [JSONValue] = []
            while !list.isAtEnd {
                let element = try list.decode(Self.self)
                depth = max(depth, element.depth)
                elements.append(element.value)
            }
            try self.init(JSONValue(.array(elements)), depth: depth + 1, at: list.codingPath)
            return
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self.init(JSONValue(.null))
        } else if let value = try? container.decode(Bool.self) {
            self.init(JSONValue(.bool(value)))
        } else if let value = try? container.decode(Int64.self) {
            self.init(JSONValue(.number("\(value)")))
        } else if let value = try? container.decode(UInt64.self) {
            self.init(JSONValue(.number("\(value)")))
        } else if let value = try? container.decode(Double.self) {
            self.init(JSONValue(.number(decimalText(value))))
        } else {
            self.init(JSONValue(.string(try container.decode(String.self))))
        }
    }

    func encode(to encoder: any Encoder) throws {
        switch value.kind {
        case .array(let elements):
            var container = encoder.unkeyedContainer()
            for element in elements { try container.encode(Self(element)) }
        case .object(let members):
            var container = encoder.container(keyedBy: AnyKey.self)
            for member in members {
                try container.encode(Self(member.value), forKey: AnyKey(stringValue: member.name))
            }
        default:
            var container = encoder.singleValueContainer()
            switch value.kind {
            case .bool(let value): try container.encode(value)
            case .string(let value): try container.encode(value)
            case .number(let text): try encodeNumber(text, to: &container)
            default: try container.encodeNil()
            }
        }
    }
}

/// Writes a number as an integer if it is one, and as a double otherwise.
func encodeNumber(_ text: String, to container: inout any SingleValueEncodingContainer) throws {
    if let integer = Int64(text) {
        try container.encode(integer)
    } else if let integer = UInt64(text) {
        try container.encode(integer)
    } else {
        try container.encode(Double(text) ?? 0)
    }
}

/// The name of a member that is not known in advance.
struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}
