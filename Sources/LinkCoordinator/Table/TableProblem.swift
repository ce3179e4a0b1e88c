internal import ByteStorage
package import StrictJSON

/// A problem of a table: a description, its position in the file, and a suggestion.
public struct TableProblem: Error, Sendable, Equatable {
    /// The severity of a problem.
    public enum Severity: Int, Sendable {
        /// The table is refused.
        case error
        /// The table is accepted.
        case warning

        /// The name of the severity: `error` or `warning`.
        public var text: String { self == .error ? "error" : "warning" }
    }

    /// The stable code of a kind of problem.
    public enum Code: String, Sendable, CaseIterable {
        /// The file is not strict JSON.
        case json
        /// The file, or the number of its items, exceeds a limit.
        case tooLarge = "too_large"
        /// The table declares a newer schema version than is supported.
        case unsupportedSchemaVersion = "unsupported_schema_version"
        /// A key or type is newer than the schema version that the table declares.
        case needsSchemaVersion = "needs_schema_version"
        /// A key is not part of the format.
        case unknownKey = "unknown_key"
        /// A required key is missing.
        case missingKey = "missing_key"
        /// Keys exclude each other, or a key is not allowed in its context.
        case keyNotAllowed = "key_not_allowed"
        /// A value does not have the JSON type of its key.
        case wrongType = "wrong_type"
        /// A value is not valid for its key.
        case badValue = "bad_value"
        /// A name violates the rules of names.
        case badName = "bad_name"
        /// A name is reserved.
        case reservedName = "reserved_name"
        /// A name, scheme, value, or example occurs twice.
        case duplicate
        /// A pattern is malformed.
        case badPattern = "bad_pattern"
        /// A tail precedes the end of a pattern.
        case tailPosition = "tail_position"
        /// The type of a field is malformed.
        case badType = "bad_type"
        /// A template is malformed.
        case badTemplate = "bad_template"
        /// The source of a binding is malformed.
        case badSource = "bad_source"
        /// There is no such route.
        case unknownRoute = "unknown_route"
        /// There is no such screen.
        case unknownScreen = "unknown_screen"
        /// There is no such coordinator.
        case unknownCoordinator = "unknown_coordinator"
        /// There is no such model.
        case unknownModel = "unknown_model"
        /// The model has no such field.
        case unknownField = "unknown_field"
        /// There is no such guard.
        case unknownGuard = "unknown_guard"
        /// There is no such capability.
        case unknownCapability = "unknown_capability"
        /// There is no such var.
        case unknownVar = "unknown_var"
        /// There is no such rewrite.
        case unknownRewrite = "unknown_rewrite"
        /// A screen has the name of a coordinator, so no path can refer to it.
        case nameClash = "name_clash"
        /// The parents of coordinators or routes form a cycle.
        case parentCycle = "parent_cycle"
        /// Redirects form a cycle.
        case redirectCycle = "redirect_cycle"
        /// A redirect leads to no route.
        case redirectNowhere = "redirect_nowhere"
        /// No pattern captures a source `path.x`, or a pattern lacks it.
        case uncapturedSource = "uncaptured_source"
        /// The types of a capture and a field are incompatible.
        case incompatibleTypes = "incompatible_types"
        /// A pattern does not capture a `{name}` of a template.
        case uncapturedName = "uncaptured_name"
        /// The capture of a target `{p}` is not always a `coordinatorPath`.
        case notCoordinatorPath = "not_coordinator_path"
        /// A stack violates a rule of presentation.
        case presentation
        /// An external target is not on the allowlist.
        case externalNotAllowed = "external_not_allowed"
        /// The last variant has a condition, or another one has none.
        case variantOrder = "variant_order"
        /// A target is not static, or needs data or a guard, where that is not allowed.
        case targetNotPlain = "target_not_plain"
        /// A stack has more entries than a decision can have.
        case stackTooDeep = "stack_too_deep"
        /// A required field of the target is never bound.
        case unboundField = "unbound_field"
        /// A capture is never used.
        case unusedCapture = "unused_capture"
        /// A pattern is never selected.
        case unreachable
        /// Two routes overlap without declaring it.
        case overlap
        /// A route in `overlaps` does not overlap.
        case noOverlap = "no_overlap"
        /// Other routers read a text of a pattern, template, or constraint as a capture or a wildcard, but it is
        /// literal in a table.
        case foreignSyntax = "foreign_syntax"
        /// No target leads to a screen.
        case unusedScreen = "unused_screen"
        /// No target leads to a coordinator.
        case unusedCoordinator = "unused_coordinator"
        /// A capability is never used.
        case unusedCapability = "unused_capability"
        /// A guard is never used.
        case unusedGuard = "unused_guard"
        /// A var is never used.
        case unusedVar = "unused_var"
        /// No screen needs a model.
        case unusedModel = "unused_model"
        /// A condition never holds.
        case neverHolds = "never_holds"
        /// Every link of a route is rejected.
        case alwaysRejects = "always_rejects"
        /// No link reaches a pattern as it is written, because a rewrite removes its beginning.
        case hiddenByRewrite = "hidden_by_rewrite"
        /// An example holds for every decision.
        case expectsNothing = "expects_nothing"
        /// A property could not be proved within the work budget.
        case unproved
        /// A property that the owner of the table states does not hold.
        case refuted
        /// An example does not hold.
        case example
    }

