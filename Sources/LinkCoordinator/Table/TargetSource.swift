extension TableSource {
    /// `to` of a route, variant, guard or fallback: what a request leads to.
    package struct Target: Sendable {
        /// Where it leads.
        package enum Destination: Sendable {
            /// A static coordinator path, its segments without slashes.
            case path(segments: [String])
            /// `{name}`: the path that a coordinatorPath captured.
            case captured(Placed<String>)
            /// The empty stack.
            case root
            /// A URL outside the app.
            case external(ExternalTemplate)
        }

        /// How the device applies the stack.
        package enum Mode: String, Sendable, CaseIterable {
            /// The stack takes the place of the device's.
            case replace
            /// The entries go on top.
            case append
            /// The device goes back to the last entry if it is there, else as `append`.
            case reuse
        }

        /// What is put before the target's entries.
        package enum Parents: Sendable {
            /// Nothing.
            case none
            /// The initial screens of the coordinators above.
            case initial
            /// Another route's entries with their own parents.
            case route(Placed<String>)
            /// Static coordinator paths, one after another; each as segments without slashes.
            case paths([Placed<[String]>])
        }

        /// Where it leads.
        package var destination: Destination

        /// The mode; nil where the file leaves it to the default of 2.6.
        package var mode: Mode?

        /// What is put before.
        package var parents: Parents

        /// How the last entry is presented, if not as its screen says.
        package var present: Placed<Presentation>?

        /// Whether sheets and covers are closed first.
        package var dismissModals: Bool

        /// Byte offset of the target in the file.
        package var offset: Int

        /// Byte offset of the path, the URL or the `true` of the root.
        package var destinationOffset: Int
    }

    /// An external URL: literal scheme and host, then text with captures.
    package struct ExternalTemplate: Sendable {
        /// Scheme, lower case.
        package var scheme: String

        /// Host, lower case.
        package var host: [UInt8]

        /// Port, if one is written other than the scheme's own.
        package var port: UInt16?

        /// The whole URL in parts, scheme and host at the start of the first.
        package var parts: [TemplatePart]

        /// The template as the file has it.
        package var text: String
    }

    /// A path template of a redirect: segments of text and captures.
    package struct PathTemplate: Sendable {
        /// The parts of each segment; a tail stands alone in its segment.
        package var segments: [[TemplatePart]]

        /// The template as the file has it.
        package var text: String
    }

    /// A part of a template.
    package enum TemplatePart: Sendable, Equatable {
        /// Text as it stands.
        case text(String)
        /// `{name}`: a capture, or what a rewrite took.
        case name(Placed<String>)
        /// `{query.name}`: a value of the query, empty if absent. In external targets only.
        case query(Placed<String>)
    }
}
