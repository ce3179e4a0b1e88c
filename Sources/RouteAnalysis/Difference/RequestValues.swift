internal import ByteStorage
internal import LinkCoordinator
internal import StrictJSON

/// The values of a request that vary while its scheme, host, and path stay the same.
struct RequestValues {
    /// The names of the query, each with its values, or with nil if it has none.
    private(set) var query: [(name: String, values: [String?])] = []
    /// The whole query in the form of a link, which replaces the names.
    var writtenQuery: String?
    /// The fragment, not encoded, or nil if there is none.
    var fragment: String?
    /// The values of a payload, or empty for a link without one.
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
    func badLinks(_ tables: [ProofTable]) -> [LinkRequest] {
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
    mutating func compare(path: [String], written text: String? = nil, _ tables: [ProofTable]) {
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
    mutating func compare(route id: String, _ fallback: DeviceQuestions, _ tables: [ProofTable]) {
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
        // Links show the other changes of a route with a pattern.
        let isHidden = !hasNoPattern && trial == nil && isEdited(id, tables) && !hasChanged(id)
        let isThorough = hasNoPattern || trial != nil || isHidden
        func values(_ values: RequestValues, _ one: EvaluationContext) -> RequestValues {
            one.query.sorted { $0.key < $1.key }.reduce(into: values) { $0.set($1.key, $1.value.map { [$0] } ?? []) }
        }
        let contexts =
            isHidden
            ? distinctContexts(dependencies.questions) {
                .route(id, params: LinkRequest.Object(Self.params(values(probes.fitting, $0))) ?? [:])
            } : isThorough ? self.contexts(of: dependencies.questions) : [EvaluationContext()]
        var others = isThorough ? probes.others : probes.others.suffix(1)
        // A capture is missing without a value, and invalid without a text, or with one that only one table accepts.
        for capture in isHidden ? captures : [] {
            for text in [nil, ""] + Self.contested(capture.name, id, tables) {
                var next = probes.fitting
                next.set(capture.name, text.map { [$0] } ?? [])
                others.append(next)
            }
        }
        // A parameter is also the value of a capture that only another pattern, or the end of redirects by id, has.
        for (index, input) in dependencies.inputs.enumerated() where isHidden {
            guard case .path(let name) = input.source, !captures.contains(where: { $0.name == name }) else { continue }
            for text in probes.texts(index) {
                var next = probes.fitting
                next.set(name, [text])
                others.append(next)
            }
        }
        for one in contexts {
            for other in [probes.fitting] + others {
                let values = values(other, one)
                let params = Self.params(values)
                decide(.route(id, params: LinkRequest.Object(params) ?? [:]), one.device)
                for request in routePayloads(id, params, values, tables) { decide(request, one.device) }
                for params in largeParams(id, params, tables) {
                    decide(.route(id, params: LinkRequest.Object(params) ?? [:]), one.device)
                }
            }
        }
    }

    /// Returns a Boolean value that indicates whether tables differ in a route that both have, or in what it can use.
    private func isEdited(_ id: String, _ tables: [ProofTable]) -> Bool {
        let pieces = tables.compactMap { table in table.names.routes[id].map { table.source.routes[$0].pieces } }
        return pieces.count == 2 && (hasOtherParts || pieces[0] != pieces[1])
    }

    /// Returns texts that the first pattern of a route accepts for a capture in only one of the tables.
    private static func contested(_ name: String, _ id: String, _ tables: [ProofTable]) -> [String?] {
        var space = SegmentSpace(coordinators: [])
        let captures = tables.compactMap { table -> (isTail: Bool, number: Int)? in
            let pattern = table.names.routes[id].flatMap { table.source.routes[$0].patterns.first }
            return pattern?.path.captures.first { $0.name == name }.map {
                ($0.isTail, space.number(of: $0.matcher, folds: table.source.foldsPathCase))
            }
        }
        guard captures.count == 2, captures[0].number != captures[1].number else { return [] }
        if captures.contains(where: \.isTail) { return ["zz-none"] }
        var budget = WorkBudget()
        budget.begin()
        var texts: [String?] = []
        for (own, other) in zip(captures, captures.reversed()) {
            let atoms = try? space.atoms(inside: [own.number], outside: [other.number], &budget)
            let rest = atoms?.first { !$0.matchers.contains(other.number) }
            if let rest { texts.append(String(decoding: rest.text, as: UTF8.self)) }
        }
        return texts
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
        let routes = tables.compactMap { $0.source.payload.route?.value }.unique
        let others = tables.compactMap { $0.source.payload.params?.value }.unique
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
        let pointers = tables.flatMap { $0.source.payload.link.map(\.value) }.unique
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
}

// Requests other than links that exceed a limit of only one table.
extension Comparison {
    /// Returns coordinator paths, with their text, that have more segments or bytes than one table allows.
    ///
    /// They repeat the same screens. One path names a screen that no table has.
    func largePaths(_ paths: [[String]], _ tables: [ProofTable]) -> [(path: [String], text: String)] {
        var all: [(path: [String], text: String)] = []
        if let count = Self.excess(tables, \.maxSegments) {
            all += SizeSearch.longPaths(paths, segments: count).map { ($0, "/" + $0.joined(separator: "/")) }
        }
        if let bytes = Self.excess(tables, \.maxBytes) {
            all.append(([], "/" + String(repeating: "a", count: bytes - 1)))
            let maxSegments = tables.map(\.source.limits.maxSegments).max() ?? 0
            for step in SizeSearch.longPaths(paths, segments: 2) {
                // Escapes use the most bytes with the fewest screens.
                let texts = step.map { "/" + LinkEncoding.escape(Array($0.utf8)) }
                let count =
                    2 + max(0, bytes - texts.joined().utf8.count + texts[1].utf8.count - 1) / texts[1].utf8.count
                if count > maxSegments { continue }
                let path = step + Array(repeating: step[1], count: count - 2)
                all.append((path, texts[0] + String(repeating: texts[1], count: count - 1)))
            }
        }
        return all
    }

    /// Returns parameters of a route that make its path too long for one table, or that are too many for one table.
    func largeParams(_ id: String, _ params: JSONValue, _ tables: [ProofTable]) -> [JSONValue] {
        let members = params.object ?? []
        var all: [JSONValue] = []
        if let count = Self.excess(tables, \.maxSegments) {
            for table in tables {
                guard let number = table.names.routes[id],
                    let path = table.source.routes[number].patterns.first?.path,
                    let tail = path.captures.first(where: \.isTail), count > path.segmentCount
                else { continue }
                let own = members.first { $0.name == tail.name }?.value ?? JSONValue(.string("x"))
                let items = Array(repeating: own, count: count - path.segmentCount)
                let rest = members.filter { $0.name != tail.name }
                all.append(JSONValue(.object(rest + [JSONMember(name: tail.name, value: JSONValue(.array(items)))])))
            }
        }
        if let count = Self.excess(tables, \.maxQueryItems) {
            let more = (0..<max(0, count - members.count)).map {
                JSONMember(name: "zz-\($0)", value: JSONValue(.string("x")))
            }
            all.append(JSONValue(.object(members + more)))
        }
        return all
    }

    /// Returns the least number over the limit of one table that the other allows, or nil if the limits are equal.
    private static func excess(_ tables: [ProofTable], _ limit: KeyPath<TableSource.LinkLimits, Int>) -> Int? {
        let limits = tables.map { $0.source.limits[keyPath: limit] }
        guard let least = limits.min(), least != limits.max() else { return nil }
        return least + 1
    }
}

/// Values for the sources that some routes bind from: one list that fits, and others that differ from it in one source.
struct ValueProbes {
    /// Values that are valid for as many types as possible.
    let fitting: RequestValues
    /// Lists that differ from the fitting one in one source, and one list without any values.
    private(set) var others: [RequestValues] = []

    private let dependencies: Dependencies
    private let samples: [ValueSamples]

    /// Creates values in addition to the values that a link must have.
    init(_ dependencies: Dependencies, beside items: [QueryConstraints.Item]) {
        self.dependencies = dependencies
        samples = dependencies.inputs.map { ValueSamples($0.types, strict: $0.strict) }
        let bare = RequestValues(items)
        var fitting = bare
        for (input, samples) in zip(dependencies.inputs, samples) {
            if case .query(let name) = input.source, fitting.has(name) { continue }
            Self.put(samples.texts.first.map { .text($0, samples.fittingCount) }, at: input.source, &fitting)
        }
        self.fitting = fitting
        for index in dependencies.inputs.indices { others += changed(index) }
        others.append(bare)
    }

    private enum Value {
        case text(String, Int)
        case null
        case json(JSONValue)
    }

    private static func put(_ value: Value?, at source: ValueSource, _ values: inout RequestValues) {
        switch (source, value) {
        case (.query(let name), .text(let text, let count)?): values.set(name, Array(repeating: text, count: count))
        case (.query(let name), .null?): values.set(name, [nil])
        case (.query(let name), nil): values.set(name, [])
        case (.fragment, .text(let text, _)?): values.fragment = text
        case (.fragment, nil): values.fragment = nil
        case (.payload(let pointer), .text(let text, 1)?): values.set(pointer, JSONValue(.string(text)))
        case (.payload(let pointer), .text(let text, let count)?):
            values.set(pointer, JSONValue(.array(Array(repeating: JSONValue(.string(text)), count: count))))
        case (.payload(let pointer), .null?): values.set(pointer, JSONValue(.null))
        case (.payload(let pointer), .json(let json)?): values.set(pointer, json)
        case (.payload(let pointer), nil): values.set(pointer, nil)
        case (.path, _), (.rewrite, _), (.fragment, _), (.query, .json?): break
        }
    }

    /// Returns the values of one source other than the fitting one: none, null, each text, and each number of items.
    private func values(_ index: Int) -> [Value?] {
        let (source, samples) = (dependencies.inputs[index].source, samples[index])
        switch source {
        case .path, .rewrite: return []
        case .fragment: return [nil] + samples.texts.dropFirst().map { .text($0, 1) }
        case .query, .payload:
            let first = samples.texts.first ?? ""
            var all: [Value?] = [nil, .null] + samples.texts.dropFirst().map { .text($0, 1) }
            all += samples.counts.filter { $0 != samples.fittingCount }.map { .text(first, $0) }
            guard case .payload = source else { return all }
            for text in samples.texts {
                // A payload can contain a number or a Boolean, but a link only contains its text.
                if let json = try? JSONValue.parse(Array(text.utf8)), json.string == nil { all.append(.json(json)) }
            }
            return all + [.json(JSONValue(.object([]))), .json(JSONValue(.array([])))]
        }
    }

    private func changed(_ index: Int) -> [RequestValues] {
        values(index).map { value in
            var next = fitting
            Self.put(value, at: dependencies.inputs[index].source, &next)
            return next
        }
    }

    /// The fitting values with two missing or invalid sources, for tables that evaluate them in different orders.
    var pairs: [RequestValues] {
        let invalidValues = dependencies.inputs.indices.map {
            Array(values($0).filter { $0.map(Self.isText) ?? true }.prefix(3))
        }
        var pairs: [RequestValues] = []
        for first in dependencies.inputs.indices {
            for second in dependencies.inputs.indices where second > first {
                for a in invalidValues[first] {
                    for b in invalidValues[second] {
                        var next = fitting
                        Self.put(a, at: dependencies.inputs[first].source, &next)
                        Self.put(b, at: dependencies.inputs[second].source, &next)
                        pairs.append(next)
                    }
                }
            }
        }
        return pairs
    }

    private static func isText(_ value: Value) -> Bool { if case .text = value { true } else { false } }

    /// Returns texts for a capture of a path or a rewrite.
    func texts(_ index: Int) -> [String] { samples[index].texts.filter { !$0.isEmpty } }

    /// Returns texts for a capture of a path or a rewrite that are valid for one of its fields' types, the best first.
    func fittingTexts(_ index: Int) -> [String] { samples[index].fitting.filter { !$0.isEmpty } }

    /// Returns numbers of segments for a tail that is bound to a list.
    func counts(_ index: Int) -> [Int] { samples[index].counts }
}

/// Texts that distinguish the types of fields: valid texts of each type, with its bounds, and invalid ones.
///
/// For any two types of `FieldType`, one of the texts is valid for only one of them, or is bound to a different value.
struct ValueSamples {
    /// Texts for single values, beginning with the best of `fitting`.
    private(set) var texts: [String] = []

    /// The texts that are valid for a type.
    ///
    /// They are sorted by the number of strict types for which they are valid, then by the number of all types.
    private(set) var fitting: [String] = []

    /// Numbers of items for lists, at the bounds of all lists.
    private(set) var counts: [Int] = []

    /// The number of repetitions of the first text: one, or the number that is valid for most lists.
    private(set) var fittingCount = 1

    /// Creates samples for the types of one source in both tables.
    ///
    /// `strict` contains the types that reject a link with an invalid text.
    init(_ types: [FieldType], strict: [FieldType]) {
        var seen = Set<FieldType>()
        let own = types.filter { seen.insert($0).inserted }
        var all: [String] = []
        for type in own { all += Self.samples(type, beside: own) }
        // A value that one type binds as text can be a number for another, so with two types all short spellings count.
        if own.count > 1 { all += Self.spellings }
        if own.isEmpty { all = ["v"] }
        all.append("")
        let refusing = strict.filter { seen.remove($0) != nil }
        let scored = all.enumerated().map { position, text in
            (
                position: position, text: text,
                score: Self.matchCount(refusing, text) * (own.count + 1) + Self.matchCount(own, text)
            )
        }
        let best = scored.sorted { ($1.score, $0.position) < ($0.score, $1.position) }
        var included = Set<[UInt8]>()
        for text in best.prefix(1).map(\.text) + all where included.insert(Array(text.utf8)).inserted {
            texts.append(text)
        }
        included = []
        fitting = best.filter { $0.score > 0 && included.insert(Array($0.text.utf8)).inserted }.map(\.text)
        for case .list(_, let min, let max) in own {
            counts += [min - 1, min, max, max + 1].filter { $0 > 0 && $0 <= 129 && !counts.contains($0) }
            fittingCount = max >= 1 ? Swift.max(fittingCount, min) : fittingCount
        }
    }

    private static let spellings = [
        "1", "0", "true", "7", "05", "+5", "-0", "1.50", "x", "b121d5e7-ea65-49f8-8b33-b3c43fa93866", "2025-01-31",
    ]

    /// Returns the number of types for which a text is valid.
    private static func matchCount(_ types: [FieldType], _ text: String) -> Int {
        types.count { $0.canonicalText(text) != nil }
    }

    private static func samples(_ type: FieldType, beside types: [FieldType]) -> [String] {
        switch type {
        case .int(let min, let max):
            let inside = [min, max, Swift.max(min, Swift.min(max, 7))].map { String($0) }
            let outside = [min > .min ? min - 1 : nil, max < .max ? max + 1 : nil].compactMap { $0.map { String($0) } }
            return outside + ["x"] + inside
        case .string(let min, let max):
            // A letter that no enum has as a value distinguishes strings from enums.
            let values = types.flatMap { if case .enumeration(let values) = $0 { values } else { [[UInt8]]() } }
            let letter = ["a", "q", "z", "k", "w"].first { letter in
                !values.contains { $0.allSatisfy { $0 == letter.utf8.first } }
            }
            return [min - 1, max + 1, min, max, Swift.max(min, Swift.min(max, 3))]
                .filter { $0 >= 0 && $0 <= longest }
                .map { String(repeating: letter ?? "a", count: $0) }
        case .bool: return ["0", "x", "true"]
        case .uuid: return ["x", "b121d5e7-ea65-49f8-8b33-b3c43fa93866", "B121D5E7-EA65-49F8-8B33-B3C43FA93866"]
        case .date: return ["2025-02-30", "2025-01-31"]
        case .double: return ["-0", "x", "1.50"]
        case .decimal(let min, let max): return DecimalSamples(min: min, max: max).texts
        case .dateTime: return ["2025-01-31T12:00:60Z", "2025-01-31T14:00:00+02:00", "2025-01-31T12:00:00Z"]
        case .enumeration(let values):
            // If all types are equal, a few values represent all of them.
            let named = types.count == 1 ? values.prefix(4) : values[...]
            return ["zz-"] + named.reversed().map { String(decoding: $0, as: UTF8.self) }
        case .url(let hosts):
            let named = hosts.compactMap { rule -> String? in
                switch rule {
                case .exact(let host, let port): String(decoding: host, as: UTF8.self) + (port.map { ":\($0)" } ?? "")
                case .suffix(let suffix): "x." + String(decoding: suffix, as: UTF8.self)
                case .empty, .any: nil
                }
            }
            return ["https://any.invalid/", "x"] + named.map { "https://\($0)/" }
        case .list(let element, _, _): return samples(element, beside: types)
        }
    }

    /// The maximum length of a text to try: no field accepts a longer one.
    private static let longest = FieldType.maxTextBytes
}
