extension TableSource {
    /// A constraint on one query name, for selecting a route or in a `when`.
    package struct QueryConstraint: Sendable, Hashable {
        /// A test of the name.
        package enum Test: Sendable, Hashable {
            /// The value equals this text.
            case equals(String)
            /// The name is present, with or without a value.
            case present
            /// The name is absent.
            case absent
        }

        /// The name, which can be any text.
        package var name: Located<String>

        /// The test of the name.
        package var test: Test
    }

    /// The `when` of a variant.
    ///
    /// All given members must hold.
    package struct Condition: Sendable {
        /// A comparison with a version.
        package struct VersionTest: Sendable, Equatable {
            /// The relation between the device's version and the table's version.
            package enum Relation: String, Sendable, CaseIterable, BitwiseCopyable {
                case atLeast = ">="
                case above = ">"
                case atMost = "<="
                case below = "<"
                case equal = "="
            }

            /// The relation.
            package var relation: Relation

            /// The version in the table.
            package var version: VersionText

            /// Creates a comparison.
            package init(relation: Relation, version: VersionText) {
                self.relation = relation
                self.version = version
            }
        }

        /// An attribute and its accepted texts.
        package struct Attribute: Sendable {
            /// The name of the attribute.
            package var name: Located<String>
            /// The accepted texts.
            package var values: [String]
        }

        /// The comparisons with the version of the app, all of which must hold.
        package var app: [VersionTest] = []
        /// The comparisons with the version of the operating system, all of which must hold.
        package var os: [VersionTest] = []
        /// The capabilities that the device must have.
        package var capabilities: [Located<String>] = []
        /// The claims that the device must have.
        package var claims: [Located<String>] = []
        /// The accepted platforms, or nil for any.
        package var platforms: [String]?
        /// The accepted regions, or nil for any.
        package var regions: [String]?
        /// The accepted locales, or nil for any.
        package var locales: [String]?
        /// The attributes, all of which must match.
        package var attributes: [Attribute] = []
        /// The query constraints, all of which must hold.
        package var query: [QueryConstraint] = []
        /// The byte offset in the file.
        package var offset: Int

        /// Creates a condition that always holds.
        package init(offset: Int) { self.offset = offset }

        /// A Boolean value that indicates whether the condition has no members, so that it holds for every request.
        package var isEmpty: Bool {
            app.isEmpty && os.isEmpty && capabilities.isEmpty && claims.isEmpty && platforms == nil && regions == nil
                && locales == nil && attributes.isEmpty && query.isEmpty
        }
    }
}
