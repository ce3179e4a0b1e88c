internal import ByteStorage

extension RouteTable {
    /// Returns a link that resolves to a route with the given values.
    ///
    /// The link uses the first of the route's patterns that can hold the values. It is written as the rules for links
    /// of its scheme require: a listed scheme and host, captures and query values percent-encoded to match the
    /// decoding, prefixes that a rewrite removes, the route's query constraints, and the fragment. Query values that
    /// equal the default of their field are omitted. Every link is resolved before it is returned, to verify that it
    /// leads to this route with these values. A screen that the device does not support is not an error.
    ///
    /// - Parameters:
    ///   - id: The id of the route.
    ///   - models: The values of the fields that the route binds. A model must have all of its required fields if it
    ///     has an entry here, or if a screen that the device would show needs it. A field without a value here has no
    ///     value in the decision, unless another field is bound to the same position in the link.
    ///   - captures: The values of captures, by name, that no field is bound to. The value of a tail is a path,
    ///     `auth/a/b`. If empty segments reset the path, those of the value are written, `auth/a//b`.
    ///   - scheme: The scheme of the link, or nil for the first one that works.
    ///   - host: The host of the link, with its port if it has one, or nil for the first one that works. A link of a
    ///     scheme with `host: segment` has no host.
    ///   - device: The facts about the device. They select the variant that determines which models are needed.
    /// - Returns: The link.
    /// - Throws: A ``LinkError`` if there is no such link.
    public func link(
        route id: String, models: Models = Models(), captures: [String: String] = [:],
        scheme: String? = nil, host: String? = nil, device: DeviceFacts = DeviceFacts()
    ) throws(LinkError) -> String {
        guard let number = source.routes.firstIndex(where: { $0.id.value == id }) else {
            throw LinkError(.unknownRoute, id, "a route of the table")
        }
        let route = source.routes[number]
        if case .redirect(let redirect) = route.action {
            throw LinkError(.redirects, redirect.text, "a route that does not redirect")
        }
        if route.patterns.isEmpty { throw LinkError(.noPattern, id, "a route with `match`") }
        let arguments = try LinkArguments(route, in: source, models: models, captures: captures)
        let origin = OriginFilter(scheme: scheme, host: host)
        var writer = LinkWriter(table: self, route: number, arguments: arguments, origin: origin, device: device)
        return try writer.write(route)
    }

    /// Returns the value of a tail in `captures` of ``link(route:models:captures:scheme:host:device:)``.
    ///
    /// Generated code uses it. A value can be empty, but none of its segments can, and none can contain a slash.
    ///
    /// - Parameters:
    ///   - segments: The segments of the tail.
    ///   - name: The name of the capture, for the error.
    /// - Returns: The segments as a path.
    /// - Throws: A ``LinkError`` if a segment cannot be part of a path.
    public static func tail(_ segments: [String], of name: String) throws(LinkError) -> String {
        guard segments.allSatisfy({ LinkText.isSegment($0) && !$0.contains("/") }) else {
            throw LinkError(.value, "path.\(name)", "segments that are not empty and have no slash")
        }
        return segments.joined(separator: "/")
    }
}

extension TableSource.Redirect {
    /// The destination of the redirect, as written in the table.
    package var text: String {
        switch self {
        case .route(let id): id.value
        case .template(let template): template.value.text
        }
    }
}

/// Tries the patterns of a route with the origins of the table until a link is read back correctly.
private struct LinkWriter: ~Copyable {
    /// The maximum number of links to try.
    static var maxTries: Int { 16 }

    let table: RouteTable
    let route: Int
    let arguments: LinkArguments
    let origin: OriginFilter
    let device: DeviceFacts
    private var failure: LinkError?
    private var tries = 0
    /// The route that the last link selected, before redirects.
    private var winner: Int?
    private var resolver = Resolver()
    private var arena = OutputArena(chunkBytes: 4096)

    init(table: RouteTable, route: Int, arguments: LinkArguments, origin: OriginFilter, device: DeviceFacts) {
        self.table = table
        self.route = route
        self.arguments = arguments
        self.origin = origin
        self.device = device
    }

    mutating func write(_ route: TableSource.Route) throws(LinkError) -> String {
        let hasOrigins = table.compiled.data.ref(\.trie).hasOrigins
        for pattern in route.patterns where holdsAll(pattern.path) {
            var failedBlocks = Set<Int>()
            for origin in table.source.origins(of: pattern, origin) where tries < Self.maxTries {
                if failedBlocks.contains(origin.block) { continue }
                do throws(LinkError) {
                    return try write(pattern, origin, route)
                } catch {
                    note(error)
                    // The requirements of the path are the same under every origin.
                    if error.code == .value || error.code == .missing { break }
                    // If no pattern specifies a host, another host can only change which URLs may be opened externally.
                    if error.code == .notRoundTripped, !hasOrigins,
                        error.difference != .reason(.externalRefused, detail: nil)
                    {
                        failedBlocks.insert(origin.block)
                    }
                }
            }
        }
        throw failure ?? LinkError(.origin, route.id.value, table.source.originsText(of: route))
    }

    /// Writes the link under one origin.
    ///
    /// If the link selects another route that requires a query name to be absent, adds that name and tries again.
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

    /// Returns a Boolean value that indicates whether the pattern captures all given values.
    private func holdsAll(_ pattern: Pattern) -> Bool {
        arguments.captures.keys.allSatisfy { pattern.capture(named: $0) != nil }
    }

    /// Keeps the most informative failure, and the first of equally informative ones.
    ///
    /// A capture that does not accept its value is the least informative, because another pattern may accept it. A
    /// value that cannot be written is more informative than a link that was read back differently.
    private mutating func note(_ error: LinkError) {
        func weight(_ error: LinkError) -> Int {
            if error.code == .value && error.position.hasPrefix("path.") { return 0 }
            return error.code == .notRoundTripped ? 1 : 2
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

    /// Resolves the link and compares the result with the given values.
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
        let selected = resolver.selection.route.map { resolver.tableData.number(of: $0) }
        winner = resolver.via.isEmpty ? selected : Int(resolver.via[0])
        var invalid = summary.reason == .paramInvalid ? Decision(json.array).detail : nil
        if summary.reason == .unsupported {
            do throws(Rejection) {
                try resolver.readBack(request, facts, table: handle)
            } catch {
                invalid = error.reason == .paramInvalid ? error.detail : nil
            }
        }
        let isOwn = selected == route && resolver.via.isEmpty
        if isOwn, let invalid {
            // The fields after the invalid one were not read.
            return LinkError(.reason(.paramInvalid, detail: invalid), expected: "a link that resolves")
        }
        if let other = resolver.difference(from: route, arguments), !isOwn || summary.reason != .paramMissing {
            return LinkError(other, expected: "a link that resolves to this route with these values")
        }
        switch summary.reason {
        case nil, .excluded, .unsupported: return nil
        case .paramMissing:
            let detail = Decision(json.array).detail ?? ""
            return LinkError(.missing, detail, "a value, because a screen of the stack needs it")
        case let reason?:
            return LinkError(
                .reason(reason, detail: Decision(json.array).detail), expected: "a link that resolves")
        }
    }
}
