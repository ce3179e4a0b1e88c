internal import LinkCoordinator
internal import StrictJSON

/// The values of a request that are varied while its scheme, host and path stay.
struct RequestValues {
    /// Names of the query, each with its values; nil for a name without one.
    private(set) var query: [(name: String, values: [String?])] = []
    /// The whole query as it stands in the link, in place of the names.
    var writtenQuery: String?
    /// The fragment, not encoded; nil for none.
    var fragment: String?
    /// Values of a payload; none for a link without one.
    private(set) var payload: [(pointer: JSONPath, value: JSONValue)] = []

    /// The values that a link has already.
    init(_ items: [QueryConstraints.Item]) {
        for (name, value) in items {
            if let last = query.indices.last, query[last].name == name {
                query[last].values.append(value)
            } else {
                query.append((name, [value]))
            }
        }
    }

    /// Whether the query has a name.
    func has(_ name: String) -> Bool { query.contains { $0.name == name } }

    /// Gives a name other values; none take it away.
    mutating func set(_ name: String, _ values: [String?]) {
        if let place = query.firstIndex(where: { $0.name == name }) {
            query[place].values = values
        } else {
            query.append((name, values))
        }
        query.removeAll { $0.values.isEmpty }
    }

    /// Gives a pointer another value; nil takes it away.
    mutating func set(_ pointer: JSONPath, _ value: JSONValue?) {
        payload.removeAll { $0.pointer == pointer }
        if let value { payload.append((pointer, value)) }
    }

    /// The names of the query one by one.
    var items: [QueryConstraints.Item] { query.flatMap { name, values in values.map { (name, $0) } } }
}

/// A link without its query, how queries are written in it, and where payloads hold links.
struct RequestFrame {
    /// Scheme, authority and path.
    var head: String
    /// The dialect that the query is written in.
    var dialect: TableSource.QueryDialect
    /// Pointers at which a payload holds its link, so that both tables find it.
    var linkPointers: [JSONPath]

    /// The link with some values.
    func link(_ values: RequestValues) -> String {
        let query = values.writtenQuery.map { "?" + $0 } ?? QueryConstraints(dialect).text(of: values.items)
        return head + query + (values.fragment.map { "#" + Witness.encode(Array($0.utf8)) } ?? "")
    }

    /// The link alone, or a payload with the link and some values; nil where they cannot stand in one object.
    func request(_ values: RequestValues) -> LinkRequest? {
        let link = link(values)
        guard !values.payload.isEmpty else { return .link(link) }
        let all = values.payload + linkPointers.map { ($0, JSONValue(.string(link))) }
        return Self.payload(all).map { .payload($0) }
    }

    /// A payload with values at some pointers; nil where they cannot stand in one object.
    static func payload(_ values: [(pointer: JSONPath, value: JSONValue)]) -> String? {
        var root: JSONValue? = JSONValue(.object([]))
        for (pointer, value) in values {
            guard !pointer.tokens.isEmpty, let last = root else { return nil }
            root = put(value, at: pointer.tokens[...], in: last)
        }
        return root?.text
    }

    private static func put(_ value: JSONValue, at tokens: ArraySlice<String>, in container: JSONValue) -> JSONValue? {
        guard let token = tokens.first else { return nil }
        guard var members = container.object else { return nil }
        let place = members.firstIndex { $0.name == token }
        var inner = value
        if tokens.count > 1 {
            let own = place.map { members[$0].value } ?? JSONValue(.object([]))
            guard let filled = put(value, at: tokens.dropFirst(), in: own) else { return nil }
            inner = filled
        } else if place != nil {
            return nil
        }
        if let place {
            members[place] = JSONMember(name: token, value: inner)
        } else {
            members.append(JSONMember(name: token, value: inner))
        }
        return JSONValue(.object(members))
    }
}