    /// The severity of the problem.
    public var severity: Severity

    /// The code of the problem.
    public var code: Code

    /// A description of the problem, in one sentence without a period.
    public var message: String

    /// A description of what to do, or nil if the message makes it clear.
    ///
    /// The functions of `RouteAnalysis` also suggest what the author of the table may have meant, such as a known name
    /// that is similar to an unknown one.
    public var suggestion: String?

    /// The byte offset in the file.
    public var offset: Int

    /// The line, column, and JSON pointer of the offset.
    package var location: JSONLocation

    /// The line in the file, starting at 1.
    public var line: Int { location.line }

    /// The column in characters, starting at 1.
    public var column: Int { location.column }

    /// The JSON pointer (RFC 6901) of the problem, or an empty text for the table as a whole.
    public var pointer: String { location.pointer }

    /// The ids of the affected routes.
    public var routes: [String]

    /// A link that shows the problem when it is resolved.
    public var witness: String?

    /// A device that shows the problem, as JSON.
    public var device: String?

    /// The schema version that is needed to read the table or the part of it, if that is the problem.
    public var schemaVersion: Int?
}

extension TableProblem {
    /// Creates a problem of a table as a whole, such as for the tests of an app that handles refused tables.
    ///
    /// - Parameters:
    ///   - severity: The severity of the problem.
    ///   - code: The code of the problem.
    ///   - message: A description of the problem, in one sentence without a period.
    ///   - suggestion: A description of what to do, or nil.
    ///   - schemaVersion: The schema version that is needed to read the table, if that is the problem.
    public init(
        severity: Severity = .error, code: Code, message: String, suggestion: String? = nil, schemaVersion: Int? = nil
    ) {
        self.init(
            severity: severity, code: code, message: message, suggestion: suggestion, offset: 0,
            location: JSONLocation(line: 1, column: 1, pointer: ""), routes: [], schemaVersion: schemaVersion)
    }
}

extension TableProblem.Code {
    /// The codes of warnings.
    ///
    /// All other codes are used only for errors.
    public static let ofWarnings: [TableProblem.Code] = [
        .alwaysRejects, .expectsNothing, .foreignSyntax, .hiddenByRewrite, .neverHolds, .noOverlap, .redirectNowhere,
        .unboundField, .unproved,
        .unusedCapability, .unusedCapture, .unusedCoordinator, .unusedGuard, .unusedModel, .unusedScreen, .unusedVar,
    ]
}

