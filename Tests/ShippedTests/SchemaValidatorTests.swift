import TestSupport
import Testing

/// The condition under which the tests of schemas run.
@Suite struct SchemaValidatorTests {
    @Test("Without a validator the tests are skipped, except where all tests must run")
    func condition() {
        let required = ["LINKD_TEST_REQUIRE_BROKER": "1"]
        #expect(SchemaValidator.isRun(environment: [:]) { true })
        #expect(!SchemaValidator.isRun(environment: ["LINKD_TEST_REQUIRE_BROKER": "0"]) { false })
        #expect(SchemaValidator.isRun(environment: required) { false })
    }
}
