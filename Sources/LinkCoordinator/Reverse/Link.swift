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
    ///     `auth/a/b`. If empty segments reset the path, the empty segments of the value are written, `auth/a//b`.
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
        let origin = RequiredOrigin(scheme: scheme, host: host)
        var writer = LinkWriter(table: self, route: number, arguments: arguments, origin: origin, device: device)
        return try writer.write(route)
    }

    /// Returns the value of a tail in `captures` of ``link(route:models:captures:scheme:host:device:)``.
    ///
    /// Generated code uses it. A value can be empty, but its segments cannot, and they cannot contain a slash.
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
    let origin: RequiredOrigin
    let device: DeviceFacts
    private var failure: LinkError?
    private var tries = 0
    /// The route that the last link selected, before redirects.
    private var winner: Int?
    private var resolver = Resolver()
    private var arena = OutputArena(chunkBytes: 4096)

    init(table: RouteTable, route: Int, arguments: LinkArguments, origin: RequiredOrigin, device: DeviceFacts) {
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
    /// If the link of a pattern with `anySegment` selects another route, tries longer paths.
    private mutating func write(
        _ pattern: TableSource.RoutePattern, _ origin: LinkOrigin, _ route: TableSource.Route
    ) throws(LinkError) -> String {
        var failure: LinkError?
        for fillers in AnySegmentFillers.all(of: pattern.path) {
            do throws(LinkError) {
                return try write(pattern, origin, route, fillers)
            } catch {
                failure = failure ?? error
                guard error.code == .notRoundTripped, winner != self.route, tries < Self.maxTries else { break }
            }
        }
        throw failure ?? LinkError(.origin, route.id.value, table.source.originsText(of: route))
    }

    /// Writes the link under one origin, with additional segments around the segment of `anySegment`.
    ///
    /// If the link selects another route that requires a query name to be absent, adds that name and tries again.
    private mutating func write(
        _ pattern: TableSource.RoutePattern, _ origin: LinkOrigin, _ route: TableSource.Route,
        _ fillers: AnySegmentFillers
    ) throws(LinkError) -> String {
        let source = table.source
        let text = LinkText(block: source.blocks[origin.block], foldsCase: source.foldsPathCase)
        var markers: [String] = []
        while true {
            let link = try self.link(pattern, origin, route, text, fillers, markers)
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
        _ fillers: AnySegmentFillers, _ markers: [String]
    ) throws(LinkError) -> String {
        var own = try text.segments(of: pattern.path, arguments) { name in
            table.source.coordinators.contains { $0.name.value == name }
        }
        own = fillers.around(own)
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
                withUnsafePointer(to: RequestView(form: .link, text: ByteView(bytes))) { compare($0, facts) }
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

/// The values that a link of one route must carry, by their position in the link.
struct LinkArguments {
    /// The texts of captures by name.
    ///
    /// A tail has one text for each segment.
    private(set) var captures: [String: [String]] = [:]
    /// The query names in the order of the bindings, with their texts.
    private(set) var query: [(name: String, texts: [String])] = []
    /// The values that rewrites capture, by name.
    private(set) var rewrites: [String: String] = [:]
    /// The text of the fragment.
    private(set) var fragment: String?
    /// The value that each bound field must be read back as, by its number in the order of models and fields.
    private(set) var expected: [Int: ModelValue] = [:]
    /// The texts that captures must be read back as, even if no field is bound to them.
    private(set) var free: [String: [String]] = [:]
    /// Other spellings that are read back as the same value, for captures that do not accept the canonical spelling.
    private(set) var spellings: [String: String] = [:]

    /// The tails that were given as paths, including empty segments, which may reset a coordinator path.
    ///
    /// See RouteTableReference, "Empty segments".
    private(set) var paths: [String: [String]] = [:]

    /// Assigns every value to its position in the link.
    init(
        _ route: TableSource.Route, in source: TableSource, models: Models, captures given: [String: String]
    ) throws(LinkError) {
        try Self.checkNames(route, source, models, given)
        var number = 0
        var open: [(number: Int, source: TableSource.Binding.Source)] = []
        for model in source.models {
            for field in model.fields {
                defer { number += 1 }
                let binding = route.bindings.first {
                    $0.model.value == model.name.value && $0.field.value == field.name.value
                }
                let values = models[model.name.value]
                let value = FieldTexts(field, of: model.name.value)
                let texts = try value.texts(values?[field.name.value] ?? .null)
                if let binding {
                    expected[number] = try put(texts, value, binding.source.value)
                    if values?[field.name.value] == nil { open.append((number, binding.source.value)) }
                } else if !texts.isEmpty, value.canonical(texts) != field.absentValue {
                    throw LinkError(.unwritable, value.position, "no value, because the route does not bind the field")
                }
                if expected[number] ?? .null == .null, field.absence == .required, values != nil {
                    throw LinkError(.missing, value.position, "a value of type \(field.type.text)")
                }
            }
        }
        for (name, text) in given { try putCapture(name, text, route) }
        // A field without a given value gets the value of the field with which it shares a position.
        for (number, source) in open where holds(source) { expected[number] = nil }
    }

    /// Returns a Boolean value that indicates whether the position in the link has a value.
    private func holds(_ source: TableSource.Binding.Source) -> Bool {
        switch source {
        case .path(let name): captures[name] != nil
        case .query(let name): query.contains { $0.name.equalsFolded(name) }
        case .rewrite(let name): rewrites[name] != nil
        case .fragment: fragment != nil
        case .payload, .constant: false
        }
    }

    private static func checkNames(
        _ route: TableSource.Route, _ source: TableSource, _ models: Models, _ captures: [String: String]
    ) throws(LinkError) {
        for (name, fields) in models.fields.sorted(by: { $0.key < $1.key }) {
            guard let model = source.models.first(where: { $0.name.value == name }) else {
                throw LinkError(.unknownName, name, "a model of the table")
            }
            for field in fields.keys.sorted() where model.field(named: field) == nil {
                throw LinkError(.unknownName, "\(name).\(field)", "a field of the model")
            }
        }
        for name in captures.keys.sorted()
        where !route.patterns.contains(where: { $0.path.capture(named: name) != nil }) {
            throw LinkError(.unknownName, "path.\(name)", "a capture of the route's patterns")
        }
    }

    /// Assigns the texts of a field to the source of its binding, and returns the value that they are read back as.
    ///
    /// A default needs no query item, because an absent item is read as the default.
    private mutating func put(
        _ texts: [String], _ value: FieldTexts, _ source: TableSource.Binding.Source
    ) throws(LinkError) -> ModelValue {
        let result = texts.isEmpty ? value.field.absentValue : value.canonical(texts)
        let isDefault = result == value.field.absentValue
        switch source {
        case .constant(let text):
            let own = value.canonical([value.itemType.canonicalText(text) ?? text])
            if !texts.isEmpty && result != own { throw conflict(value.position, "the constant that the route binds") }
            return own
        case .payload:
            if !isDefault {
                throw LinkError(
                    .unwritable, value.position, "no value, because the route binds the field to a push payload")
            }
        case .path(let name):
            if texts.isEmpty { break }
            let isSpelled = texts.count == 1 && spellings[name] == texts[0]
            guard let one = isSpelled ? texts : value.agreeing(texts, with: captures[name]) else {
                throw conflict(value.position, "one value for path.\(name)")
            }
            // If two fields share a capture, another spelling must be valid for both.
            let other = value.otherSpelling(of: one)
            spellings[name] = captures[name] == nil || spellings[name] == other ? other : nil
            captures[name] = one
        case .rewrite(let name):
            if texts.isEmpty { break }
            guard let one = value.agreeing(texts, with: rewrites[name].map { [$0] }), one.count == 1 else {
                throw conflict(value.position, "one value for rewrite.\(name)")
            }
            rewrites[name] = one[0]
        case .fragment:
            if texts.isEmpty { break }
            guard let one = value.agreeing(texts, with: fragment.map { [$0] }), one.count == 1 else {
                throw conflict(value.position, "one value for the fragment")
            }
            fragment = one[0]
        case .query(let name):
            if texts.isEmpty || isDefault { break }
            let index = query.firstIndex { $0.name == name }
            guard let one = value.agreeing(texts, with: index.map { query[$0].texts }) else {
                throw conflict(value.position, "one value for query.\(name)")
            }
            if let index { query[index].texts = one } else { query.append((name, one)) }
        }
        return result
    }

    private func conflict(_ position: String, _ expected: String) -> LinkError {
        LinkError(.conflict, position, expected)
    }

    /// Assigns the text of a capture that was given by name.
    ///
    /// A tail is given as a path.
    private mutating func putCapture(
        _ name: String, _ text: String, _ route: TableSource.Route
    ) throws(LinkError) {
        let isTail = route.patterns.contains { $0.path.capture(named: name)?.isTail == true }
        let texts = isTail ? text.split(separator: "/").map { nfc(String($0)) } : [nfc(text)]
        if isTail { paths[name] = Self.segments(text) }
        if let known = captures[name], known != texts {
            throw conflict("path.\(name)", "the value of the field that is bound to the capture")
        }
        captures[name] = texts
        spellings[name] = nil
        free[name] = texts
    }

    /// Returns the segments of a path, starting with the first one that is not empty.
    ///
    /// A slash at the end results in an empty segment.
    private static func segments(_ path: String) -> [String] {
        path.split(separator: "/", omittingEmptySubsequences: false).drop(while: \.isEmpty).map { nfc(String($0)) }
    }
}

/// An error that occurs when no link can be written for a route.
public struct LinkError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The stable code of an error.
    public enum Code: String, Sendable, CaseIterable {
        /// The table has no route with this id. `position` is the id.
        case unknownRoute = "unknown_route"
        /// The route redirects, so its links select another route. `position` is the destination of the redirect.
        case redirects
        /// The route has no pattern. It can only be requested by its id.
        case noPattern = "no_pattern"
        /// The table has no such model or field, or the route has no such capture.
        case unknownName = "unknown_name"
        /// A value does not have the type of its field, or its capture does not accept it.
        case value
        /// A value that the link needs is missing.
        case missing
        /// Two different values were given for the same position in the link.
        case conflict
        /// A value cannot be written: the route does not bind its field to a part of the link, or links of this scheme
        /// cannot encode it.
        case unwritable
        /// The table accepts no link with a scheme and host that the route's patterns match.
        case origin
        /// The link that was written does not resolve to this route with these values. `position` describes the
        /// difference.
        case notRoundTripped = "not_round_tripped"
        /// The table of generated code cannot be loaded by this version of the library.
        case table
    }

    /// The code of the error.
    public let code: Code
    /// The position of the error: `Model.field`, `path.name`, `query.name`, or as described for the code.
    public let position: String
    /// A description of the expected value.
    public let expected: String
    /// The difference that `position` describes, for the code ``Code/notRoundTripped``.
    package let difference: Difference?

    /// A difference between the resolution of a link and the route and values that it was written for.
    package enum Difference: Sendable, Equatable {
        /// No route matches the link.
        case noRoute
        /// The link selects the route with this id, directly or by redirects.
        case route(String)
        /// The field, as `Model.field`, has another value.
        case field(String)
        /// The capture with this name has another text.
        case capture(String)
        /// The link does not resolve, for this reason.
        case reason(ReasonCode, detail: String?)

        fileprivate var text: String {
            switch self {
            case .noRoute: "no route"
            case .route(let id): "route \(id)"
            case .field(let name): "another value of \(name)"
            case .capture(let name): "another value of path.\(name)"
            case .reason(let reason, let detail): reason.rawValue + (detail.map { " " + $0 } ?? "")
            }
        }
    }

    /// Creates an error.
    public init(code: Code, position: String, expected: String) { self.init(code, position, expected) }

    init(_ code: Code, _ position: String, _ expected: String) {
        self.code = code
        self.position = position
        self.expected = expected
        difference = nil
    }

    /// Creates the error of a link that does not resolve to the route and values that it was written for.
    init(_ difference: Difference, expected: String) {
        code = .notRoundTripped
        position = difference.text
        self.expected = expected
        self.difference = difference
    }

    /// Creates the error of a link whose table cannot be loaded.
    ///
    /// Generated code uses it. An exported table loads, unless the app has an older version of the library.
    public init(_ error: RouteTableError) {
        let problem = error.problems.first.map { ": " + $0.message } ?? ""
        self.init(.table, "table", "a table that this version of the library accepts\(problem)")
    }

    /// The position of the error, the expected value, and the code.
    ///
    /// The text contains no given values, which may be personal data.
    public var description: String { "\(position): expected \(expected) (\(code.rawValue))" }
}
