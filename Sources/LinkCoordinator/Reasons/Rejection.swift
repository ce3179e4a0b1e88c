package import ByteStorage
internal import StrictJSON

/// The reasons for which a request ends without the target of its route.
///
/// They are in the order in which they are found, except for the last two.
///
/// The set is closed, so the resolver handles every reason. ``Decision/Reason`` is the open set of the public API.
///
/// See DecisionReference, "Reasons".
package enum ReasonCode: String, Sendable, CaseIterable {
    /// A limit on bytes, segments, query items, or the stack is exceeded.
    case budget
    /// The link has forbidden bytes, or an escape that is malformed.
    case badEncoding = "bad_encoding"
    /// The link has no scheme, or one that no block lists.
    case scheme
    /// The authority is malformed, or its host is not listed.
    case host
    /// The path has an empty segment, and the table rejects them.
    case emptySegment = "empty_segment"
    /// The path has a segment `.` or `..`.
    case dotSegment = "dot_segment"
    /// No pattern matches, or there is no route with this id.
    case noRoute = "no_route"
    /// A route redirects for the second time, or the limit of redirects is exceeded.
    case redirectLimit = "redirect_limit"
    /// The route is excluded.
    case excluded
    /// The excluded route opens links externally, but the link is not on the allowlist.
    case externalRefused = "external_refused"
    /// A segment of a coordinator path is not a screen.
    case unknownScreen = "unknown_screen"
    /// The device does not support a screen.
    case unsupported
    /// A value does not have the type of its field.
    case paramInvalid = "param_invalid"
    /// A value that a screen requires is missing.
    case paramMissing = "param_missing"
    /// The stack violates a rule of presentation.
    case presentation
    /// A payload contains neither a link nor a route.
    case noLink = "no_link"
    /// Strictly validated data cannot be read again.
    ///
    /// This is a defect of the program. Its record must not become a decision.
    case internalError = "internal"
}

/// The reason why a phase ended, with the detail for the decision.
///
/// Views are valid as long as the resolution.
///
/// See DecisionReference, "Reasons".
package struct Rejection: Error {
    /// The stable code of the reason.
    package var reason: ReasonCode
    /// The first part of the detail.
    var head: ByteView = .empty
    /// The second part of the detail, which follows a dot, or empty.
    var tail: ByteView = .empty
    /// A number that follows `head`, or -1 for none.
    var number = -1

    /// Creates a rejection with a detail of two parts, joined by a dot.
    package init(_ reason: ReasonCode, _ head: ByteView = .empty, dot tail: ByteView = .empty) {
        self.reason = reason
        self.head = head
        self.tail = tail
    }

    init(_ reason: ReasonCode, _ head: StaticString, number: Int = -1) {
        self.reason = reason
        self.head = ByteView(head)
        self.number = number
    }
}

/// A note about how a decision was made: `head`, `name`, `middle`, and `value`, concatenated.
package struct Note: BitwiseCopyable {
    /// The first part of the note.
    package var head: ByteView
    /// The name that the note refers to.
    package var name: ByteView = .empty
    /// The text between the name and the value.
    package var middle: ByteView = .empty
    /// The value that the note refers to.
    package var value: ByteView = .empty

    init(_ head: StaticString, _ name: ByteView = .empty, _ middle: StaticString = "", _ value: ByteView = .empty) {
        self.head = ByteView(head)
        self.name = name
        self.middle = ByteView(middle)
        self.value = value
    }
}

/// The maximum length of a decision's detail and of a segment in a note, in bytes.
///
/// Longer texts are cut between characters.
package let maxDetailBytes = 64

extension ByteView {
    /// Returns at most `count` bytes from the start, without splitting a character.
    package func prefix(bytes count: Int) -> ByteView {
        if self.count <= count { return self }
        var end = count
        while end > 0 && self[end] & 0xC0 == 0x80 { end -= 1 }
        return slice(0, end)
    }
}

