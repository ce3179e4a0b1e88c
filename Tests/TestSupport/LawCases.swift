import Foundation

/// The number of generated cases of a law, set by `LINKD_TEST_CASES`.
///
/// A law is a test that generates its inputs. Its comment says what a case is.
package enum LawCases {
    /// The number of cases of each law: `LINKD_TEST_CASES`, or 1,000, or 10,000 in a long run.
    package static let count = max(
        1,
        Int(ProcessInfo.processInfo.environment["LINKD_TEST_CASES"] ?? "") ?? (LongTests.areWanted ? 10_000 : 1_000))

    /// Returns the number of cases of a kind that are expected, from the number that 10,000 cases of a law contain.
    package static func expected(_ countIn10000: Int) -> Int { min(countIn10000, countIn10000 * count / 10_000) }

    /// A Boolean value that indicates whether a law has so many cases that rare ones are certain to occur.
    package static let hasRareCases = count >= 100_000
}

/// Tests that take long and that only a long run, such as `.ci/run`, contains.
package enum LongTests {
    /// A Boolean value that indicates whether `LINKD_TEST_LONG` is 1.
    package static let areWanted = ProcessInfo.processInfo.environment["LINKD_TEST_LONG"] == "1"

    /// Returns the size of a test that a variable of the environment sets, such as `LINKD_TEST_EVENTS`, or nil.
    package static func size(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }
}
