/// A value of a table with its position in the file.
package struct Located<Value: Sendable>: Sendable {
    /// The value.
    package let value: Value

    /// The byte offset in the table file, which `JSONLocation` converts into a line, column, and pointer.
    package let offset: Int

    /// Creates a value with its offset.
    package init(_ value: Value, at offset: Int) {
        self.value = value
        self.offset = offset
    }
}

extension Located: Equatable where Value: Equatable {
    /// Returns a Boolean value that indicates whether the values are equal, regardless of their positions.
    package static func == (a: Located, b: Located) -> Bool { a.value == b.value }
}

extension Located: Hashable where Value: Hashable {
    /// Hashes the value, without its position.
    package func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
