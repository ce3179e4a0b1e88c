/// A value of a table together with where it stands in the file.
package struct Placed<Value: Sendable>: Sendable {
    /// The value itself.
    package let value: Value

    /// Byte offset in the table file; `JSONPlace` makes a line, column and pointer of it.
    package let offset: Int

    /// Makes a value that stands at `offset`.
    package init(_ value: Value, at offset: Int) {
        self.value = value
        self.offset = offset
    }
}

extension Placed: Equatable where Value: Equatable {
    /// Whether the values are equal; where they stand does not count.
    package static func == (a: Placed, b: Placed) -> Bool { a.value == b.value }
}

extension Placed: Hashable where Value: Hashable {
    /// Hashes the value; where it stands does not count.
    package func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
