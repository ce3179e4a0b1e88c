internal import Foundation
internal import LinkCoordinator
internal import RouteAnalysis
internal import StrictJSON
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

/// The sentences that say what a decision does.
@Suite struct DecisionSentenceTests {
    private static func value(_ text: String) throws -> JSONValue { try JSONValue.parse(Array(text.utf8)) }

    @Test(
        "A decision is said in one sentence",
        arguments: [
            (
                #"{"outcome":"navigate","stack":[{"screen":"catalog","present":"push"},"#
                    + #"{"screen":"productDetails","present":"sheet"}]}"#,
                "Opens Product Details in a sheet over Catalog"
            ),
            (#"{"outcome":"navigate","stack":[{"screen":"home","present":"push"}]}"#, "Opens Home"),
            (#"{"outcome":"navigate","stack":[]}"#, "Opens the app at its start"),
            (
                #"{"outcome":"navigate","reason":"no_route","stack":[{"screen":"feed","present":"push"}]}"#,
                "No route matches the link, so the app opens Feed"
            ),
            (
                #"{"outcome":"navigate","stack":[{"screen":"a","present":"push"},"#
                    + #"{"screen":"warn-user","present":"alert"}]}"#,
                "Opens Warn user as an alert over A"
            ),
            (#"{"outcome":"external","url":"https://x.example/"}"#, "Opens https://x.example/ outside the app"),
            (
                #"{"outcome":"deferred","guard":"signedIn","stack":[{"screen":"login","present":"cover"}]}"#,
                "Waits for signedIn, and shows Login as a full-screen cover until then"
            ),
            (#"{"outcome":"none","reason":"expired"}"#, "Opens nothing: the event has expired"),
            (
                #"{"outcome":"reject","reason":"scheme","detail":"http"}"#,
                "Rejected: the table does not list the link's scheme (http)"
            ),
        ])
    func sentences(decision: String, sentence: String) throws {
        #expect(try DecisionSentence(Self.value(decision), explanation: nil, table: nil).text == sentence)
    }

    @Test(
        "A rejected value is said with its limits",
        arguments: [
            (
                "shop:///p/B121D5E7-EA65-49F8-8B33-B3C43FA93866?count=100",
                "Rejected: count must be a whole number from 1 to 99"
            ),
            ("shop:///search", "Rejected: q is missing; it must be a text of 1 to 80 bytes"),
            ("shop:///nowhere", "Rejected: no pattern matches the link"),
            ("http://shop.example/", "Rejected: the scheme `http` is not listed"),
        ])
    func limits(link: String, sentence: String) throws {
        let path = Checkout.root.appending(path: "config/routes/shop.json").path
        let table = try CheckedTable.validTable(at: path)
        let explanation = table.explain(.link(link), device: DeviceFacts(try Self.value(#"{"app":"6.0.0"}"#)))
        let decision = try JSONValue.parse(explanation.decisionJSON)
        #expect(DecisionSentence(decision, explanation: decision["explain"], table: table).text == sentence)
        // The limits of a field come from the table.
        guard decision["reason"]?.string?.hasPrefix("param_") == true else { return }
        #expect(DecisionSentence(decision, explanation: nil, table: table).text == sentence)
    }

    @Test("The explanation of a link beyond the limit of bytes stays small, whatever its size is")
    func largeLink() throws {
        let table = try CheckedTable.validTable(at: Checkout.root.appending(path: "config/routes/shop.json").path)
        let link = "shop://" + String(repeating: "/a", count: 200_000)
        let explanation = table.explain(.link(link), device: DeviceFacts())
        #expect(explanation.json.count < 10_000)
        #expect(explanation.decision.reason == .budget)
    }
}
