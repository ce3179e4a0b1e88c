package import ByteStorage
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
        /// A screen has the name of a coordinator, so that no path can refer to it.
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
        var out = "\(file):\(location.line):\(location.column): \(severity.text): \(message) [\(code.rawValue)]"
        if !location.pointer.isEmpty { out += "\n    at \(location.pointer)" }
        if let witness { out += "\n    link: \(witness)" }
        if let device { out += "\n    device: \(device)" }
        if let suggestion { out += "\n    \(suggestion)" }
        return out
    }

    /// Writes the problem as one JSON object, for programs.
    ///
    /// The members are `severity`, `code`, `message`, `file`, `line`, `column`, `pointer`, and `routes`, followed by
    /// `link`, `device`, `suggestion`, and `schemaVersion` if there are any.
    package func write(file: String, into out: inout OutputArena) {
        out.append("{\"severity\":")
        Self.write(severity.text, into: &out)
        for (name, text) in [("code", code.rawValue), ("message", message), ("file", file)] {
            Self.write(name, text, into: &out)
        }
        for (name, number) in [("line", location.line), ("column", location.column)] {
            out.append(",")
            Self.write(name, into: &out)
            out.append(":")
            out.append(decimal: Int64(number))
        }
        Self.write("pointer", location.pointer, into: &out)
        out.append(",\"routes\":[")
        for (index, route) in routes.enumerated() {
            if index > 0 { out.append(",") }
            Self.write(route, into: &out)
        }
        out.append("]")
        if let witness { Self.write("link", witness, into: &out) }
        if let device { Self.write("device", device, into: &out) }
        if let suggestion { Self.write("suggestion", suggestion, into: &out) }
        if let schemaVersion {
            out.append(",\"schemaVersion\":")
            out.append(decimal: Int64(schemaVersion))
        }
        out.append("}")
    }

    private static func write(_ name: String, _ text: String, into out: inout OutputArena) {
        out.append(",")
        write(name, into: &out)
        out.append(":")
        write(text, into: &out)
    }

    private static func write(_ text: String, into out: inout OutputArena) {
        Array(text.utf8).withUnsafeBufferPointer { out.appendString(ByteView($0)) }
    }
}
