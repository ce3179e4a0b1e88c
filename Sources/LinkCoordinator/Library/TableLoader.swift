internal import ByteStorage
internal import StrictJSON

extension RouteTable {
    /// The schema versions that the library supports.
    ///
    /// A table that declares a newer one is refused: see ``RouteTableError/requiredSchemaVersion``.
    public static var supportedSchemaVersions: ClosedRange<Int> { SchemaVersions.current.supported }

    /// The schema version that the table declares, in ``supportedSchemaVersions``.
    public var schemaVersion: Int { source.schemaVersion }

    /// Loads a table from the bytes of its file, checks its structure, compiles it, and runs its examples.
    ///
    /// This function omits the proofs that no two routes overlap and that a link selects each pattern. Run the checks
    /// of `RouteAnalysis` when you build the table. An app then loads a checked table without repeating the proofs.
    ///
    /// - Parameter json: The bytes of the file.
    /// - Throws: A ``RouteTableError`` with every problem that was found, errors first.
    public init(json: some Sequence<UInt8>) throws(RouteTableError) {
        let (table, problems, _) = TableLoader([UInt8](json)).finish()
        guard let table else { throw RouteTableError(problems: problems) }
        self = table
    }

    /// Creates a table from a file without running checks, so that the witness links of a refused table can be
    /// resolved.
    ///
    /// Returns nil if the file cannot be read. Only tests, and tools that show the problems of a table, may use it.
    package static func unchecked(_ json: [UInt8]) -> RouteTable? {
        let reading = TableSource.read(json)
        guard let source = reading.source, !reading.problems.hasErrors else { return nil }
        let hash = SHA256.hex(json)
        let compiled = CompiledTable(source, hash: String(hash.prefix(8)))
        return RouteTable(source: source, compiled: compiled, hash: hash, warnings: [])
    }

    /// Resolves a link for a device.
    ///
    /// - Parameters:
    ///   - link: The link, percent-encoded.
    ///   - device: The facts about the device.
    /// - Returns: The decision. An invalid link results in a decision with the outcome ``Decision/Outcome/reject``, or
    ///   with the outcome of a fallback rule.
    public func resolve(_ link: String, device: DeviceFacts = DeviceFacts()) -> Decision {
        resolve(.link(link), device: device)
    }

    /// Resolves a request for a device.
    ///
    /// - Parameters:
    ///   - request: The request to resolve.
    ///   - device: The facts about the device.
    /// - Returns: The decision.
    public func resolve(_ request: LinkRequest, device: DeviceFacts = DeviceFacts()) -> Decision {
        compiled.decide(request, device)
    }
}

/// The steps that turn the bytes of a file into a table: reading, checking, compiling, and running the examples.
package struct TableLoader {
    private let json: [UInt8]

    /// The parts of the table that could be read, or nil if the file is not a JSON object.
    package let source: TableSource?

    /// The parts of the table that could not be read completely.
    package let damage: TableDamage

    /// The schema version that the table declares, and the parts for which it matters.
    package let schema: TableSchema

    /// The problems that have been found.
    ///
    /// An error refuses the table.
    package var problems: ProblemList

    /// Reads a file and checks the structure of the table.
    ///
    /// - Parameters:
    ///   - json: The bytes of the file.
    ///   - advisor: The function that completes each problem for an author of the table, or nil in an app.
    package init(_ json: [UInt8], advisor: ProblemList.Advisor? = nil) {
        self.json = json
        let reading = TableSource.read(json, advisor: advisor)
        source = reading.source
        damage = reading.damage
        schema = reading.schema
        problems = TableChecks.run(reading)
    }

    /// Compiles the table and runs its examples.
    ///
    /// The returned table is nil if there is an error. The list is truncated if there are more errors than it has.
    ///
    /// - Parameter isOver: A function that returns true to end after the current example. The other examples are not
    ///   run then, so the caller must not use the table.
    package consuming func finish(
        until isOver: () -> Bool = { false }
    ) -> (table: RouteTable?, problems: [TableProblem], isTruncated: Bool) {
        guard let source, !problems.hasErrors else { return (nil, problems.located(in: json), problems.isFull) }
        let hash = SHA256.hex(json)
        let compiled = CompiledTable(source, hash: String(hash.prefix(8)))
        ExampleRun.check(source, compiled, into: &problems, until: isOver)
        let found = problems.located(in: json)
        if problems.hasErrors { return (nil, found, problems.isFull) }
        return (RouteTable(source: source, compiled: compiled, hash: hash, warnings: found), found, false)
    }
}

