extension TableSource {
    /// A route: the links that it matches and its action for them.
    package struct Route: Sendable {
        /// The action for a link.
        package enum Action: Sendable {
            /// Use the first variant whose condition holds.
            ///
            /// A `to` is a variant without a condition.
            case variants([Variant])
            /// Continue with another route.
            case redirect(Redirect)
            /// Stop after the selection of the route.
            case exclude(Exclusion)
        }

        /// The treatment of a query value that does not have the type of its field.
        package enum OnInvalid: String, Sendable, CaseIterable {
            /// The decision fails.
            case reject
            /// The value of an optional or defaulted field counts as missing, and a note is added.
            case drop
        }

        /// The treatment of a segment that is not a screen.
        package enum UnknownScreen: String, Sendable, CaseIterable, BitwiseCopyable {
            /// The decision fails.
            case reject
            /// The segment is left out, and a note is added.
            case skip
            /// The segment and all following ones are left out, and a note is added.
            case truncate
        }

        /// The treatment of an entry that the device does not support.
        package enum Unsupported: Sendable {
            /// The decision fails with the reason `unsupported`.
            case fallback
            /// The entry and all following ones are left out, and a note is added.
            case truncate
            /// Another static target is used, and a note is added.
            case to(Target)
        }

        /// The id, which is unique in the table.
        package var id: Located<String>

        /// The patterns of `match`, followed by the patterns of each alias.
        ///
        /// A pattern with an optional segment is followed by the one without it.
        ///
        /// A route without patterns can only be requested by its id.
        package var patterns: [RoutePattern] = []

        /// The query constraints of the selection.
        package var query: [QueryConstraint] = []

        /// The priority, which only breaks ties.
        ///
        /// The higher priority precedes.
        package var priority: Int64 = 0

        /// The routes that this one may overlap with.
        package var overlaps: [Located<String>] = []

        /// The action for a link.
        package var action: Action

        /// A Boolean value that indicates whether the file lists `variants` rather than one `to`.
        ///
        /// Decisions then contain the index of the variant.
        package var listsVariants = false

        /// The sources of fields, in the order of models and fields in the table.
        package var bindings: [Binding] = []

        /// The treatment of invalid values.
        package var onInvalid = OnInvalid.reject

        /// A Boolean value that indicates whether all bound required fields must have a value, even if no screen needs
        /// them.
        package var requireAll = false

        /// The treatment of unknown screens.
        package var unknownScreen = UnknownScreen.reject

        /// The treatment of entries that the device does not support.
        package var unsupported = Unsupported.fallback

        /// The segments of a coordinator path to show beside the result.
        package var notice: Located<[String]>?

        /// A text for tools.
        package var status: String?

        /// A date for tools, `YYYY-MM-DD`.
        package var sunset: String?

        /// The byte offset in the file.
        package var offset: Int

        /// The variants, or an empty list for a redirect or an exclusion.
        package var variants: [Variant] {
            if case .variants(let list) = action { list } else { [] }
        }
    }

    /// A pattern of a route with its scheme and host.
    package struct RoutePattern: Sendable {
        /// The pattern of the path.
        package var path: Pattern

        /// The required scheme, or nil for any scheme that the table lists.
        package var scheme: String?

        /// The required host, or nil for any host, including links with `host: segment`.
        package var host: HostRule?

        /// The number of the alias, or 0 for `match`.
        package var form: Int

        /// A Boolean value that indicates whether this pattern omits a trailing optional segment.
        package var omitsOptionalPart: Bool

        /// The byte offset in the file.
        package var offset: Int
    }

    /// One of a route's targets, in order.
    package struct Variant: Sendable {
        /// The condition, or nil if the variant always applies.
        package var when: Condition?

        /// The target.
        package var to: Target

        /// The segments of a coordinator path to show beside the result.
        ///
        /// The default is the notice of the route.
        package var notice: Located<[String]>?

        /// The byte offset in the file.
        package var offset: Int
    }

    /// The `redirect` of a route.
    package enum Redirect: Sendable {
        /// To a route by its id.
        ///
        /// Captures and query are carried over.
        case route(Located<String>)
        /// To a path, which is searched again.
        ///
        /// Scheme, host, and query stay the same.
        case template(Located<PathTemplate>)
    }

    /// The `exclude.outcome` of a route.
    package enum Exclusion: String, Sendable, CaseIterable {
        /// The link itself is opened externally.
        case external
        /// Nothing is done.
        case none
        /// The link is rejected.
        case reject
    }

    /// The binding of a field to the source of its value.
    package struct Binding: Sendable {
        /// A source of a value.
        package enum Source: Sendable {
            /// `path.name`: a capture.
            case path(String)
            /// `query.name`: a value of the query.
            case query(String)
            /// `rewrite.name`: the capture of a rewrite.
            case rewrite(String)
            /// `payload./pointer`: a value of the payload.
            case payload(JSONPath)
            /// `fragment`: the fragment of the link.
            case fragment
            /// A constant, as text that the type of the field accepts.
            case constant(String)
        }

        /// The name of the model.
        package var model: Located<String>

        /// The name of the field.
        package var field: Located<String>

        /// The source of the value.
        package var source: Located<Source>
    }

