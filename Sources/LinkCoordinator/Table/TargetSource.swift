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

        /// The destination.
        package var destination: Destination

        /// The mode, or nil for the default.
        ///
        /// See RouteTableReference, "Modes".
        package var mode: Mode?

        /// The parents.
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
}
