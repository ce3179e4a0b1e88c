package import StrictJSON

/// A route table in the form in which its file declares it: every key with its type and the position of each part.
///
/// Texts are in NFC and `vars` are replaced, except in the links of examples. `TableNames` resolves names to indices,
/// and `TableChecks` checks the table.
package struct TableSource: Sendable {
    /// The version of the format that the table declares (`schemaVersion`).
    package var schemaVersion: Int

    /// The id of the table (`table.id`).
    package var id: Located<String>

    /// The version of the table, any text (`table.version`).
    package var version: Located<String>

    /// The bundle ids and package names that the table serves.
    package var applications: [Located<String>] = []

    /// The link blocks, at least one, with disjoint schemes.
    package var blocks: [LinkBlock] = []

    /// A Boolean value that indicates whether literals, affixes, and enumeration values of all paths ignore ASCII case.
    package var foldsPathCase = false

    /// The pointers that find the link of a push payload.
    ///
    /// See RouteTableReference, "Payload".
    package var payload = PayloadPointers()

    /// The limits on a link.
    package var limits = LinkLimits()

    /// The vars, in the order of the file.
    package var vars: [Var] = []

    /// The models in the order of the file, which is the order of binding.
    package var models: [Model] = []

    /// The capabilities, in the order of the file.
    package var capabilities: [Capability] = []

    /// The coordinators, in the order of the file.
    package var coordinators: [Coordinator] = []

    /// The guards, in the order of the file.
    package var guards: [Guard] = []

    /// The allowlist of external targets.
    package var externals = Externals()

    /// The routes, in the order of the file, which has no effect.
    package var routes: [Route] = []

    /// The fallback rules.
    ///
    /// For each reason, the first matching rule is used.
    package var fallback: [FallbackRule] = []

    /// The examples, which must all hold.
    package var examples: [Example] = []

    /// Creates an empty table.
    package init(schemaVersion: Int, id: Located<String>, version: Located<String>) {
        self.schemaVersion = schemaVersion
        self.id = id
        self.version = version
    }

    /// The maximum size of a table file, in bytes.
    package static let maxFileBytes = 64 << 20

    /// The maximum nesting depth of a table file.
    package static let maxFileDepth = 64

    /// A var of `vars`.
    ///
    /// Its text has been inserted wherever it is used.
    package struct Var: Sendable {
        /// The name of the var.
        package var name: Located<String>

        /// The text that `<name>` stands for.
        package var text: String

        /// A Boolean value that indicates whether `<name>` is used.
        package var isUsed: Bool
    }

    /// The `externals`: the allowlist of external targets, with lowercase hosts.
    package struct Externals: Sendable {
        /// The schemes.
        ///
        /// The default is `https`.
        package var schemes: [String] = ["https"]

        /// The hosts.
        ///
        /// The default is the hosts of the link blocks except `""` and `*`.
        package var hosts: [HostRule] = []

        /// Creates the default list.
        package init() {}

        /// Returns a Boolean value that indicates whether a URL with this scheme, host, and port can be opened.
        package func allow(scheme: String, host: [UInt8], port: UInt16?) -> Bool {
            schemes.contains(scheme) && hosts.contains { $0.matches(host: host, port: port) }
        }
    }

    /// An example of `examples`: a request, the facts about the device, and the expected decision.
    package struct Example: Sendable {
        /// The request of an example.
        package enum Request: Sendable {
            /// `link`: the original text, which is not normalized.
            case link(String)
            /// `request`: an object with `link`, `path` and `mode`, `route` and `params`, or `payload`.
            case request(JSONValue)
        }

        /// An expected member of the decision.
        package struct Expectation: Sendable {
            /// The name of the member, one of `TableObject.expectations`.
            package var member: String
            /// The expected value.
            ///
            /// Null means that the member is absent.
            package var value: JSONValue
        }

        package var request: Request

        /// The facts about the device as an object, or nil if nothing is known.
        package var device: JSONValue?

        /// The expected members, in the order of `TableObject.expectations`.
        package var expectations: [Expectation]

        /// The byte offset in the file.
        package var offset: Int
    }
}

/// A value of a table with its position in the file.
package struct Located<Value: Sendable>: Sendable {
    package let value: Value

    /// The byte offset in the table file, which `JSONLocation` converts into a line, column, and pointer.
    package let offset: Int

    /// Creates a value with its offset.
    package init(_ value: Value, at offset: Int) {
        self.value = value
        self.offset = offset
    }
}

extension Located: Equatable where Value: Equatable {
    /// Returns a Boolean value that indicates whether the values are equal, regardless of their positions.
    package static func == (a: Located, b: Located) -> Bool { a.value == b.value }
}

extension Located: Hashable where Value: Hashable {
    /// Hashes the value, without its position.
    package func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

extension TableSource {
    /// A model with its fields in the order of the file.
    package struct Model: Sendable {
        /// The name of the model.
        package var name: Located<String>

        /// The fields, in the order in which they are bound and written.
        package var fields: [Field]

        /// Returns the field with the given name, or nil.
        package func field(named name: String) -> Field? { fields.first { $0.name.value == name } }
    }

