package import ByteStorage
package import StrictJSON

/// One complaint about a table: what is wrong, where, and what to do.
public struct TableProblem: Error, Sendable, Equatable {
    /// How bad it is.
    public enum Severity: Int, Sendable {
        /// The table is refused.
        case error
        /// The table is taken.
        case warning

        /// The word for it.
        public var text: String { self == .error ? "error" : "warning" }
    }

    /// The kind of problem, stable for programs.
    public enum Code: String, Sendable, CaseIterable {
        /// The file is not strict JSON.
        case json
        /// The file, or a number of things in it, is over its bound.
        case tooLarge = "too_large"
        /// A key that the format does not have.
        case unknownKey = "unknown_key"
        /// A key that must be there.
        case missingKey = "missing_key"
        /// Keys that exclude each other, or that make no sense here.
        case keyNotAllowed = "key_not_allowed"
        /// A value of another JSON type than the key wants.
        case wrongType = "wrong_type"
        /// A value that the key does not take.
        case badValue = "bad_value"
        /// A name that breaks the rule of names.
        case badName = "bad_name"
        /// A name that is kept for the product.
        case reservedName = "reserved_name"
        /// A name, scheme, value or example that stands twice.
        case duplicate
        /// A pattern that does not read.
        case badPattern = "bad_pattern"
        /// A tail before the end of a pattern.
        case tailPosition = "tail_position"
        /// A field's type that does not read.
        case badType = "bad_type"
        /// A template that does not read.
        case badTemplate = "bad_template"
        /// A source of a bind that does not read.
        case badSource = "bad_source"
        /// A route that nothing has.
        case unknownRoute = "unknown_route"
        /// A screen that nothing has.
        case unknownScreen = "unknown_screen"
        /// A coordinator that nothing has.
        case unknownCoordinator = "unknown_coordinator"
        /// A model that nothing has.
        case unknownModel = "unknown_model"
        /// A field that the model lacks.
        case unknownField = "unknown_field"
        /// A guard that nothing has.
        case unknownGuard = "unknown_guard"
        /// A capability that nothing has.
        case unknownCapability = "unknown_capability"
        /// A var that nothing has.
        case unknownVar = "unknown_var"
        /// A rewrite that nothing has.
        case unknownRewrite = "unknown_rewrite"
        /// A screen that has a coordinator's name and could never be named in a path.
        case nameClash = "name_clash"
        /// Parents of coordinators or routes that lead back to themselves.
        case parentCircle = "parent_circle"
        /// A redirect that leads back to itself.
        case redirectCircle = "redirect_circle"
        /// A redirect that leads to nothing.
        case redirectNowhere = "redirect_nowhere"
        /// A source `path.x` that no pattern captures, or that one lacks.
        case uncapturedSource = "uncaptured_source"
        /// A capture and a field whose types do not fit.
        case incompatibleTypes = "incompatible_types"
        /// A `{name}` of a template that not every pattern captures.
        case uncapturedName = "uncaptured_name"
        /// A target `{p}` that is not a coordinatorPath everywhere.
        case notCoordinatorPath = "not_coordinator_path"
        /// A stack that breaks a rule of presentation.
        case presentation
        /// An external target off the allow list.
        case externalNotAllowed = "external_not_allowed"
        /// A last variant with a condition, or another without.
        case variantOrder = "variant_order"
        /// A target that must be static and without data and guard.
        case targetNotPlain = "target_not_plain"
        /// A stack of more entries than a decision holds.
        case stackTooDeep = "stack_too_deep"
        /// A required field of the target that nothing binds.
        case unboundField = "unbound_field"
        /// A capture that nothing uses.
        case unusedCapture = "unused_capture"
        /// A pattern that is never chosen.
        case unreachable
        /// Two routes that overlap without saying so.
        case overlap
        /// A name in `overlaps` that does not overlap.
        case noOverlap = "no_overlap"
        /// Text of a pattern, template or constraint that other routers read as a capture or a wildcard, and that is
        /// plain text here.
        case foreignSyntax = "foreign_syntax"
        /// A screen to which nothing leads.
        case unusedScreen = "unused_screen"
        /// A coordinator to which nothing leads.
        case unusedCoordinator = "unused_coordinator"
        /// A capability that nothing asks for.
        case unusedCapability = "unused_capability"
        /// A guard that guards nothing.
        case unusedGuard = "unused_guard"
        /// A var that stands nowhere.
        case unusedVar = "unused_var"
        /// A model that no screen needs.
        case unusedModel = "unused_model"
        /// A condition that never holds.
        case neverHolds = "never_holds"
        /// A route whose every link is rejected.
        case alwaysRejects = "always_rejects"
        /// A pattern that no link reaches as it is written, since a rewrite takes its beginning off.
        case hiddenByRewrite = "hidden_by_rewrite"
        /// An example that holds whatever comes out.
        case expectsNothing = "expects_nothing"
        /// What could not be proved within the work budget.
        case unproved
        /// An example that does not hold.
        case example
    }

