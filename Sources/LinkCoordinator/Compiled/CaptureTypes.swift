/// What the captures of each name take, in all patterns of a table together.
///
/// Of the whole table, not of one route: redirects by id bring captures of other routes along. The patterns are read
/// once, for a table may have as many bindings as patterns.
struct CaptureTypes {
    /// What all captures of one name have in common.
    enum Common {
        /// Each is a uuid.
        case uuid
        /// Each is an int between these bounds.
        case int(min: Int64, max: Int64)
        /// They are of different types, or of one that is judged again.
        case mixed

        /// A Boolean value that indicates whether every captured text is one of the field's type, so that it was
        /// judged when the pattern matched.
        func isWithin(_ field: FieldImage) -> Bool {
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

    /// What the captures of a name have in common; `mixed` for a name that nothing captures.
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
