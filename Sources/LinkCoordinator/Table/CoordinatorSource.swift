extension TableSource {
    /// A coordinator and its screens.
    package struct Coordinator: Sendable {
        /// The name of the coordinator.
        package var name: Located<String>

        /// The screens in the order of the file.
        package var screens: [Screen]

        /// The screen that represents the coordinator itself.
        package var initial: Located<String>?

        /// The parent coordinator, for `parents: initial`.
        package var parent: Located<String>?

        /// The guard of all its screens.
        package var guarding: Located<String>?

        /// A Boolean value that indicates whether a stack keeps only the last entry of the coordinator (`slot:
        /// single`).
        package var singleSlot: Bool

        /// Returns the screen with the given name, or nil.
        package func screen(named name: String) -> Screen? { screens.first { $0.name.value == name } }
    }

    /// A screen of a coordinator.
    package struct Screen: Sendable {
        /// The name of the screen.
        package var name: Located<String>

        /// The models whose data the screen needs, in the order of `needs`.
        package var needs: [Located<String>] = []

        /// The allowed presentations.
        ///
        /// The first one is the default.
        package var present: [Located<Presentation>] = []

        /// A Boolean value that indicates whether the screen has its own navigation stack, onto which entries can be
        /// pushed if it is a sheet or cover.
        package var nav = false

        /// The template of the entry's identity.
        package var identity: IdentityTemplate?

        /// The screen whose view displays this screen.
        package var view: Located<String>?

        /// The first version of the app that has the screen.
        package var since: VersionText?

        /// The first version of the app that no longer has the screen.
        package var until: VersionText?

        /// The capabilities that a device needs to support the screen.
        package var requires: [Located<String>] = []

        /// The presentation for targets that do not specify another one.
        package var defaultPresentation: Presentation { present.first?.value ?? .push }
    }

    /// The `identity` of a screen: text with `{Model.field}`.
    package struct IdentityTemplate: Sendable {
        /// A part of the template.
        package enum Part: Sendable, Equatable {
            /// Literal text.
            case text(String)
            /// The canonical text of a field.
            case field(model: String, field: String)
        }

        /// The parts in order.
        package var parts: [Part]

        /// The byte offset in the file.
        package var offset: Int
    }

    /// A guard: the claim that a coordinator requires, and the target for a device without it.
    package struct Guard: Sendable {
        /// The `resume` of a guard.
        package struct Resume: Sendable, Equatable {
            /// The time for which the request can be resumed, in seconds.
            package var ttlSeconds: Int64
            /// A Boolean value that indicates whether the request can be resumed only once.
            package var once: Bool
        }

        /// The name of the guard.
        package var name: Located<String>

        /// The claim that the device must have.
        package var claim: String

        /// The target for a device without the claim: a static path or the root.
        package var otherwise: Target

        /// The rules for resuming the request, or nil if it cannot be resumed.
        package var resume: Resume?
    }
}
