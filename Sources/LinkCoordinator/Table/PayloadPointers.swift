extension TableSource {
    /// The pointers of the table without duplicates: first those that find a link or a route, then those that routes
    /// bind.
    var payloadPointers: [JSONPath] {
        var seen = Set<JSONPath>()
        var pointers = (payload.link + [payload.route, payload.params].compactMap { $0 }).map(\.value)
        for binding in routes.flatMap(\.bindings) {
            if case .payload(let path) = binding.source.value { pointers.append(path) }
        }
        return pointers.filter { seen.insert($0).inserted }
    }
}
