extension TableSource {
    /// A model: fields in the order of the file.
    package struct Model: Sendable {
        /// The name.
        package var name: Placed<String>

        /// The fields, in the order in which they are bound and printed.
        package var fields: [Field]

        /// The field of that name.
        package func field(named name: String) -> Field? { fields.first { $0.name.value == name } }
    }

    /// A field of a model.
    package struct Field: Sendable {
        /// What a field is when no value was given for it.
        package enum Absence: Sendable, Equatable {
            /// The decision fails, where a screen needs the model.
            case required
            /// The field is null (`?`).
            case null
            /// The field has this value (`=default`), a valid text of the type, in its canonical form.
            case value(String)
            /// The field is the empty list (a list that may be empty).
            case emptyList
        }

        /// The name.
        package var name: Placed<String>

        /// The type, without `?` and default.
        package var type: FieldType

        /// What the field is when nothing was bound.
        package var absence: Absence

        /// Byte offset of the type in the file.
        package var offset: Int
    }

    /// A capability: a device has it if every condition given here holds.
    package struct Capability: Sendable {
        /// The name.
        package var name: Placed<String>

        /// Least version of the app.
        package var minApp: VersionText?

        /// Least version of the operating system.
        package var minOS: VersionText?

        /// Platforms, one of which the device must be.
        package var platforms: [String]?

        /// Whether the device's own list must name it; `{}` means the same.
        package var listed: Bool
    }
}