extension TableProblem {
    /// Returns the problem as readable text: `file:line:column: error: … [code]`, followed by the indented suggestion.
    ///
    /// - Parameter file: The name of the file.
    /// - Returns: The text, which can have several lines.
    public func text(file: String) -> String {
        var lines = ["\(file):\(location.line):\(location.column): \(severity.text): \(message) [\(code.rawValue)]"]
        if !location.pointer.isEmpty { lines.append("    at \(location.pointer)") }
        if let witness { lines.append("    link: \(witness)") }
        if let device { lines.append("    device: \(device)") }
        if let suggestion { lines.append("    \(suggestion)") }
        // The names and texts of a table cannot begin a line.
        return lines.map(TerminalControl.visible).joined(separator: "\n")
    }

    /// Writes the members of the problem, for programs.
    package func write(to json: inout JSONText) {
        json.text("severity", severity.text)
        json.text("code", code.rawValue)
        json.text("message", message)
        json.number("line", Int64(line))
        json.number("column", Int64(column))
        json.text("pointer", pointer)
        if let suggestion { json.text("suggestion", suggestion) }
        if let witness { json.text("link", witness) }
        if let device { json.text("device", device) }
        if let schemaVersion { json.number("schemaVersion", Int64(schemaVersion)) }
        if !routes.isEmpty { json.texts("routes", routes) }
    }
}

/// The problems of a table, collected while it is read and checked.
package struct ProblemList: Sendable {
    /// A function that adds what the author may have meant to a problem, from the hints, the most specific first.
    package typealias Advisor = @Sendable (_ hints: [TableHint], _ problem: inout TableProblem) -> Void

    /// The maximum number of reported problems.
    ///
    /// The worst ones are reported. After one error more, the checks stop.
    package static let maxCount = 200

    /// The worst problems so far, and up to as many others that are not sorted yet.
    ///
    /// Their lines, columns, and pointers are not yet known.
    private var found: [TableProblem] = []

    /// A Boolean value that indicates whether one of the problems refuses the table.
    package var hasErrors: Bool { errorCount > 0 }

    /// The number of problems that were added, including problems that are no longer kept.
    package private(set) var count = 0

    /// The number of errors among them.
    private var errorCount = 0

    /// A Boolean value that indicates whether there are more errors than are reported, which stops the checks.
    ///
    /// The table is refused in any case, and the number of further problems can grow with the square of the file's
    /// size.
    package var isFull: Bool { errorCount > Self.maxCount }

    /// The ids of the routes that all problems concern that are added, unless they name others.
    var routes: [String] = []

    /// The function that completes each problem for an author of the table, or nil in an app.
    private let advisor: Advisor?

    /// Creates an empty list.
    package init(_ advisor: Advisor? = nil) { self.advisor = advisor }

    /// Adds an error at a byte of the file.
    package mutating func error(
        _ code: TableProblem.Code, at offset: Int, _ message: String, suggestion: String? = nil,
        hints: [TableHint] = [], routes: [String] = [], witness: String? = nil, device: String? = nil,
        schemaVersion: Int? = nil
    ) {
        note(.error, code, offset, message, suggestion, routes, witness, device, schemaVersion, hints)
    }

    /// Adds a warning at a byte of the file.
    package mutating func warning(
        _ code: TableProblem.Code, at offset: Int, _ message: String, suggestion: String? = nil, routes: [String] = [],
        witness: String? = nil
    ) {
        note(.warning, code, offset, message, suggestion, routes, witness)
    }

    private mutating func note(
        _ severity: TableProblem.Severity, _ code: TableProblem.Code, _ offset: Int, _ message: String,
        _ suggestion: String?, _ routes: [String], _ witness: String?, _ device: String? = nil,
        _ schemaVersion: Int? = nil, _ hints: [TableHint] = []
    ) {
        count += 1
        if severity == .error { errorCount += 1 }
        var problem = TableProblem(
            severity: severity, code: code, message: message, suggestion: suggestion, offset: offset,
            location: JSONLocation(line: 1, column: 1, pointer: ""), routes: routes.isEmpty ? self.routes : routes,
            witness: witness, device: device, schemaVersion: schemaVersion)
        advisor?(hints, &problem)
        found.append(problem)
        // Sorting only when the list has doubled keeps the cost of each addition constant and limits the memory.
        if found.count >= Self.maxCount * 2 { keepWorst() }
    }

    /// Adds an affected device and more text to an error at a byte of the file.
    package mutating func addDevice(
        _ device: String, to code: TableProblem.Code, at offset: Int, _ more: String
    ) {
        guard let index = found.firstIndex(where: { $0.code == code && $0.offset == offset }) else { return }
        found[index].device = device
        found[index].message += more
    }

    private mutating func keepWorst() {
        found.sort { Self.key($0) < Self.key($1) }
        found.removeLast(max(0, found.count - Self.maxCount))
    }

    /// Returns the sort key: errors before warnings, then by offset and code.
    ///
    /// An unsupported schema version precedes all others, because it is the reason for unknown keys and types.
    private static func key(_ one: TableProblem) -> (Int, Int, String, String) {
        let isReason = one.code == .unsupportedSchemaVersion
        return (one.severity.rawValue, isReason ? -1 : one.offset, one.code.rawValue, one.message)
    }

    /// Returns the worst problems, at most `maxCount`, with their positions in the file, in order.
    package func located(in file: [UInt8]) -> [TableProblem] {
        var list = self
        list.keepWorst()
        let locations =
            (list.found.count > 1 ? ProblemLocations(file) : nil)?.locations(of: list.found.map(\.offset))
            ?? list.found.map { JSONLocation.locate(offset: $0.offset, in: file) }
        return zip(list.found, locations).map { one, location in
            var problem = one
            problem.location = location
            return problem
        }
    }
}

