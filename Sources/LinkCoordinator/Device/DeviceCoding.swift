extension DeviceFacts: Codable {
    private enum CodingKeys: String, CodingKey {
        case platform, app, os, locale, region, capabilities, claims, attributes, coordinator
    }

    /// Reads the members of a device in an event.
    ///
    /// An absent or null member is an unknown fact, and other members are ignored.
    ///
    /// - Throws: `DecodingError` if a member has another type.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) throws -> String? { try container.decodeIfPresent(String.self, forKey: key) }
        func list(_ key: CodingKeys) throws -> [String]? { try container.decodeIfPresent([String].self, forKey: key) }
        self.init(
            platform: try text(.platform), app: try text(.app), os: try text(.os), locale: try text(.locale),
            region: try text(.region), capabilities: try list(.capabilities), claims: try list(.claims),
            attributes: try container.decodeIfPresent([String: String].self, forKey: .attributes),
            coordinator: try text(.coordinator))
    }

    /// Writes the known facts as the members of a device in an event.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(platform, forKey: .platform)
        try container.encodeIfPresent(app, forKey: .app)
        try container.encodeIfPresent(os, forKey: .os)
        try container.encodeIfPresent(locale, forKey: .locale)
        try container.encodeIfPresent(region, forKey: .region)
        try container.encodeIfPresent(capabilities, forKey: .capabilities)
        try container.encodeIfPresent(claims, forKey: .claims)
        try container.encodeIfPresent(attributes, forKey: .attributes)
        try container.encodeIfPresent(coordinator, forKey: .coordinator)
    }
}
