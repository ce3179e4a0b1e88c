extension Matcher {
    /// The text that the matcher matches, as written in a table or described in words.
    package var name: String {
        switch self {
        case .literal(let text): String(decoding: text, as: UTF8.self)
        case .enumeration(let values):
            "enum(" + values.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "|") + ")"
        case .affix(let prefix, let inner, let suffix):
            String(decoding: prefix, as: UTF8.self) + "{" + inner.name + "}" + String(decoding: suffix, as: UTF8.self)
        case .int(let min, let max):
            min == .min && max == .max
                ? "int" : "int(\(min == .min ? "" : "\(min)")..\(max == .max ? "" : "\(max)"))"
        case .bool: "bool"
        case .date: "date"
        case .uuid: "uuid"
        case .characters(let set, let min, let max):
            "[" + String(decoding: set.characters, as: UTF8.self) + "]{\(min),\(max)}"
        case .any: "any segment"
        case .coordinatorPath: "a coordinator's name"
        case .anySegment(let text): "a segment \(String(decoding: text, as: UTF8.self))"
        case .restPlus: "one or more segments"
        case .end: "the end of the path"
        case .restStar: "any number of segments"
        }
    }
}
