package import StrictJSON

/// A route table in the form in which its file declares it: every key with its type and the position of each part.
///
/// Texts are in NFC and `vars` are replaced, except in the links of examples. `TableNames` resolves names to indices,
/// and `TableChecks` checks the table.
package struct TableSource: Sendable {
    /// The version of the format that the table declares (`schemaVersion`).
    package var schemaVersion = SchemaVersions.oldest

    /// The id of the table (`table.id`).
    package var id: Located<String>

    /// The version of the table, any text (`table.version`).
    package var version: Located<String>

    /// The bundle ids and package names that the table serves.
    package var applications: [Located<String>] = []

    /// The share of traffic for a canary of this table, which has no effect on decisions.
    package var canary: Canary?

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

    /// The examples, all of which must hold.
    package var examples: [Example] = []

    /// Creates an empty table.
    package init(id: Located<String>, version: Located<String>) {
        self.id = id
        self.version = version
    }
}

extension TableSource {
    /// The maximum size of a table file, in bytes.
    package static let maxFileBytes = 64 << 20

    /// The maximum nesting depth of a table file.
    package static let maxFileDepth = 64

    /// The `table.canary`, for tools and the worker.
    package struct Canary: Sendable {
        /// The share of devices in percent, from 0 to 100, or nil if the file has none.
        package var percent: Double?

        /// A text that varies the selection of devices between canaries.
        package var salt: String

        /// The version of the table to compare with.
        package var compareTo: String?

        /// The byte offset in the file.
        package var offset: Int
    }

    /// A var of `vars`.
    ///
    /// Its text has been inserted wherever it is used.
    package struct Var: Sendable {
        /// The name of the var.
        package var name: Located<String>

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

        /// The request.
        package var request: Request

        /// The facts about the device as an object, or nil if nothing is known.
        package var device: JSONValue?

        /// The expected members, in the order of `TableObject.expectations`.
        package var expectations: [Expectation]

        /// The byte offset in the file.
        package var offset: Int
    }
}
