/// The types of captures by name, combined over all patterns of a table.
///
/// The types are those of the whole table and not of one route, because a redirect by id carries over captures of other
/// routes. The patterns are read once, because a table may have as many bindings as patterns.
struct CaptureTypes {
    /// The type that all captures of a name share.
    enum Common {
        /// Every capture is a UUID.
        case uuid
        /// Every capture is an integer in this range.
        case int(min: Int64, max: Int64)
        /// The captures have different types, or a type whose text is validated again for the field.
        case mixed

        /// Returns a Boolean value that indicates whether every captured text is a valid value of the field.
        ///
        /// The pattern has validated such a text already.
        func isWithin(_ field: CompiledField) -> Bool {
            switch (self, field.kind) {
            case (.uuid, .uuid): true
            case (.int(let min, let max), .int): min >= field.min && max <= field.max
            default: false
            }
        }
    }

    private var common: [String: Common] = [:]

    /// Reads the captures of all patterns of a table.
    init(_ source: TableSource) {
        for route in source.routes {
            for pattern in route.patterns {
                for capture in pattern.path.captures { add(capture) }
            }
        }
    }

    /// The type that the captures of a name share, or `mixed` if there is no such capture.
    subscript(name: String) -> Common { common[name] ?? .mixed }

    private mutating func add(_ capture: Capture) {
        switch (common[capture.name], capture.matcher) {
        case (nil, .uuid), (.uuid, .uuid): common[capture.name] = .uuid
        case (nil, .int(let min, let max)): common[capture.name] = .int(min: min, max: max)
        case (.int(let low, let high), .int(let min, let max)):
            common[capture.name] = .int(min: Swift.min(low, min), max: Swift.max(high, max))
        default: common[capture.name] = .mixed
        }
    }
}
