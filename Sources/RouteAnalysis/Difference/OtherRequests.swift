internal import LinkCoordinator
internal import StrictJSON

// Requests that belong to no set of links: invalid links, coordinator paths, routes by id, and payloads.
extension Comparison {
    /// Compares the decisions of both tables about requests that are not links, or not valid ones.
    ///
    /// - Returns: A Boolean value that indicates whether all of them were compared before `isOver` returned true.
    mutating func compareOthers(
        _ fallback: DeviceQuestions, _ paths: CoordinatorPaths, _ tables: [ProofTable], until isOver: () -> Bool
    ) -> Bool {
        beginOthers()
        if !paths.isWhole { note(unproved: TableDifference.Region()) }
        let devices = contexts(of: fallback).map(\.device)
        for request in badLinks(tables) + payloads(tables) {
            for device in devices { decide(request, device) }
        }
        for path in paths.paths {
            if isOver() { return false }
            compare(path: path, tables)
        }
        for (path, text) in largePaths(paths.paths, tables) { compare(path: path, written: text, tables) }
        let ids = Set(tables.flatMap { $0.source.routes.map(\.id.value) }).sorted()
        for id in ids {
            if isOver() { return false }
            compare(route: id, fallback, tables)
        }
        return true
    }

    /// Returns links that violate each rule for reading links, for every scheme and host of both tables, and links at
    /// the limits.
    private func badLinks(_ tables: [ProofTable]) -> [LinkRequest] {
        var links = ["", "x", "zz-none:///", "%", ":", "zz-none://any.invalid/"]
        for table in tables {
            let limits = table.source.limits
            for block in table.source.blocks {
                let scheme = block.schemes.first?.value ?? "zz-none"
                let hosts = block.hostRole == .segment ? [""] : Self.hosts(block)
                for host in hosts {
                    let start = "\(scheme)://\(host)"
                    links += [
                        "\(scheme):", "\(scheme):a", start, start + "/", start + "/%zz", start + "/.", start + "/a//b",
                        start + "/a\\", start + "/%E2%80%8B", "\(scheme)://u@\(host)/", "\(scheme)://any.invalid/",
                        "\(scheme)://a:99999/", "\(scheme)://a b/", "\(scheme.uppercased())://\(host)/",
                    ]
                    for over in 0...1 {
                        links.append(Self.padded(start + "/", to: limits.maxBytes + over))
                        links.append(start + String(repeating: "/a", count: limits.maxSegments + over))
                        let items = Array(repeating: "a", count: limits.maxQueryItems + over)
                        links.append(start + "/?" + items.joined(separator: "&"))
                    }
                }
            }
        }
        var seen = Set<String>()
        return links.filter { seen.insert($0).inserted }.map { .link($0) }
    }

    private static func hosts(_ block: TableSource.LinkBlock) -> [String] {
        OriginHosts.samples(block.hosts.map(\.value)).map { host, port in
            String(decoding: host, as: UTF8.self) + (port.map { ":\($0)" } ?? "")
        }
    }

    private static func padded(_ text: String, to count: Int) -> String {
        text + String(repeating: "a", count: max(0, count - text.utf8.count))
    }

    /// Compares coordinator paths from the root, and from the coordinator that the device is in.
    private mutating func compare(path: [String], written text: String? = nil, _ tables: [ProofTable]) {
        var dependencies = Dependencies()
        for table in tables {
            dependencies.add(path: path, of: table)
            for rule in table.source.fallback { if let to = rule.to { dependencies.add(to, of: table) } }
        }
        for one in contexts(of: dependencies.questions) {
            decide(.path(text ?? "/" + path.joined(separator: "/")), one.device)
            guard path.count == 2, text == nil else { continue }
            var device = one.device
            device.coordinator = path[0]
            decide(.path(path[1]), device)
        }
    }

    /// Compares a route by its id: with valid parameters, with each of them missing or invalid, and in a payload.
    private mutating func compare(route id: String, _ fallback: DeviceQuestions, _ tables: [ProofTable]) {
        var dependencies = Dependencies()
        var captures: [(name: String, text: String)] = []
        for table in tables {
            guard let number = table.names.routes[id] else { continue }
            dependencies.add(route: number, of: table)
            for capture in table.source.routes[number].patterns.first?.path.captures ?? []
            where !captures.contains(where: { $0.name == capture.name }) {
                captures.append((capture.name, Self.text(of: capture, table)))
            }
        }
        dependencies.add(fallback)
        let probes = ValueProbes(dependencies, beside: captures.map { ($0.name, $0.text) })
        let hasNoPattern = tables.allSatisfy { table in
            table.names.routes[id].map { table.source.routes[$0].patterns.isEmpty } ?? true
        }
        let contexts = hasNoPattern ? self.contexts(of: dependencies.questions) : [EvaluationContext()]
        for one in contexts {
            for values in [probes.fitting] + (hasNoPattern ? probes.others : probes.others.suffix(1)) {
                var values = values
                for (name, value) in one.query { values.set(name, value.map { [$0] } ?? []) }
                let params = Self.params(values)
                decide(.route(id, params: LinkRequest.Object(params) ?? [:]), one.device)
                for request in routePayloads(id, params, values, tables) { decide(request, one.device) }
                for params in largeParams(id, params, tables) {
                    decide(.route(id, params: LinkRequest.Object(params) ?? [:]), one.device)
                }
            }
        }
    }

    private static func text(of capture: Capture, _ table: ProofTable) -> String {
        let sample = SegmentSamples.texts(of: capture.matcher).first
        return sample.map { String(decoding: $0, as: UTF8.self) } ?? table.source.coordinators.first?.name.value ?? "x"
    }

    private static func params(_ values: RequestValues) -> JSONValue {
        JSONValue(
            .object(
                values.query.compactMap { name, values in
                    values.first.map { JSONMember(name: name, value: JSONValue($0.map { .string($0) } ?? .null)) }
                }))
    }

    /// Returns payloads with a route at every pointer of either table, and its parameters at every other pointer.
    private func routePayloads(
        _ id: String, _ params: JSONValue, _ values: RequestValues, _ tables: [ProofTable]
    ) -> [LinkRequest] {
        let routes = Self.unique(tables.compactMap { $0.source.payload.route?.value })
        let others = Self.unique(tables.compactMap { $0.source.payload.params?.value })
        return routes.flatMap { route in
            (others.map { $0 as JSONPath? } + [nil]).compactMap { pointer in
                var all = values.payload + [(route, JSONValue(.string(id)))]
                if let pointer { all.append((pointer, params)) }
                return RequestFrame.payload(all).map { .payload($0) }
            }
        }
    }

    /// Returns payloads with a link at each pointer of either table, and with two links at every two pointers.
    private func payloads(_ tables: [ProofTable]) -> [LinkRequest] {
        let pointers = Self.unique(tables.flatMap { $0.source.payload.link.map(\.value) })
        var all: [[(pointer: JSONPath, value: JSONValue)]] = [[]]
        for pointer in pointers {
            all.append([(pointer, JSONValue(.string("")))])
            for link in links.prefix(4) { all.append([(pointer, JSONValue(.string(link)))]) }
            for other in pointers where other != pointer {
                for (a, b) in zip(links, links.dropFirst()) {
                    all.append([(pointer, JSONValue(.string(a))), (other, JSONValue(.string(b)))])
                }
            }
        }
        return all.compactMap { RequestFrame.payload($0) }.map { .payload($0) }
    }

    private static func unique(_ pointers: [JSONPath]) -> [JSONPath] {
        var seen = Set<JSONPath>()
        return pointers.filter { seen.insert($0).inserted }
    }
}
