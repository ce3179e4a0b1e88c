package import StrictJSON

/// A problem in the file of a vendor table.
package struct VendorTableProblem: Error, Sendable, Equatable {
    /// The kind of a problem.
    package enum Code: String, Sendable, CaseIterable {
        /// The file is not strict JSON.
        case json
        /// The file declares a version of the format that is not supported.
        case version
        /// A member is not part of the format, or not allowed in its context.
        case unknownMember = "unknown_member"
        /// A required member is missing.
        case missingMember = "missing_member"
        /// A value does not have the type of its member.
        case wrongType = "wrong_type"
        /// A value is not valid for its member.
        case badValue = "bad_value"
        /// An id occurs twice.
        case duplicate
        /// A number of items exceeds its limit.
        case tooMany = "too_many"
        /// A message of `examples` does not open what it states.
        case example
    }

    /// The kind of the problem.
    package var code: Code
    /// The location of the value at fault.
    package var location: JSONLocation
    /// A description of the expected value.
    package var expected: String
    /// The known name that a misspelled one most likely means, or nil.
    package var nearest: String?
}

/// The problems of a file that is not a valid vendor table, at least one.
package struct VendorTableFailure: Error, Sendable {
    /// The problems in the order of the file.
    package var problems: [VendorTableProblem]
}
