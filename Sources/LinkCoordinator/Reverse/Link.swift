internal import StrictJSON

extension Table {
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
    ///     be there, and those of the screens that the device would show.
    ///   - captures: Values of captures by name, for those to which no field is bound; a tail is given as a path,
    ///     `auth/a/b`.
    ///   - device: The device whose variant decides which models are needed.
    /// - Throws: `LinkError` where there is no such link.
    public func link(
        route id: String, models: Models = Models(), captures: [String: String] = [:], device: Device = Device()
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
    var text: String {
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

    let table: Table
    let route: Int
    let arguments: LinkArguments
    let device: Device
    private var failure: LinkError?
    private var tries = 0
    private var resolver = Resolver()
    private var arena = OutputArena(chunkBytes: 4096)

    init(table: Table, route: Int, arguments: LinkArguments, device: Device) {
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
                let link: String
                do throws(LinkError) {
                    link = try self.link(pattern, origin, route)
                } catch {
                    note(error)
                    // What the path wants is the same under every origin.
                    if error.code == .value || error.code == .wanting { break }
                    continue
                }
                do throws(LinkError) {
                    try check(link)
                    return link
                } catch {
                    note(error)
                    // Where no pattern names a host, another one changes nothing but what may be opened outside.
                    if !hasOrigins && error.place != Reason.externalRefused.rawValue { lost.insert(origin.block) }
                }
            }
        }
        throw failure ?? LinkError(.origin, route.id.value, "a scheme and host that the table lists")
    }

    /// Whether a pattern has a place for every value; one that has not cannot carry them.
    private func holdsAll(_ pattern: Pattern) -> Bool {
        arguments.captures.keys.allSatisfy { pattern.capture(named: $0) != nil }
    }

    /// Keeps the first failure, but any other rather than that a link was lost.
    private mutating func note(_ error: LinkError) {
        if failure == nil || (failure?.code == .lost && error.code != .lost) { failure = error }
    }

    private func link(
        _ pattern: TableSource.RoutePattern, _ origin: LinkOrigin, _ route: TableSource.Route
    ) throws(LinkError) -> String {
        let source = table.source
        let text = LinkText(block: source.blocks[origin.block], foldsCase: source.foldsPathCase)
        let own = try text.segments(of: pattern.path, arguments) { name in
            source.coordinators.contains { $0.name.value == name }
        }
        let path = (try text.prefix(arguments, before: own) + own).map(LinkText.encode).joined(separator: "/")
        let query = try text.query(arguments, route.query)
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
                    withUnsafePointer(to: LinkRequest(form: .link, text: ByteView(bytes), isPlain: false)) {
                        compare($0, facts)
                    }
                }
            }
        }
        withExtendedLifetime(table) {}
        if let failure { throw failure }
    }

    private mutating func compare(
        _ request: UnsafePointer<LinkRequest>, _ facts: UnsafePointer<DeviceFacts>
    ) -> LinkError? {
        arena.reset()
        arena.begin()
        let handle = table.compiled.handle
        let summary = resolver.resolve(request, facts, table: handle, head: nil, into: &arena)
        let json = arena.finish()
        if summary.reason == .unsupported { try? resolver.readBack(request, facts, table: handle) }
        let isOwn = resolver.route == route && resolver.via.isEmpty
        if let other = resolver.difference(from: route, arguments), !isOwn || summary.reason != .paramMissing {
            return LinkError(.lost, other, "the link to come back as this route with these values")
        }
        switch summary.reason {
        case nil, .excluded, .unsupported: return nil
        case .paramMissing:
            let detail = Decision(json.array).detail ?? ""
            return LinkError(.wanting, detail, "a value, for a screen of the stack needs it")
        case let reason?: return LinkError(.lost, reason.rawValue, "a link that resolves")
        }
    }
}
