extension TableSource {
    /// A route: which links it takes and what becomes of them.
    package struct Route: Sendable {
        /// What becomes of a link.
        package enum Action: Sendable {
            /// The first variant whose condition holds; `to` is one variant without a condition.
            case variants([Variant])
            /// Another route.
            case redirect(Redirect)
            /// The end, right after select.
            case exclude(Exclusion)
        }

        /// What becomes of a query value that does not fit its field.
        package enum OnInvalid: String, Sendable, CaseIterable {
            /// The decision fails.
            case reject
            /// An optional or defaulted field counts as missing, noted.
            case drop
        }

        /// What becomes of a segment that is no screen.
        package enum UnknownScreen: String, Sendable, CaseIterable, BitwiseCopyable {
            /// The decision fails.
            case reject
            /// It is left out, noted.
            case skip
            /// It and what follows is left out, noted.
            case truncate
        }

        /// What becomes of an entry that the device lacks.
        package enum Unsupported: Sendable {
            /// The decision fails with reason `unsupported`.
            case fallback
            /// It and what follows is left out, noted.
            case truncate
            /// Another static target takes the place, noted.
            case to(Target)
        }

        /// The id, unique in the table.
        package var id: Placed<String>

        /// Patterns of `match`, then of each alias; each expanded one after its fuller form.
        ///
        /// A route without patterns is reached by its id only.
        package var patterns: [RoutePattern] = []

        /// Query constraints that take part in selecting.
        package var query: [QueryConstraint] = []

        /// Breaks ties only; higher first.
        package var priority: Int64 = 0

        /// Routes that this one may overlap with.
        package var overlaps: [Placed<String>] = []

        /// What becomes of a link.
        package var action: Action

        /// Whether the file lists `variants`, whose index a decision then says; false for one `to`.
        package var listsVariants = false

        /// Where fields come from, in the order of models and fields in the table.
        package var bindings: [Binding] = []

        /// What becomes of values that do not fit.
        package var onInvalid = OnInvalid.reject

        /// Whether all bound required fields are required, stack or no stack.
        package var requireAll = false

        /// What becomes of unknown screens.
        package var unknownScreen = UnknownScreen.reject

        /// What becomes of entries that the device lacks.
        package var unsupported = Unsupported.fallback

        /// Coordinator path to show beside the result, as segments.
        package var notice: Placed<[String]>?

        /// Text for tools.
        package var status: String?

        /// Date for tools, `YYYY-MM-DD`.
        package var sunset: String?

        /// Byte offset in the file.
        package var offset: Int

        /// The variants; empty for a redirect or an exclusion.
        package var variants: [Variant] {
            if case .variants(let list) = action { list } else { [] }
        }
    }

    /// One pattern of a route, with its scheme and host.
    package struct RoutePattern: Sendable {
        /// The path.
        package var path: Pattern

        /// The scheme that a link must have; nil for any that the table lists.
        package var scheme: String?

        /// The host that a link must have; nil for any, `host: segment` included.
        package var host: HostRule?

        /// 0 for `match`, n for the nth alias.
        package var form: Int

        /// Whether a trailing optional is left out in this pattern.
        package var leavesOptionalOut: Bool

        /// Byte offset in the file.
        package var offset: Int
    }

    /// One of a route's ordered targets.
    package struct Variant: Sendable {
        /// When it is taken; nil for always.
        package var when: Condition?

        /// Where it leads.
        package var to: Target

        /// Coordinator path to show beside the result (the route's if the file names none), as segments.
        package var notice: Placed<[String]>?

        /// Byte offset in the file.
        package var offset: Int
    }

    /// `redirect` of a route.
    package enum Redirect: Sendable {
        /// To a route by id, captures and query going along.
        case route(Placed<String>)
        /// To a path that is selected again, scheme, host and query staying.
        case template(Placed<PathTemplate>)
    }

    /// `exclude.outcome` of a route.
    package enum Exclusion: String, Sendable, CaseIterable {
        /// The link itself is opened outside the app.
        case external
        /// Nothing happens.
        case none
        /// The link is rejected.
        case reject
    }

    /// Where the value of one field comes from.
    package struct Binding: Sendable {
        /// A source of a value.
        package enum Source: Sendable {
            /// `path.name`: a capture.
            case path(String)
            /// `query.name`.
            case query(String)
            /// `rewrite.name`: what a rewrite took.
            case rewrite(String)
            /// `payload./pointer`.
            case payload(JSONPath)
            /// `fragment`.
            case fragment
            /// A constant, as text that the field's type takes.
            case constant(String)
        }

        /// The model.
        package var model: Placed<String>

        /// The field.
        package var field: Placed<String>

        /// Where its value comes from.
        package var source: Placed<Source>
    }

    /// A rule of `fallback`.
    package struct FallbackRule: Sendable {
        /// What becomes of a failed request.
        package enum Outcome: String, Sendable, CaseIterable, BitwiseCopyable { case reject, none, navigate, external }

        /// Reasons that it counts for; nil for every one.
        package var on: [Placed<Reason>]?

        /// What becomes of the request.
        package var outcome: Outcome

        /// Where it leads, for `navigate` and `external`.
        package var to: Target?

        /// Byte offset in the file.
        package var offset: Int
    }
}

extension TableSource.Route {
    /// The path of one of the route's patterns as the file writes it: with its `?` where the last segment is optional.
    package func written(_ pattern: TableSource.RoutePattern) -> String {
        let isOptional =
            !pattern.leavesOptionalOut
            && patterns.contains { $0.form == pattern.form && $0.leavesOptionalOut }
        return isOptional ? String(pattern.path.text.dropLast()) + "?}" : pattern.path.text
    }

    /// The place of one of the route's patterns in the order of 2.3.
    package func precedence(of pattern: TableSource.RoutePattern) -> Precedence {
        Precedence(
            scheme: pattern.scheme, host: pattern.host, path: pattern.path, constraints: query.count,
            valuedConstraints: query.count { if case .equals = $0.test { true } else { false } }, priority: priority,
            route: id.value)
    }
}
