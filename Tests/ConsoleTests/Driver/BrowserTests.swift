import Testing
import TestSupport

/// The tests with a browser.
///
/// They run one after another, each in a tab of its own.
/// Without Chromium and chromedriver they are skipped. `LINKD_TEST_REQUIRE_BROWSER=1` makes that a failure.
@Suite(
    .serialized, .enabled(if: Browser.isWanted, "no browser: chromium and chromedriver are not installed"), .tab)
struct BrowserTests {}

/// A trait that gives each test a tab, and fails tests whose page writes an error to the console.
struct TabTrait: SuiteTrait, TestTrait, TestScoping {
    let isRecursive = true

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        // Commands block, which must not occupy Swift's thread pool.
        try await onThreads {
            let browser = try Browser.shared()
            let tab = try browser.newTab()
            defer { try? tab.close() }
            try tab.perform("/timeouts", ["script": 120_000, "pageLoad": 120_000])
            // Messages of an earlier test that has failed are not of this one.
            _ = try tab.problems()
            try await Tab.$current.withValue(tab) { try await function() }
            let problems = try tab.problems()
            #expect(problems == [], "the page wrote these messages to the console")
        }
    }
}

extension Trait where Self == TabTrait {
    /// A tab of its own for each test.
    static var tab: Self { TabTrait() }
}
