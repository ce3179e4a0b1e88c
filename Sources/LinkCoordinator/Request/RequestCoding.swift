internal import StrictJSON

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
