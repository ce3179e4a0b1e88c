internal import ByteStorage

extension RouteTable {
    /// Writes the link that resolves to this route with these values.
    ///
    /// The first of the route's patterns that can hold the values is written in the dialect of its link block: a
    /// listed scheme and host, captures and query values percent-encoded as that block decodes them, prefixes that a
    /// rewrite takes off, query constraints, the fragment. Values that are their field's default are left out of the
    /// query. Every link is resolved before it is returned, so that what comes back is this route with these values;
    /// a screen that the device lacks is no fault of the link.
    ///
    /// - Parameters:
    ///   - id: The route.
    ///   - models: Values of the fields that the route binds. All required fields of a model that is named here must
    ///     be there, and those of the screens that the device would show. A field of which nothing is said comes back
    ///     without a value, unless another one is bound to the same place of the link.
    ///   - captures: Values of captures by name, for those to which no field is bound; a tail is given as a path,
    ///     `auth/a/b`. Where empty segments reset, those of the path are written, `auth/a//b`.
    ///   - device: The device whose variant decides which models are needed.
    /// - Throws: `LinkError` where there is no such link.
    public func link(
        route id: String, models: Models = Models(), captures: [String: String] = [:],
        device: DeviceFacts = DeviceFacts()
    ) throws(LinkError) -> String {
        guard let number = source.routes.firstIndex(where: { $0.id.value == id }) else {
            throw LinkError(.unknownRoute, id, "a route of the table")
        }
        let route = source.routes[number]
        if case .redirect(let redirect) = route.action {
            throw LinkError(.redirects, redirect.text, "a route that does not redirect")
        }
        if route.patterns.isEmpty { throw LinkError(.noPattern, id, "a route with 'match'") }
        let arguments = try LinkArguments(route, in: source, models: models, captures: captures)
        var writer = LinkWriter(table: self, route: number, arguments: arguments, device: device)
        return try writer.write(route)
    }
}

extension TableSource.Redirect {
    /// Where it leads, as the table says it.
    package var text: String {
        switch self {
        case .route(let id): id.value
        case .template(let template): template.value.text
        }
    }
}

/// Tries a route's patterns under the origins of the table until a link comes back as it should.
private struct LinkWriter: ~Copyable {
    /// Most links that are tried.
    static var maxTries: Int { 16 }

    let table: RouteTable
    let route: Int
    let arguments: LinkArguments
    let device: DeviceFacts
    private var failure: LinkError?
    private var tries = 0
    /// The route that the last link selected, before redirects.
    private var winner: Int?
    private var resolver = Resolver()
    private var arena = OutputArena(chunkBytes: 4096)

    init(table: RouteTable, route: Int, arguments: LinkArguments, device: DeviceFacts) {
        self.table = table
        self.route = route
        self.arguments = arguments
        self.device = device
    }

    mutating func write(_ route: TableSource.Route) throws(LinkError) -> String {
        let hasOrigins = table.compiled.image.ref(\.trie).hasOrigins
        for pattern in route.patterns where holdsAll(pattern.path) {
            var lost = Set<Int>()
            for origin in table.source.origins(of: pattern) where tries < Self.maxTries {
                if lost.contains(origin.block) { continue }
                do throws(LinkError) {
                    return try write(pattern, origin, route)
                } catch {
                    note(error)
                    // What the path wants is the same under every origin.
                    if error.code == .value || error.code == .wanting { break }
                    // Where no pattern names a host, another one changes nothing but what may be opened outside.
                    if error.code == .lost, !hasOrigins, error.place != Reason.externalRefused.rawValue {
                        lost.insert(origin.block)
                    }
                }
            }
        }
        throw failure ?? LinkError(.origin, route.id.value, "a scheme and host that the table lists")
    }

