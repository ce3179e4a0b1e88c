package import ByteStorage

/// A value in its canonical form, which borrows the original text.
package enum CanonicalValue: Sendable {
    /// The text is not of the type.
    case invalid
    /// A text, unchanged.
    case text(ByteView)
    /// A UUID, to be written in uppercase.
    case uuid(ByteView)
    /// A number, unchanged.
    case number(ByteView)
    /// A Boolean value.
    case boolean(Bool)
    /// A date and time, to be written in UTC.
    case dateTime(UTCDateTime)
}
