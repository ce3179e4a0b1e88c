package import StrictJSON

/// A route table as its file says it: every key of route-table.md, 3.0, typed, with the place of each part.
///
/// Names stay names here; `TableNames` finds what they stand for. Texts are in NFC and `vars` are put in, the links
/// of examples aside. A table of this type has been read, not checked: `TableChecks` does that.
package struct TableSource: Sendable {
    /// `table.id`, the name of the table.
    package var id: Placed<String>

    /// `table.version`, free text.
    package var version: Placed<String>

    /// Bundle ids and package names that the table serves.
    package var applications: [Placed<String>] = []

    /// Share of traffic for a trial of this table; no effect on a decision.
    package var canary: Canary?

    /// The link blocks, at least one; their schemes are disjoint.
    package var blocks: [LinkBlock] = []

    /// Whether literals, affixes and enum values of paths fold ASCII case; one for the whole table.
    package var foldsPathCase = false

    /// Where a push payload holds its link (N10).
    package var payload = PayloadPointers()

    /// Bounds on a link.
    package var limits = LinkLimits()

    /// Vars, in the order of the file.
    package var vars: [Var] = []

    /// Models in the order of the file, which is the order of binding.
    package var models: [Model] = []

    /// Capabilities, in the order of the file.
    package var capabilities: [Capability] = []

    /// Coordinators, in the order of the file.
    package var coordinators: [Coordinator] = []

    /// Guards, in the order of the file.
    package var guards: [Guard] = []

    /// Where external targets may lead.
    package var externals = Externals()

    /// Routes, in the order of the file, which counts nowhere.
    package var routes: [Route] = []

    /// Rules per reason; of several the first that names it counts.
    package var fallback: [FallbackRule] = []

    /// Examples that must hold.
    package var examples: [Example] = []

    /// Makes a table without parts.
    package init(id: Placed<String>, version: Placed<String>) {
        self.id = id
        self.version = version
    }
}

extension TableSource {
    /// `table.canary`: for tools and the worker.
    package struct Canary: Sendable {
        /// Share of devices in percent, 0 to 100; nil if the file does not say.
        package var percent: Double?

        /// Makes the choice of devices differ from other trials.
        package var salt: String

        /// Version of the table to compare with.
        package var compareTo: String?

        /// Byte offset in the file.
        package var offset: Int
    }

    /// A var of `vars`; its text has been put in wherever it is used.
    package struct Var: Sendable {
        /// The name.
        package var name: Placed<String>

        /// Whether `<name>` stands anywhere.
        package var isUsed: Bool
    }

    /// `externals`: the allow list of external targets, hosts as rules in lower case.
    package struct Externals: Sendable {
        /// Schemes; `https` by default.
        package var schemes: [String] = ["https"]

        /// Hosts; by default those of the link blocks but `""` and `*`.
        package var hosts: [HostRule] = []

        /// Makes the default list.
        package init() {}

        /// Whether a URL of this scheme, host and port may be opened.
        package func allow(scheme: String, host: [UInt8], port: UInt16?) -> Bool {
            schemes.contains(scheme) && hosts.contains { $0.takes(host: host, port: port) }
        }
    }

    /// An example of `examples`: a request, the device's facts and what must come out.
    package struct Example: Sendable {
        /// What is asked.
        package enum Request: Sendable {
            /// `link`: the text as the file has it, never brought to NFC.
            case link(String)
            /// `request`: an object with `link`, `path` + `mode`, `route` + `params`, or `payload`.
            case request(JSONValue)
        }

        /// One expected member of the decision.
        package struct Expectation: Sendable {
            /// Name of the member, one of `Example.members`.
            package var member: String
            /// What it must be equal to; null means that there is no such member.
            package var value: JSONValue
        }

        /// What is asked.
        package var request: Request

        /// The facts, an object; nil if nothing is known.
        package var device: JSONValue?

        /// What must hold, in the order of the file.
        package var expectations: [Expectation]

        /// Byte offset in the file.
        package var offset: Int

        /// Members that an example may name beside `link`, `request` and `device`.
        package static let members = [
            "outcome", "route", "variant", "via", "mode", "dismissModals", "path", "url", "notice", "reason", "detail",
            "guard", "notes", "screens", "present", "identity", "models",
        ]
    }
}