/// An error that lists the problems of a refused table.
public struct RouteTableError: Error, Sendable, CustomStringConvertible {
    /// The problems that were found, errors first, at most 200.
    public let problems: [TableProblem]

    /// Creates an error from problems that include at least one error.
    public init(problems: [TableProblem]) { self.problems = problems }

    /// The schema version that the table declares, if the library does not support it yet, or nil.
    ///
    /// An app that downloads a table can keep its current table in this case, and use the new one after an update.
    public var requiredSchemaVersion: Int? {
        problems.first { $0.code == .unsupportedSchemaVersion }?.schemaVersion
    }

    /// The problems as readable text, one after another.
    ///
    /// For the author of the table, `RouteTable.problems(in:)` of RouteAnalysis adds suggestions for misspelled names
    /// and for the syntax of other formats.
    public var description: String { problems.map { $0.text(file: "table") }.joined(separator: "\n") }
}

extension RouteTable {
    /// A route that a table declares.
    public struct Route: Sendable, Hashable, Identifiable {
        /// The route's id, as decisions name it.
        public let id: String
        /// The paths of the route's patterns, or an empty array if the route is reached only by its id.
        public let patterns: [String]

        /// Creates a route.
        public init(id: String, patterns: [String] = []) {
            self.id = id
            self.patterns = patterns
        }
    }

    /// A screen that a table declares.
    public struct Screen: Sendable, Hashable {
        /// The name of the coordinator.
        public let coordinator: String
        /// The name of the screen.
        public let name: String
        /// The name of the screen whose view displays this screen, or nil if the screen has its own view.
        public let view: String?
        /// The names of the models whose data the screen needs.
        public let models: [String]

        /// Creates a screen.
        public init(coordinator: String, name: String, view: String? = nil, models: [String] = []) {
            self.coordinator = coordinator
            self.name = name
            self.view = view
            self.models = models
        }
    }

    /// The routes, in the order of the table.
    public var routes: [Route] {
        source.routes.map { route in
            Route(
                id: route.id.value,
                patterns: route.patterns.filter { !$0.omitsOptionalPart }.map { route.written($0) })
        }
    }

    /// The screens of all coordinators, in the order of the table.
    ///
    /// An app can check at launch that it has a view for each screen:
    ///
    /// ```swift
    /// for screen in table.screens { assert(AppScreen(rawValue: screen.view ?? screen.name) != nil) }
    /// ```
    public var screens: [Screen] {
        source.coordinators.flatMap { coordinator in
            coordinator.screens.map { screen in
                Screen(
                    coordinator: coordinator.name.value, name: screen.name.value, view: screen.view?.value,
                    models: screen.needs.map(\.value))
            }
        }
    }
}

/// A store for an app's current route table, which can be replaced while other tasks resolve requests.
///
/// Read ``table`` once for each request, so that the request uses one table throughout. A table that was replaced stays
/// valid for the requests that still use it.
///
/// ```swift
/// let store = RouteTableStore(try RouteTable(json: bundled))
/// let decision = store.table.resolve(link)
/// store.replace(with: try RouteTable(json: downloaded))
/// ```
public final class RouteTableStore: Sendable {
    private struct State: Sendable {
        var table: RouteTable
        var listeners: [Int: AsyncStream<RouteTable>.Continuation] = [:]
        var nextListener = 0
    }

    private let state: Lock<State>

    /// Creates a store with its first table.
    public init(_ table: RouteTable) { state = Lock(State(table: table)) }