    /// A field of a model.
    package struct Field: Sendable {
        /// The value of a field to which nothing is bound.
        package enum Absence: Sendable, Equatable {
            /// The decision fails if a screen needs the model.
            case required
            /// The value is null (`?`).
            case null
            /// The value is this default (`=default`), the canonical form of a text of the type.
            case value(String)
            /// The value is the empty list, for a list that may be empty.
            case emptyList
        }

        /// The name of the field.
        package var name: Located<String>

        /// The type, without `?` and default.
        package var type: FieldType

        /// The value if nothing is bound.
        package var absence: Absence

        /// The byte offset of the type in the file.
        package var offset: Int
    }

    /// A capability.
    ///
    /// A device has it if all given conditions hold.
    package struct Capability: Sendable {
        /// The name of the capability.
        package var name: Located<String>

        /// The minimum version of the app.
        package var minApp: VersionText?

        /// The minimum version of the operating system.
        package var minOS: VersionText?

        /// The accepted platforms, or nil for any.
        package var platforms: [String]?

        /// A Boolean value that indicates whether the device must report the capability.
        ///
        /// It is also true for `{}`.
        package var listed: Bool
    }

    /// A coordinator and its screens.
    package struct Coordinator: Sendable {
        /// The name of the coordinator.
        package var name: Located<String>

        /// The screens in the order of the file.
        package var screens: [Screen]

        /// The screen that represents the coordinator itself.
        package var initial: Located<String>?

        /// The parent coordinator, for `parents: initial`.
        package var parent: Located<String>?

        /// The guard of all its screens.
        package var guarding: Located<String>?

        /// A Boolean value that indicates whether a stack keeps only the last entry of the coordinator (`slot:
        /// single`).
        package var singleSlot: Bool

        /// Returns the screen with the given name, or nil.
        package func screen(named name: String) -> Screen? { screens.first { $0.name.value == name } }
    }

    /// A screen of a coordinator.
    package struct Screen: Sendable {
        /// The name of the screen.
        package var name: Located<String>

        /// The models whose data the screen needs, in the order of `needs`.
        package var needs: [Located<String>] = []

        /// The allowed presentations.
        ///
        /// The first one is the default.
        package var present: [Located<Presentation>] = []

        /// A Boolean value that indicates whether the screen has its own navigation stack.
        ///
        /// If the screen is a sheet or cover, entries can be pushed onto it.
        package var nav = false

        /// The template of the entry's identity.
        package var identity: IdentityTemplate?

        /// The screen whose view displays this screen.
        package var view: Located<String>?

        /// The first version of the app that has the screen.
        package var since: VersionText?

        /// The first version of the app that no longer has the screen.
        package var until: VersionText?

        /// The capabilities that a device needs to support the screen.
        package var requires: [Located<String>] = []

        /// The presentation for targets that do not specify another one.
        package var defaultPresentation: Presentation { present.first?.value ?? .push }
    }

    /// The `identity` of a screen: text with `{Model.field}`.
    package struct IdentityTemplate: Sendable {
        /// A part of the template.
        package enum Part: Sendable, Equatable {
            /// Literal text.
            case text(String)
            /// The canonical text of a field.
            case field(model: String, field: String)
        }

        /// The parts in order.
        package var parts: [Part]

        /// The byte offset in the file.
        package var offset: Int
    }

    /// A guard: the claim that a coordinator requires, and the target for a device without it.
    package struct Guard: Sendable {
        /// The `resume` of a guard.
        package struct Resume: Sendable, Equatable {
            /// The time for which the request can be resumed, in seconds.
            package var ttlSeconds: Int64
            /// A Boolean value that indicates whether the request can be resumed only once.
            package var once: Bool
        }

        /// The name of the guard.
        package var name: Located<String>

        /// The claim that the device must have.
        package var claim: String

        /// The target for a device without the claim: a static path or the root.
        package var otherwise: Target

        /// The rules for resuming the request, or nil if it cannot be resumed.
        package var resume: Resume?
    }

    /// A block of `link`: the rules for reading links of some schemes.
    package struct LinkBlock: Sendable {
        /// The meaning of a link's authority.
        package enum HostRole: String, Sendable, CaseIterable {
            /// The authority is a host that must be listed.
            case authority
            /// The authority is the first segment of the path.
            case segment
        }

        /// The comparison of schemes.
        package enum SchemeCase: String, Sendable, CaseIterable {
            /// The case of ASCII letters is ignored.
            case lower
            /// Schemes are compared exactly.
            case exact
        }

        /// The treatment of empty segments inside a path.
        ///
        /// See RouteTableReference, "Empty segments".
        package enum EmptySegments: String, Sendable, CaseIterable, BitwiseCopyable {
            /// Empty segments are dropped, and a note is added.
            case collapse
            /// The link is rejected.
            case reject
            /// Works like `collapse`, and also removes the screens of a coordinator path before the last empty segment.
            case reset
        }

        /// The listed schemes, without `*`.
        package var schemes: [Located<String>] = []

        /// A Boolean value that indicates whether the block lists `*`, that is, every scheme that no block lists.
        package var acceptsOtherSchemes = false

        /// The comparison of schemes.
        package var schemeCase = SchemeCase.lower

        /// The meaning of the authority.
        package var hostRole = HostRole.authority

        /// The accepted hosts.
        ///
        /// The list is empty with `host: segment`.
        package var hosts: [Located<HostRule>] = []

        /// The treatment of empty segments.
        package var emptySegments = EmptySegments.collapse

        /// The dialect of the query.
        package var query = QueryDialect()

        /// The rewrites, which remove prefixes before the search, in order.
        package var rewrites: [Rewrite] = []

        /// A Boolean value that indicates whether invalid query values are repaired.
        ///
        /// See RouteTableReference, "Repair".
        package var repair = false

        /// The byte offset in the file.
        package var offset: Int
    }

