extension TableSource {
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

        /// A Boolean value that indicates whether the block lists `*`, which matches every scheme that no block lists.
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
