package import ByteStorage

/// The result of looking up a value.
package enum Found {
    /// The name is absent.
    case absent
    /// The name has no value.
    case null
    /// A decoded value.
    case text(ByteView)
    /// A value that cannot be decoded, or a name that occurs twice although duplicates are rejected.
    case invalid
}
