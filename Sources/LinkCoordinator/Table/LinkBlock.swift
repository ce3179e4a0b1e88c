extension TableSource {
    /// One block of `link`: how links of some schemes are read.
    package struct LinkBlock: Sendable {
        /// What the authority of a link is.
        package enum HostRole: String, Sendable, CaseIterable {
            /// A host that must be listed.
            case authority
            /// The first segment of the path.
            case segment
        }

        /// How schemes are compared.
        package enum SchemeCase: String, Sendable, CaseIterable {
            /// ASCII case does not count.
            case lower
            /// As they come.
            case exact
        }

        /// What becomes of empty segments inside a path (N6).
        package enum EmptySegments: String, Sendable, CaseIterable, BitwiseCopyable {
            /// They are dropped, and noted.
            case collapse
            /// The link is rejected.
            case reject
            /// As `collapse`, and a coordinator path loses the screens before the last of them.
            case reset
        }

        /// Schemes by name, without `*`.
        package var schemes: [Placed<String>] = []

        /// Whether `*` is listed: every scheme that no block names.
        package var takesOtherSchemes = false

        /// How schemes are compared.
        package var schemeCase = SchemeCase.lower

        /// What the authority is.
        package var hostRole = HostRole.authority

        /// Hosts that are taken; empty with `host: segment`.
        package var hosts: [Placed<HostRule>] = []

        /// What becomes of empty segments.
        package var emptySegments = EmptySegments.collapse

        /// How the query is read.
        package var query = QueryDialect()

        /// Prefixes that are taken off before selecting, in order.
        package var rewrites: [Rewrite] = []

        /// Whether query values that do not read are repaired (N9).
        package var repair = false

        /// Byte offset in the file.
        package var offset: Int
    }

    /// `query` of a link block: the dialect (N8).
    package struct QueryDialect: Sendable, Hashable {
        /// Whether names fold ASCII case.
        package enum Names: String, Sendable, CaseIterable { case sensitive, insensitive }
        /// Which of repeated names counts.
        package enum Duplicates: String, Sendable, CaseIterable, BitwiseCopyable { case first, last, reject }
        /// When percent-escapes are decoded.
        package enum Decode: String, Sendable, CaseIterable, BitwiseCopyable { case once, none, before }
        /// What `+` stands for.
        package enum Plus: String, Sendable, CaseIterable { case literal, space }
        /// Whether a name without `=` hides values of the same name.
        package enum Nulls: String, Sendable, CaseIterable { case keep, erase }

        /// Characters between pairs, each on its own a separator; ASCII, never `=`, `%` or `#`.
        package var pairSeparators: [UInt8] = [UInt8(ascii: "&")]
        /// Whether names fold ASCII case.
        package var names = Names.sensitive
        /// Which of repeated names counts.
        package var duplicates = Duplicates.first
        /// When percent-escapes are decoded.
        package var decode = Decode.once
        /// What `+` stands for.
        package var plus = Plus.literal
        /// Whether a null item hides values.
        package var nulls = Nulls.keep
        /// Whether pieces between separators and `=` form one list (article 002).
        package var flatten = false

        /// Makes the strict dialect.
        package init() {}
    }

    /// A rule of `rewrites`: a prefix of the path that is taken off.
    package struct Rewrite: Sendable {
        /// Literals and single captures, at most one capture; its last matcher is `restStar` without a capture.
        package var pattern: Pattern

        /// Name of the capture for `rewrite.name`; nil if nothing is captured.
        package var name: String?

        /// The prefix as the file has it, for the note `rewrite:/prefix`.
        package var text: String

        /// Byte offset in the file.
        package var offset: Int

        /// Number of segments that are taken off.
        package var segmentCount: Int { pattern.segmentCount }
    }

    /// `payload` of the first block (N10): JSON pointers (RFC 6901).
    package struct PayloadPointers: Sendable {
        /// Where a link may be; the first that holds a text which is not empty counts.
        package var link: [Placed<JSONPath>] = []
        /// Where a route id may be, for payloads without a link.
        package var route: Placed<JSONPath>?
        /// Where the params of that route are.
        package var params: Placed<JSONPath>?

        /// Makes pointers to nothing.
        package init() {}
    }

    /// `limits` of the first block: bounds on a link.
    package struct LinkLimits: Sendable, Equatable {
        /// Longest link, in bytes.
        package var maxBytes = 8192
        /// Most segments.
        package var maxSegments = 64
        /// Most query pieces.
        package var maxQueryItems = 128

        /// The bounds of `maxBytes`.
        package static let bytesBounds: ClosedRange<Int64> = 1...65536
        /// The bounds of `maxSegments`.
        package static let segmentsBounds: ClosedRange<Int64> = 1...256
        /// The bounds of `maxQueryItems`.
        package static let queryItemsBounds: ClosedRange<Int64> = 1...1024

        /// Makes the default limits.
        package init() {}
    }
}

/// A JSON pointer (RFC 6901), its escapes read.
package struct JSONPath: Sendable, Hashable {
    /// The pointer as written.
    package let text: String

    /// Names or indices from the root, `~1` and `~0` read.
    package let tokens: [String]

    /// Reads a pointer, or gives nil if it is none: not empty it begins with `/`, and `~` stands before 0 or 1 only.
    package init?(_ text: String) {
        self.text = text
        guard !text.isEmpty else {
            tokens = []
            return
        }
        guard text.utf8.first == UInt8(ascii: "/") else { return nil }
        var read: [String] = []
        for part in text.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let token = Self.unescape(part) else { return nil }
            read.append(token)
        }
        tokens = read
    }

    private static func unescape(_ part: Substring.UTF8View) -> String? {
        var bytes: [UInt8] = []
        var escaped = false
        for byte in part {
            if escaped {
                guard byte == UInt8(ascii: "0") || byte == UInt8(ascii: "1") else { return nil }
                bytes.append(byte == UInt8(ascii: "0") ? UInt8(ascii: "~") : UInt8(ascii: "/"))
                escaped = false
            } else if byte == UInt8(ascii: "~") {
                escaped = true
            } else {
                bytes.append(byte)
            }
        }
        return escaped ? nil : String(decoding: bytes, as: UTF8.self)
    }
}
