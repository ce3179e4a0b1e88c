extension TableSource {
    /// A coordinator and its screens.
    package struct Coordinator: Sendable {
        /// The name.
        package var name: Placed<String>

        /// Screens in the order of the file.
        package var screens: [Screen]

        /// Screen that stands for the coordinator itself.
        package var initial: Placed<String>?

        /// Coordinator under this one, for `parents: initial`.
        package var parent: Placed<String>?

        /// Guard of all its screens.
        package var guarding: Placed<String>?

        /// `slot: single`: only its last entry stays in a stack.
        package var singleSlot: Bool

        /// The screen of that name.
        package func screen(named name: String) -> Screen? { screens.first { $0.name.value == name } }
    }

    /// A screen of a coordinator.
    package struct Screen: Sendable {
        /// The name.
        package var name: Placed<String>

        /// Models whose data it needs, in the order of its `needs`.
        package var needs: [Placed<String>] = []

        /// How it may be presented; the first is the default.
        package var present: [Placed<Presentation>] = []

        /// Whether it has its own navigation, so that something may be pushed onto it as a sheet or cover.
        package var nav = false

        /// Template of the entry's identity.
        package var identity: IdentityTemplate?

        /// Screen whose view draws it.
        package var view: Placed<String>?

        /// First version of the app that has it.
        package var since: VersionText?

        /// First version of the app that has it no more.
        package var until: VersionText?

        /// Capabilities without which a device lacks it.
        package var requires: [Placed<String>] = []

        /// The presentation that is used unless a target says another.
        package var defaultPresentation: Presentation { present.first?.value ?? .push }
    }

    /// `identity` of a screen: text with `{Model.field}`.
    package struct IdentityTemplate: Sendable {
        /// A part of the template.
        package enum Part: Sendable, Equatable {
            /// Text as it stands.
            case text(String)
            /// The canonical text of a field.
            case field(model: String, field: String)
        }

        /// The parts in order.
        package var parts: [Part]

        /// Byte offset in the file.
        package var offset: Int
    }

    /// A guard: what a coordinator wants of a device, and what to show to one that lacks it.
    package struct Guard: Sendable {
        /// `resume` of a guard.
        package struct Resume: Sendable, Equatable {
            /// How long the request may wait, in seconds.
            package var ttlSeconds: Int64
            /// Whether it may be taken up only once.
            package var once: Bool
        }

        /// The name.
        package var name: Placed<String>

        /// The claim that the device must list.
        package var claim: String

        /// What is shown meanwhile: a static path or the root.
        package var otherwise: Target

        /// How the request may be taken up again; nil if it may not.
        package var resume: Resume?
    }
}