    /// How bad it is.
    public var severity: Severity

    /// The kind of problem.
    public var code: Code

    /// What is wrong, in one sentence without a full stop.
    public var message: String

    /// What to do; nil where the message says it.
    public var suggestion: String?

    /// Byte offset in the file.
    public var offset: Int

    /// Line, column and JSON pointer of the offset.
    package var place: JSONPlace

    /// Line of the place, from 1.
    public var line: Int { place.line }

    /// Column of the place in characters, from 1.
    public var column: Int { place.column }

    /// JSON pointer (RFC 6901) of what is wrong; empty for the table as a whole.
    public var pointer: String { place.pointer }

    /// Ids of the routes that are concerned.
    public var routes: [String]

    /// A link that shows the problem when it is resolved.
    public var witness: String?

    /// A device that shows the problem, as JSON.
    public var device: String?
}

extension TableProblem.Code {
    /// The codes that a warning may have; all others are those of errors alone.
    public static let ofWarnings: [TableProblem.Code] = [
        .alwaysRejects, .expectsNothing, .foreignSyntax, .hiddenByRewrite, .neverHolds, .noOverlap, .redirectNowhere,
        .unboundField, .unproved,
        .unusedCapability, .unusedCapture, .unusedCoordinator, .unusedGuard, .unusedModel, .unusedScreen, .unusedVar,
    ]
}

extension TableProblem {
    /// The problem as text for people: `file:line:column: error: … [code]`, then what to do, indented.
    public func text(file: String) -> String {
        var out = "\(file):\(place.line):\(place.column): \(severity.text): \(message) [\(code.rawValue)]"
        if !place.pointer.isEmpty { out += "\n    at \(place.pointer)" }
        if let witness { out += "\n    link: \(witness)" }
        if let device { out += "\n    device: \(device)" }
        if let suggestion { out += "\n    \(suggestion)" }
        return out
    }

    /// Writes the problem as one JSON object, for programs: `severity`, `code`, `message`, `file`, `line`, `column`,
    /// `pointer`, `routes`, then `link` and `device` (the witness) and `suggestion` where there is one.
    package func write(file: String, into out: inout OutputArena) {
        out.append("{\"severity\":")
        Self.write(severity.text, into: &out)
        for (name, text) in [("code", code.rawValue), ("message", message), ("file", file)] {
            Self.write(name, text, into: &out)
        }
        for (name, number) in [("line", place.line), ("column", place.column)] {
            out.append(",")
            Self.write(name, into: &out)
            out.append(":")
            out.append(decimal: Int64(number))
        }
        Self.write("pointer", place.pointer, into: &out)
        out.append(",\"routes\":[")
        for (index, route) in routes.enumerated() {
            if index > 0 { out.append(",") }
            Self.write(route, into: &out)
        }
        out.append("]")
        if let witness { Self.write("link", witness, into: &out) }
        if let device { Self.write("device", device, into: &out) }
        if let suggestion { Self.write("suggestion", suggestion, into: &out) }
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
