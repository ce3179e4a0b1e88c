extension StackEntry: Codable {
    private enum CodingKeys: String, CodingKey {
        case coordinator, screen, view, present, nav, identity, data
    }

    /// Reads the members of an entry of a decision's stack.
    ///
    /// - Throws: `DecodingError` if `coordinator` or `screen` is missing, or a member is invalid.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            coordinator: try container.decode(String.self, forKey: .coordinator),
            screen: try container.decode(String.self, forKey: .screen),
            view: try container.decodeIfPresent(String.self, forKey: .view),
            present: try container.decodeIfPresent(Presentation.self, forKey: .present) ?? .push,
            nav: try container.decodeIfPresent(Bool.self, forKey: .nav) ?? false,
            identity: try container.decodeIfPresent(String.self, forKey: .identity),
            models: try container.decodeIfPresent(Models.self, forKey: .data) ?? Models())
    }

    /// Writes the members of an entry of a decision's stack.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(coordinator, forKey: .coordinator)
        try container.encode(screen, forKey: .screen)
        try container.encodeIfPresent(view, forKey: .view)
        try container.encode(present, forKey: .present)
        if nav { try container.encode(true, forKey: .nav) }
        try container.encodeIfPresent(identity, forKey: .identity)
        if !models.fields.isEmpty { try container.encode(models, forKey: .data) }
    }
}

extension Models: Codable {
    /// Reads the fields of each model.
    ///
    /// A decoder provides numbers as 64-bit integers or as doubles.
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode([String: [String: ModelValue]].self))
    }

    /// Writes the fields of each model.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(fields)
    }
}

extension ModelValue: Codable {
    /// Reads a value.
    ///
    /// A decoder provides numbers as 64-bit integers or as doubles.
    public init(from decoder: any Decoder) throws {
        switch try LinkRequest.Value(from: decoder) {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .number(let text): self = .number(text)
        case .string(let text): self = .text(text)
        case .array: self = .list(try [ModelValue](from: decoder))
        case .object:
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath, debugDescription: "a field cannot contain an object"))
        }
    }

    /// Writes the value.
    ///
    /// A number is written as a 64-bit integer if it is one, and as a double otherwise.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .null: try LinkRequest.Value.null.encode(to: encoder)
        case .bool(let value): try value.encode(to: encoder)
        case .number(let text): try LinkRequest.Value.number(text).encode(to: encoder)
        case .text(let text): try text.encode(to: encoder)
        case .list(let items): try items.encode(to: encoder)
        }
    }
}