    deinit {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.finish() }
    }

    /// The current table.
    public var table: RouteTable { state.withLock { $0.table } }

    /// Replaces the table.
    ///
    /// - Parameter table: The table for later requests.
    /// - Returns: The table that was replaced.
    @discardableResult
    public func replace(with table: RouteTable) -> RouteTable {
        state.withLock { state in
            let last = state.table
            state.table = table
            // The listeners are notified inside the lock, so that each receives the tables in the order of replacement.
            for listener in state.listeners.values { listener.yield(table) }
            return last
        }
    }

    /// A stream of the current table, followed by each table that replaces it.
    ///
    /// Each access creates a new stream. A stream that is not read fast enough keeps only the newest table. It ends
    /// when the store is deallocated.
    public var tables: AsyncStream<RouteTable> {
        let (stream, continuation) = AsyncStream.makeStream(of: RouteTable.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            let number = state.nextListener
            state.nextListener += 1
            state.listeners[number] = continuation
            continuation.yield(state.table)
            return number
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.listeners.removeValue(forKey: number) }
        }
        return stream
    }
}

/// Checks the examples in a table against the table's own decisions.
enum ExampleRun {
    /// Resolves every example, and reports the examples whose decision differs from the expectation.
    static func check(
        _ source: TableSource, _ table: CompiledTable, into problems: inout ProblemList, until isOver: () -> Bool
    ) {
        for example in source.examples where !isOver() {
            guard let request = request(of: example) else { continue }
            let device = example.device.map { DeviceFacts($0) } ?? DeviceFacts()
            let decision = table.decide(request, device)
            for expectation in example.expectations {
                guard let difference = difference(expectation, decision) else { continue }
                problems.error(
                    .example, at: expectation.value.offset,
                    "the example does not hold: \(difference.subject) is \(difference.actual), "
                        + "expected \(difference.expected)",
                    suggestion:
                        "correct the route or the example; `linkd resolve --explain` shows how the decision was made",
                    witness: witness(example))
            }
        }
    }

    private static func witness(_ example: TableSource.Example) -> String? {
        if case .link(let text) = example.request { return text }
        return nil
    }

    private static func request(of example: TableSource.Example) -> LinkRequest? {
        switch example.request {
        case .link(let text): return .link(text)
        case .request(let json):
            if let link = json["link"]?.string { return .link(link) }
            if let path = json["path"]?.string {
                return .path(path, mode: json["mode"]?.string.flatMap(LinkRequest.Mode.init))
            }
            if let route = json["route"]?.string {
                return .route(route, params: json["params"].flatMap { LinkRequest.Object($0) } ?? [:])
            }
            return json["payload"].flatMap { LinkRequest.Object($0) }.map { .payload($0) }
        }
    }

    private typealias Difference = (subject: String, expected: String, actual: String)

    private static func difference(
        _ expectation: TableSource.Example.Expectation, _ decision: Decision
    ) -> Difference? {
        let expected = expectation.value
        if expectation.member == "models" { return modelDifference(expected, decision) }
        let actual = actual(expectation.member, decision)
        if isAbsence(expected, of: expectation.member) {
            return actual.map { (expectation.member, "none", $0.text) }
        }
        if let actual, actual.isEqual(to: expected) { return nil }
        return (expectation.member, expected.text, actual?.text ?? "absent")
    }

    /// Returns a Boolean value that indicates whether the expectation is that the decision does not have the member.
    private static func isAbsence(_ expected: JSONValue, of member: String) -> Bool {
        if expected.isNull { return true }
        if member == "via" || member == "notes", let list = expected.array { return list.isEmpty }
        if member == "dismissModals", case .bool(false) = expected.kind { return true }
        return false
    }

    private static func actual(_ member: String, _ decision: Decision) -> JSONValue? {
        switch member {
        case "screens":
            return decision.value["stack"]?.array.map { JSONValue(.number(String($0.count))) }
        case "present", "identity": return decision.value["stack"]?.array?.last?[member]
        default: return decision.value[member]
        }
    }

    /// Compares the expected fields with the last entry that has the model.
    private static func modelDifference(_ expected: JSONValue, _ decision: Decision) -> Difference? {
        for model in expected.object ?? [] {
            let entry = decision.value["stack"]?.array?.last { $0["data"]?[model.name] != nil }
            guard let data = entry?["data"]?[model.name] else {
                return ("the model \(model.name)", "an entry with this model", "absent")
            }
            for field in model.value.object ?? [] {
                let actual = data[field.name]
                if let actual, actual.isEqual(to: field.value) { continue }
                return ("\(model.name).\(field.name)", field.value.text, actual?.text ?? "absent")
            }
        }
        return nil
    }
}
