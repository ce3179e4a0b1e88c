package import StrictJSON

/// A problem in a file with rules for messages: a vendor table, or the rules of link platforms.
package struct RuleFileProblem: Error, Sendable, Equatable {
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
        /// A message or a link of `examples` does not open what it states.
        case example

        /// A description of what to do.
        package var advice: String {
            switch self {
            case .json: "correct the JSON at this place"
            case .version: "write the file in the version that this program reads"
            case .unknownMember: "remove the member, or correct its name"
            case .missingMember: "add the member"
            case .wrongType: "write a value of the expected type"
            case .badValue: "write a value that the reference of the file allows"
            case .duplicate: "remove one of the two, or give it another name"
            case .tooMany: "remove some, or divide the row into several"
            case .example: "correct the rules, or the expected result of the example"
            }
        }
    }

    /// The kind of the problem.
    package var code: Code
    /// The location of the value at fault.
    package var location: JSONLocation
    /// A description of the expected value.
    package var expected: String
    /// The known name that a misspelled one most likely means, or nil.
    package var nearest: String?

    /// A description of what to do.
    package var suggestion: String { nearest.map { "did you mean `\($0)`?" } ?? code.advice }
}

/// The problems of a file that is not valid, at least one.
package struct RuleFileFailure: Error, Sendable {
    /// The problems in the order of the file.
    package var problems: [RuleFileProblem]
}