    /// The `query` of a link block: the dialect of the query.
    ///
    /// See RouteTableReference, "Query options".
    package struct QueryDialect: Sendable, Hashable {
        /// The comparison of names, which may ignore ASCII case.
        package enum Names: String, Sendable, CaseIterable { case sensitive, insensitive }
        /// The value to use if a name occurs more than once.
        package enum Duplicates: String, Sendable, CaseIterable, BitwiseCopyable { case first, last, reject }
        /// The time at which percent escapes are decoded.
        package enum Decode: String, Sendable, CaseIterable, BitwiseCopyable { case once, none, before }
        /// The meaning of `+`.
        package enum Plus: String, Sendable, CaseIterable { case literal, space }
        /// The treatment of names without `=` if the same name also has values.
        package enum Nulls: String, Sendable, CaseIterable { case keep, erase }

        /// The separators of pairs, each a single ASCII character other than `=`, `%`, and `#`.
        package var pairSeparators: [UInt8] = [UInt8(ascii: "&")]
        /// The comparison of names.
        package var names = Names.sensitive
        /// The value to use if a name occurs more than once.
        package var duplicates = Duplicates.first
        /// The time at which percent escapes are decoded.
        package var decode = Decode.once
        /// The meaning of `+`.
        package var plus = Plus.literal
        /// The treatment of names without `=`.
        package var nulls = Nulls.keep
        /// A Boolean value that indicates whether the texts between separators and `=` form a single list.
        package var flatten = false

        /// Creates the default dialect.
        package init() {}
    }

    /// A rule of `rewrites`, which removes a prefix of the path.
    package struct Rewrite: Sendable {
        /// The pattern of the prefix: literals and at most one capture of a single segment.
        ///
        /// The last matcher is `restStar` without a capture.
        package var pattern: Pattern

        /// The name of the capture for `rewrite.name`, or nil if there is no capture.
        package var name: String?

        /// The prefix as written in the file, for the note `rewrite:/prefix`.
        package var text: String

        /// The byte offset in the file.
        package var offset: Int

        /// The number of segments that are removed.
        package var segmentCount: Int { pattern.segmentCount }
    }

    /// The `payload` of the first block: JSON pointers (RFC 6901).
    ///
    /// See RouteTableReference, "Payload pointers".
    package struct PayloadPointers: Sendable {
        /// The pointers to a link.
        ///
        /// The first nonempty text is used.
        package var link: [Located<JSONPath>] = []
        /// The pointer to a route id, for payloads without a link.
        package var route: Located<JSONPath>?
        /// The pointer to the parameters of the route.
        package var params: Located<JSONPath>?

        /// Creates an empty set of pointers.
        package init() {}
    }

    /// The `limits` of the first block.
    package struct LinkLimits: Sendable, Equatable {
        /// The maximum length of a link, in bytes.
        package var maxBytes = 8192
        /// The maximum number of segments.
        package var maxSegments = 64
        /// The maximum number of query items.
        package var maxQueryItems = 128

        /// The bounds of `maxBytes`.
        package static let bytesBounds: ClosedRange<Int64> = 1...65536
        /// The bounds of `maxSegments`.
        package static let segmentsBounds: ClosedRange<Int64> = 1...256
        /// The bounds of `maxQueryItems`.
        package static let queryItemsBounds: ClosedRange<Int64> = 1...1024

        /// Creates the default limits.
        package init() {}
    }
}

/// The presentation of an entry on top of the previous one.
public enum Presentation: String, Sendable, CaseIterable, BitwiseCopyable, Codable {
    /// The entry is pushed onto the navigation stack of the previous entry.
    case push
    /// The entry is presented as a sheet.
    case sheet
    /// The entry covers the full screen.
    case cover
    /// The entry is presented as an alert, on which nothing else can be shown.
    case alert
}

extension TableSource {
    /// The pointers of the table without duplicates: first the pointers to a link or a route, then the pointers that
    /// routes bind.
    var payloadPointers: [JSONPath] {
        var seen = Set<JSONPath>()
        var pointers = (payload.link + [payload.route, payload.params].compactMap { $0 }).map(\.value)
        for binding in routes.flatMap(\.bindings) {
            if case .payload(let path) = binding.source.value { pointers.append(path) }
        }
        return pointers.filter { seen.insert($0).inserted }
    }
}