/// Finds the positions of many problems in a valid file: one pass for all lines, and a descent for each pointer.
///
/// `JSONLocation.locate` reads the file once for each position. It is used for the single error of a malformed file.
struct ProblemLocations {
    private let file: [UInt8]
    private let value: JSONValue

    /// Creates a finder for a file, or returns nil if the file is not valid JSON.
    init?(_ file: [UInt8]) {
        guard let value = try? JSONValue.parse(file, maxDepth: TableSource.maxFileDepth) else { return nil }
        self.file = file
        self.value = value
    }

    /// Returns the positions of byte offsets.
    ///
    /// Each offset is the start of a value or name, or inside a text.
    func locations(of offsets: [Int]) -> [JSONLocation] {
        var locations: [Int: JSONLocation] = [:]
        var (line, column, at) = (1, 1, 0)
        for offset in offsets.sorted() where locations[offset] == nil {
            while at < min(offset, file.count) {
                if file[at] == UInt8(ascii: "\n") {
                    (line, column) = (line + 1, 1)
                } else if file[at] & 0xC0 != 0x80 {
                    column += 1
                }
                at += 1
            }
            locations[offset] = JSONLocation(line: line, column: column, pointer: pointer(to: offset))
        }
        return offsets.compactMap { locations[$0] }
    }

    private func pointer(to offset: Int) -> String {
        var out = ""
        var at = value
        while offset > at.offset {
            switch at.kind {
            case .object(let members):
                guard let index = Self.last(members, before: offset, { $0.nameOffset - 1 }) else { return out }
                out += JSONLocation.step(members[index].name)
                at = members[index].value
            case .array(let elements):
                guard let index = Self.last(elements, before: offset, \.offset) else { return out }
                out += "/\(index)"
                at = elements[index]
            default: return out
            }
        }
        return out
    }

    /// Returns the index of the last item that begins at or before an offset, or nil.
    private static func last<Item>(_ items: [Item], before offset: Int, _ start: (Item) -> Int) -> Int? {
        let end = items.partitioningIndex { start($0) > offset }
        return end == 0 ? nil : end - 1
    }
}