    /// A rule of `fallback`.
    package struct FallbackRule: Sendable {
        /// The outcome of a failed request.
        package enum Outcome: String, Sendable, CaseIterable, BitwiseCopyable { case reject, none, navigate, external }

        /// The reasons to which the rule applies, or nil for all.
        package var on: [Located<ReasonCode>]?

        /// The outcome of the request.
        package var outcome: Outcome

        /// The target, for `navigate` and `external`.
        package var to: Target?

        /// The byte offset in the file.
        package var offset: Int
    }
}

extension TableSource.Route {
    /// Returns the path of a pattern as written in the file, with a `?` if the last segment is optional.
    package func written(_ pattern: TableSource.RoutePattern) -> String {
        let isOptional =
            !pattern.omitsOptionalPart
            && patterns.contains { $0.form == pattern.form && $0.omitsOptionalPart }
        return isOptional ? String(pattern.path.text.dropLast()) + "?}" : pattern.path.text
    }

    /// Returns the precedence of a pattern of the route.
    package func precedence(of pattern: TableSource.RoutePattern) -> Precedence {
        Precedence(
            scheme: pattern.scheme, host: pattern.host, path: pattern.path, constraints: query.count,
            valuedConstraints: query.count { if case .equals = $0.test { true } else { false } }, priority: priority,
            route: id.value)
    }
}

extension TableSource.Binding.Source {
    /// The source in the table's notation.
    package var text: String {
        switch self {
        case .path(let name): "path.\(name)"
        case .query(let name): "query.\(name)"
        case .rewrite(let name): "rewrite.\(name)"
        case .payload(let path): "payload.\(path.text)"
        case .fragment: "fragment"
        case .constant: "const"
        }
    }
}

extension TableSource {
    /// The `to` of a route, variant, guard, or fallback: the target of a request.
    package struct Target: Sendable {
        /// The destination of a target.
        package enum Destination: Sendable {
            /// A static coordinator path, as segments without slashes.
            case path(segments: [String])
            /// `{name}`: the path that a `coordinatorPath` captured.
            case captured(Located<String>)
            /// The empty stack.
            case root
            /// A URL to open externally.
            case external(ExternalTemplate)
        }

        /// The mode in which the device applies the stack.
        package enum Mode: String, Sendable, CaseIterable {
            /// The stack replaces the device's stack.
            case replace
            /// The entries are added on top.
            case append
            /// The device goes back to the last entry if it is in the device's stack.
            ///
            /// Otherwise, the mode works like `append`.
            case reuse
        }

        /// The parents, which precede the target's entries.
        package enum Parents: Sendable {
            /// There are no parents.
            case none
            /// The initial screens of the parent coordinators.
            case initial
            /// The entries of another route, with their own parents.
            case route(Located<String>)
            /// Static coordinator paths in order, each as segments without slashes.
            case paths([Located<[String]>])
        }

        package var destination: Destination

        /// The mode, or nil for the default.
        ///
        /// See RouteTableReference, "Modes".
        package var mode: Mode?

        package var parents: Parents

        /// The presentation of the last entry, or nil for the default of its screen.
        package var present: Located<Presentation>?

        /// A Boolean value that indicates whether sheets, covers, and alerts are closed first.
        package var dismissModals: Bool

        /// The byte offset of the target in the file.
        package var offset: Int

        /// The byte offset of the path, the URL, or the `true` of the root.
        package var destinationOffset: Int
    }

    /// An external URL with a literal scheme and host, followed by text with captures.
    package struct ExternalTemplate: Sendable {
        /// The scheme in lowercase.
        package var scheme: String

        /// The host in lowercase.
        package var host: [UInt8]

        /// The port, or nil if none is written or it is the default port of the scheme.
        package var port: UInt16?

        /// The parts of the whole URL.
        ///
        /// The first one begins with the scheme and host.
        package var parts: [TemplatePart]

        /// The template as written in the file.
        package var text: String
    }

    /// The path template of a redirect: segments of text and captures.
    package struct PathTemplate: Sendable {
        /// The parts of each segment.
        ///
        /// A tail is the only part of its segment.
        package var segments: [[TemplatePart]]

        /// The template as written in the file.
        package var text: String
    }

    /// A part of a template.
    package enum TemplatePart: Sendable, Equatable {
        /// Literal text.
        case text(String)
        /// `{name}`: a capture of a pattern or of a rewrite.
        case name(Located<String>)
        /// `{query.name}`: a value of the query, or empty if absent.
        ///
        /// It is allowed only in external targets.
        case query(Located<String>)
    }

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

        /// The comparisons with the version of the app, which must all hold.
        package var app: [VersionTest] = []
        /// The comparisons with the version of the operating system, which must all hold.
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
        /// The attributes, which must all match.
        package var attributes: [Attribute] = []
        /// The query constraints, which must all hold.
        package var query: [QueryConstraint] = []
        /// The byte offset in the file.
        package var offset: Int

        /// Creates a condition that always holds.
        package init(offset: Int) { self.offset = offset }

        /// A Boolean value that indicates whether the condition has no members and holds for every request.
        package var isEmpty: Bool {
            app.isEmpty && os.isEmpty && capabilities.isEmpty && claims.isEmpty && platforms == nil && regions == nil
                && locales == nil && attributes.isEmpty && query.isEmpty
        }
    }
}
