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
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: AnyKey.self)
        self.init(
            try container.allKeys.map { ($0.stringValue, try container.decode(LinkRequest.Value.self, forKey: $0)) })
    }

    /// Writes the members of the object.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: AnyKey.self)
        for member in value.object ?? [] {
            try container.encode(LinkRequest.Value(member.value), forKey: AnyKey(stringValue: member.name))
        }
    }
}

extension LinkRequest.Value: Codable {
    /// Reads a value.
    ///
    /// A decoder provides numbers as 64-bit integers or as doubles.
    public init(from decoder: any Decoder) throws {
        if let object = try? decoder.container(keyedBy: AnyKey.self) {
            self = .object(
                LinkRequest.Object(
                    try object.allKeys.map { ($0.stringValue, try object.decode(Self.self, forKey: $0)) }))
            return
        }
        if var list = try? decoder.unkeyedContainer() {
            var elements: [Self] = []
            while !list.isAtEnd { elements.append(try list.decode(Self.self)) }
            self = .array(elements)
            return
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .number("\(value)")
        } else if let value = try? container.decode(Double.self) {
            self = .number(decimalText(value))
        } else {
            self = .string(try container.decode(String.self))
        }
    }

    /// Writes the value.
    ///
    /// A number is written as a 64-bit integer if it is one, and as a double otherwise.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .array(let elements):
            var container = encoder.unkeyedContainer()
            for element in elements { try container.encode(element) }
        case .object(let object): try object.encode(to: encoder)
        default:
            var container = encoder.singleValueContainer()
            switch json.kind {
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
