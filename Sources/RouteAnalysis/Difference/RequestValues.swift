internal import LinkCoordinator
internal import StrictJSON

/// The values of a request that vary while its scheme, host, and path stay the same.
struct RequestValues {
    /// The names of the query, each with its values; nil for a name without a value.
    private(set) var query: [(name: String, values: [String?])] = []
    /// The whole query in the form of a link, which replaces the names.
    var writtenQuery: String?
    /// The fragment, not encoded, or nil if there is none.
    var fragment: String?
    /// The values of a payload; empty for a link without one.
    private(set) var payload: [(pointer: JSONPath, value: JSONValue)] = []

    /// Creates the values of an existing link.
    init(_ items: [QueryConstraints.Item]) {
        for (name, value) in items {
            if let last = query.indices.last, query[last].name == name {
                query[last].values.append(value)
            } else {
                query.append((name, [value]))
            }
        }
    }

    /// Returns a Boolean value that indicates whether the query has a name.
    func has(_ name: String) -> Bool { query.contains { $0.name == name } }

    /// Replaces the values of a name, or removes the name if there are none.
    mutating func set(_ name: String, _ values: [String?]) {
        if let index = query.firstIndex(where: { $0.name == name }) {
            query[index].values = values
        } else {
            query.append((name, values))
        }
        query.removeAll { $0.values.isEmpty }
    }

    /// Replaces the value at a pointer, or removes it if the value is nil.
    mutating func set(_ pointer: JSONPath, _ value: JSONValue?) {
        payload.removeAll { $0.pointer == pointer }
        if let value { payload.append((pointer, value)) }
    }

    /// The names of the query with one value each.
    var items: [QueryConstraints.Item] { query.flatMap { name, values in values.map { (name, $0) } } }
}

/// A link without its query, with the dialect of queries and the pointers to links in payloads.
struct RequestFrame {
    /// The scheme, authority, and path.
    var head: String
    /// The dialect in which to write the query.
    var dialect: TableSource.QueryDialect
    /// The pointers at which a payload contains its link, so that both tables find it.
    var linkPointers: [JSONPath]

    /// Returns the link with some values.
    func link(_ values: RequestValues) -> String {
        let query = values.writtenQuery.map { "?" + $0 } ?? QueryConstraints(dialect).text(of: values.items)
        return head + query + (values.fragment.map { "#" + LinkEncoding.encode(Array($0.utf8)) } ?? "")
    }

    /// Returns the link alone, or a payload with the link and some values.
    ///
    /// Returns nil if the values cannot be in one object.
    func request(_ values: RequestValues) -> LinkRequest? {
        let link = link(values)
        guard !values.payload.isEmpty else { return .link(link) }
        let all = values.payload + linkPointers.map { ($0, JSONValue(.string(link))) }
        return Self.payload(all).map { .payload($0) }
    }

    /// Returns a payload with values at some pointers, or nil if they cannot be in one object.
    static func payload(_ values: [(pointer: JSONPath, value: JSONValue)]) -> LinkRequest.Object? {
        var root: JSONValue? = JSONValue(.object([]))
        for (pointer, value) in values {
            guard !pointer.tokens.isEmpty, let last = root else { return nil }
            root = put(value, at: pointer.tokens[...], in: last)
        }
        return root.flatMap { LinkRequest.Object($0) }
    }

    private static func put(_ value: JSONValue, at tokens: ArraySlice<String>, in container: JSONValue) -> JSONValue? {
        guard let token = tokens.first else { return nil }
        guard var members = container.object else { return nil }
        let index = members.firstIndex { $0.name == token }
        var inner = value
        if tokens.count > 1 {
            let own = index.map { members[$0].value } ?? JSONValue(.object([]))
            guard let filled = put(value, at: tokens.dropFirst(), in: own) else { return nil }
            inner = filled
        } else if index != nil {
            return nil
        }
        if let index {
            members[index] = JSONMember(name: token, value: inner)
        } else {
            members.append(JSONMember(name: token, value: inner))
        }
        return JSONValue(.object(members))
    }
}
