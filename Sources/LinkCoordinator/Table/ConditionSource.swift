extension TableSource {
    /// A constraint on one query name, for selecting or in a `when`.
    package struct QueryConstraint: Sendable, Hashable {
        /// What must hold of the name.
        package enum Test: Sendable, Hashable {
            /// Its value is this text.
            case equals(String)
            /// It is there, null included.
            case present
            /// It is not there.
            case absent
        }

        /// The name, any text.
        package var name: Placed<String>

        /// What must hold.
        package var test: Test
    }

    /// `when` of a variant: every member that is given must hold.
    package struct Condition: Sendable {
        /// A comparison with a version.
        package struct VersionTest: Sendable, Equatable {
            /// How the device's version is compared with the table's.
            package enum Relation: String, Sendable, CaseIterable, BitwiseCopyable {
                case atLeast = ">="
                case above = ">"
                case atMost = "<="
                case below = "<"
                case equal = "="
            }

            /// How they are compared.
            package var relation: Relation

            /// The table's version.
            package var version: VersionText

            /// Makes a comparison.
            package init(relation: Relation, version: VersionText) {
                self.relation = relation
                self.version = version
            }
        }

        /// An attribute and the texts one of which it must be equal to.
        package struct Attribute: Sendable {
            /// Name of the attribute.
            package var name: Placed<String>
            /// Texts, one of which it must be.
            package var values: [String]
        }

        /// Comparisons with the app's version, all of which hold.
        package var app: [VersionTest] = []
        /// Comparisons with the system's version, all of which hold.
        package var os: [VersionTest] = []
        /// Capabilities, all of which the device has.
        package var capabilities: [Placed<String>] = []
        /// Claims, all of which the device lists.
        package var claims: [Placed<String>] = []
        /// Platforms, one of which fits; nil if not asked.
        package var platforms: [String]?
        /// Regions, one of which fits; nil if not asked.
        package var regions: [String]?
        /// Locales, one of which fits; nil if not asked.
        package var locales: [String]?
        /// Attributes, all of which fit.
        package var attributes: [Attribute] = []
        /// Query constraints, all of which hold.
        package var query: [QueryConstraint] = []
        /// Byte offset in the file.
        package var offset: Int

        /// Makes a condition that always holds.
        package init(offset: Int) { self.offset = offset }

        /// Whether the condition holds for every request: `{}`.
        package var isEmpty: Bool {
            app.isEmpty && os.isEmpty && capabilities.isEmpty && claims.isEmpty && platforms == nil && regions == nil
                && locales == nil && attributes.isEmpty && query.isEmpty
        }
    }
}
