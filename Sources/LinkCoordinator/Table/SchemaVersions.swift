/// A part of the table format that a schema version introduces.
package enum SchemaPart: Sendable, Hashable {
    /// A key of an object.
    case key(String, of: TableObject)
    /// The type of a field of a model.
    case fieldType(String)
    /// The type of a capture in a pattern.
    case captureType(String)
}

/// The schema versions that the library supports, with the version that introduced each part of the format.
///
/// See RouteTableReference, "Schema versions".
package struct SchemaVersions: Sendable {
    /// The oldest version.
    package static let oldest = 1

    /// The versions of this library.
    ///
    /// A part that is not listed belongs to the oldest version. A new key or type is listed here with a version that no
    /// release supports yet.
    package static let current = SchemaVersions(
        newest: 2, introduced: [.fieldType("decimal"): 2, .fieldType("datetime"): 2])

    /// The newest version.
    package let newest: Int

    /// The version of each part that is newer than the oldest version.
    package let introduced: [SchemaPart: Int]

    /// The versions of keys, by the raw value of their object.
    private let keys: [[String: Int]]

    /// A Boolean value that indicates whether a capture type is newer than the oldest version.
    let hasCaptureTypes: Bool

    /// Creates a list of versions.
    ///
    /// A lower `newest` with the same parts describes an older library: it does not know the newer parts.
    package init(newest: Int, introduced: [SchemaPart: Int]) {
        self.newest = newest
        self.introduced = introduced
        var keys = [[String: Int]](repeating: [:], count: TableObject.allCases.count)
        for case (.key(let key, let object), let version) in introduced { keys[object.rawValue][key] = version }
        self.keys = keys
        hasCaptureTypes = introduced.keys.contains { if case .captureType = $0 { true } else { false } }
    }

    /// All versions, from the oldest to the newest.
    package var supported: ClosedRange<Int> { Self.oldest...newest }

    /// Returns the version that introduced a part.
    package func version(of part: SchemaPart) -> Int { introduced[part] ?? Self.oldest }

    /// Returns the versions of the keys of an object that are newer than the oldest version.
    func newerKeys(of object: TableObject) -> [String: Int] { keys[object.rawValue] }
}