    /// Writes the link under one origin; where another route takes it that wants a name of the query absent, with that.
    private mutating func write(
        _ pattern: TableSource.RoutePattern, _ origin: LinkOrigin, _ route: TableSource.Route
    ) throws(LinkError) -> String {
        let source = table.source
        let text = LinkText(block: source.blocks[origin.block], foldsCase: source.foldsPathCase)
        var markers: [String] = []
        while true {
            let link = try self.link(pattern, origin, route, text, markers)
            do throws(LinkError) {
                try check(link)
                return link
            } catch {
                guard let winner, winner != self.route, tries < Self.maxTries else { throw error }
                let more = text.markers(against: source.routes[winner].query, arguments, route.query)
                    .filter { !markers.contains($0) }
                if more.isEmpty { throw error }
                markers += more
            }
        }
    }

    /// Whether a pattern has a place for every value; one that has not cannot carry them.
    private func holdsAll(_ pattern: Pattern) -> Bool {
        arguments.captures.keys.allSatisfy { pattern.capture(named: $0) != nil }
    }

    /// Keeps the failure that says most: a capture that does not take its value says least where another pattern takes
    /// it, and that a link was lost says less than what could not be written at all; of equals the first.
    private mutating func note(_ error: LinkError) {
        func weight(_ error: LinkError) -> Int {
            if error.code == .value && error.place.hasPrefix("path.") { return 0 }
            return error.code == .lost ? 1 : 2
        }
        if failure.map({ weight($0) < weight(error) }) ?? true { failure = error }
    }

    private func link(
        _ pattern: TableSource.RoutePattern, _ origin: LinkOrigin, _ route: TableSource.Route, _ text: LinkText,
        _ markers: [String]
    ) throws(LinkError) -> String {
        let own = try text.segments(of: pattern.path, arguments) { name in
            table.source.coordinators.contains { $0.name.value == name }
        }
        let path = try text.prefixed(own, arguments).map(LinkText.encode).joined(separator: "/")
        let query = try text.query(arguments, route.query, markers: markers)
        let fragment = arguments.fragment.map { "#" + LinkText.encode($0) } ?? ""
        let start = origin.scheme + "://"
        guard let authority = origin.authority else { return start + (path.isEmpty ? "/" : path) + query + fragment }
        return start + authority + "/" + path + query + fragment
    }

    /// Resolves the link and compares what came back.
    private mutating func check(_ link: String) throws(LinkError) {
        tries += 1
        let bytes = [UInt8](link.utf8)
        let failure = bytes.withUnsafeBufferPointer { bytes in
            device.withFacts { facts in
                withUnsafePointer(to: facts) { facts in
                    withUnsafePointer(to: RequestView(form: .link, text: ByteView(bytes), isPlain: false)) {
                        compare($0, facts)
                    }
                }
            }
        }
        withExtendedLifetime(table) {}
        if let failure { throw failure }
    }

    private mutating func compare(
        _ request: UnsafePointer<RequestView>, _ facts: UnsafePointer<DeviceView>
    ) -> LinkError? {
        arena.reset()
        arena.begin()
        let handle = table.compiled.handle
        let summary = resolver.resolve(request, facts, table: handle, head: nil, into: &arena)
        let json = arena.finish()
        winner = resolver.via.isEmpty ? resolver.route : Int(resolver.via[0])
        if winner == -1 { winner = nil }
        var invalid = summary.reason == .paramInvalid ? Decision(json.array).detail : nil
        if summary.reason == .unsupported {
            do throws(Rejection) {
                try resolver.readBack(request, facts, table: handle)
            } catch {
                invalid = error.reason == .paramInvalid ? error.detail : nil
            }
        }
        let isOwn = resolver.route == route && resolver.via.isEmpty
        if isOwn, let invalid {
            // What is bound after the field that is wrong was not read at all.
            return LinkError(.lost, "param_invalid " + invalid, "a link that resolves")
        }
        if let other = resolver.difference(from: route, arguments), !isOwn || summary.reason != .paramMissing {
            return LinkError(.lost, other, "the link to come back as this route with these values")
        }
        switch summary.reason {
        case nil, .excluded, .unsupported: return nil
        case .paramMissing:
            let detail = Decision(json.array).detail ?? ""
            return LinkError(.wanting, detail, "a value, for a screen of the stack needs it")
        case let reason?:
            let detail = Decision(json.array).detail.map { " " + $0 } ?? ""
            return LinkError(.lost, reason.rawValue + detail, "a link that resolves")
        }
    }
}
