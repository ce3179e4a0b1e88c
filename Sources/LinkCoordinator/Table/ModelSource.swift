extension TableSource {
    /// A model with its fields in the order of the file.
    package struct Model: Sendable {
        /// The name of the model.
        package var name: Located<String>

        /// The fields, in the order in which they are bound and written.
        package var fields: [Field]

        /// Returns the field with the given name, or nil.
        package func field(named name: String) -> Field? { fields.first { $0.name.value == name } }
    }

    /// A field of a model.
    package struct Field: Sendable {
        /// The value of a field to which nothing is bound.
        package enum Absence: Sendable, Equatable {
            /// The decision fails if a screen needs the model.
            case required
            /// The value is null (`?`).
            case null
            /// The value is this default (`=default`), the canonical form of a text of the type.
            case value(String)
            /// The value is the empty list, for a list that may be empty.
            case emptyList
        }

        /// The name of the field.
        package var name: Located<String>

        /// The type, without `?` and default.
        package var type: FieldType

        /// The value if nothing is bound.
        package var absence: Absence

        /// The byte offset of the type in the file.
        package var offset: Int
    }

    /// A capability.
    ///
    /// A device has it if all given conditions hold.
    package struct Capability: Sendable {
        /// The name of the capability.
        package var name: Located<String>

        /// The minimum version of the app.
        package var minApp: VersionText?

        /// The minimum version of the operating system.
        package var minOS: VersionText?

        /// The accepted platforms, or nil for any.
        package var platforms: [String]?

        /// A Boolean value that indicates whether the device must report the capability.
        ///
        /// It is also true for `{}`.
        package var listed: Bool
    }
}