extension ReasonCode {
    /// The code of the reason, without creating a `String`.
    var view: ByteView {
        switch self {
        case .budget: ByteView("budget")
        case .badEncoding: ByteView("bad_encoding")
        case .scheme: ByteView("scheme")
        case .host: ByteView("host")
        case .emptySegment: ByteView("empty_segment")
        case .dotSegment: ByteView("dot_segment")
        case .noRoute: ByteView("no_route")
        case .redirectLimit: ByteView("redirect_limit")
        case .excluded: ByteView("excluded")
        case .externalRefused: ByteView("external_refused")
        case .unknownScreen: ByteView("unknown_screen")
        case .unsupported: ByteView("unsupported")
        case .paramInvalid: ByteView("param_invalid")
        case .paramMissing: ByteView("param_missing")
        case .presentation: ByteView("presentation")
        case .noLink: ByteView("no_link")
        case .internalError: ByteView("internal")
        }
    }

    /// The position in the list of reasons.
    var index: Int {
        switch self {
        case .budget: 0
        case .badEncoding: 1
        case .scheme: 2
        case .host: 3
        case .emptySegment: 4
        case .dotSegment: 5
        case .noRoute: 6
        case .redirectLimit: 7
        case .excluded: 8
        case .externalRefused: 9
        case .unknownScreen: 10
        case .unsupported: 11
        case .paramInvalid: 12
        case .paramMissing: 13
        case .presentation: 14
        case .noLink: 15
        case .internalError: 16
        }
    }
}

/// The result of a decision, for counters and exit codes.
///
/// The decision itself is written as JSON.
package struct DecisionSummary: Sendable, Equatable {
    /// The kinds of outcomes, with their published names.
    package enum Outcome: UInt8, Sendable, CaseIterable { case navigate, external, deferred, none, reject }
    package var outcome: Outcome
    /// The reason, if the decision has one.
    package var reason: ReasonCode?

    init(_ outcome: Outcome, _ reason: ReasonCode? = nil) {
        self.outcome = outcome
        self.reason = reason
    }
}

/// Writes the parameters of a route in the form that events allow: scalars and lists of scalars.
enum ParamWriter {
    /// Appends an object without white space.
    ///
    /// Nested objects, and values in lists that are not scalars, are left out.
    ///
    /// - Throws: A `JSONError` if the text cannot be read. This cannot happen for text that was read strictly before.
    static func write(_ json: ByteView, into arena: inout OutputArena) throws(JSONError) {
        var cursor = JSONCursor(maxDepth: 512)
        cursor.open(validated: json)
        arena.append(byte: UInt8(ascii: "{"))
        var scope = try cursor.enterObject()
        var isFirst = true
        while try cursor.nextMember(&scope) {
            let byte = cursor.peek()
            if byte == UInt8(ascii: "{") {
                try cursor.skip()
                continue
            }
            if !isFirst { arena.append(byte: UInt8(ascii: ",")) }
            isFirst = false
            arena.appendString(scope.name)
            arena.append(byte: UInt8(ascii: ":"))
            if byte == UInt8(ascii: "[") {
                try writeList(&cursor, into: &arena)
            } else {
                arena.appendCompact(try cursor.skip())
            }
        }
        arena.append(byte: UInt8(ascii: "}"))
    }

    private static func writeList(_ cursor: inout JSONCursor, into arena: inout OutputArena) throws(JSONError) {
        arena.append(byte: UInt8(ascii: "["))
        var scope = try cursor.enterArray()
        var isFirst = true
        while try cursor.nextElement(&scope) {
            let byte = cursor.peek()
            let raw = try cursor.skip()
            if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") || byte == UInt8(ascii: "n") { continue }
            if !isFirst { arena.append(byte: UInt8(ascii: ",")) }
            isFirst = false
            arena.appendCompact(raw)
        }
        arena.append(byte: UInt8(ascii: "]"))
    }
}
