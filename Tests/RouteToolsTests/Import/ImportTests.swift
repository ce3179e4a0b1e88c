@testable internal import RouteTools
internal import Foundation
internal import LinkCoordinator
internal import RouteAnalysis
internal import TestSupport
internal import Testing

/// Imports of the sample files.
@Suite struct ImportTests {
    static func sample(_ source: TableImport.Source) throws -> [UInt8] {
        let name =
            switch source {
            case .aasa: "apple-app-site-association"
            case .manifest: "AndroidManifest.xml"
            case .reactNavigation: "linking.json"
            }
        return [UInt8](try Data(contentsOf: Checkout.root.appending(path: "config/samples/links/\(name)")))
    }

    static func imported(_ source: TableImport.Source) throws -> TableImport {
        try TableImport(sample(source), from: source, id: "t", hosts: source == .aasa ? ["shop.example"] : [])
    }

    @Test(
        "A sample becomes a valid table without warnings, with the same text each time",
        arguments: TableImport.Source.allCases)
    func valid(source: TableImport.Source) throws {
        let imported = try Self.imported(source)
        let again = try Self.imported(source)
        #expect(RouteTable.problems(in: Array(imported.json.utf8)) == [])
        #expect(again.json == imported.json && again.notes == imported.notes)
        #expect(!imported.table.source.examples.isEmpty)
        #expect(imported.json.split(separator: "\n").allSatisfy { $0.utf8.count <= 200 || $0.contains("enum(") })
    }

    @Test(
        "The table of a sample decides links as the source does",
        arguments: [
            (.aasa, "https://shop.example/buy", "/app/buy"), (.aasa, "https://shop.example/buy/shoes/7", "/app/buy"),
            (.aasa, "https://shop.example/help/website/x", nil), (.aasa, "https://shop.example/help/me", nil),
            (.aasa, "https://shop.example/help/me?articleNumber=1234", "/app/help"),
            (.aasa, "https://shop.example/help/me?articleNumber=123", nil),
            (.aasa, "https://shop.example/de/menu/pizza", "/app/menu"),
            (.aasa, "https://shop.example/de/menu/salad", nil), (.aasa, "https://shop.example/dx/menu/pizza", nil),
            (.aasa, "https://shop.example/orders/1234", "/app/orders"),
            (.aasa, "https://shop.example/orders/123", nil), (.aasa, "https://shop.example/old/sale", nil),
            (.aasa, "https://shop.example/shoes/reviews", "/app/reviews"),
            (.aasa, "https://shop.example/old/reviews", nil), (.aasa, "https://other.example/buy", nil),
            (.manifest, "https://shop.example/buy", "/app/buy"),
            (.manifest, "https://shop.example/buyer/1", "/app/buy"),
            (.manifest, "https://www.shop.example/cart", "/app/cart"), (.manifest, "http://shop.example/cart", nil),
            (.manifest, "https://shop.example/items/7/reviews", "/app/items-reviews"),
            (.manifest, "https://shop.example/items/7/8/reviews", nil),
            (.manifest, "https://shop.example/orders/123", nil),
            (.manifest, "https://shop.example/orders/12345678", "/app/orders"),
            (.manifest, "https://shop.example/a/terms.pdf", "/app/pdf"), (.manifest, "shop://open/item/7", "/app/item"),
            (.manifest, "shop://other/item/7", nil), (.manifest, "https://open/item/7", nil),
            // The host and the path of this filter are only known when the app is built.
            (.manifest, "https://beta.example/anything", nil),
            (.reactNavigation, "mychat://users/7", "/Home/Feed/Profile"),
            (.reactNavigation, "https://a.mychat.example/u/7", "/Home/Feed/Profile"),
            (.reactNavigation, "https://mychat.example", "/Home/Feed"),
            (.reactNavigation, "mychat://settings", "/Home/Feed/Settings"),
            (.reactNavigation, "mychat://chat/jane/42", "/Home/Feed/Chat/Message"),
            (.reactNavigation, "mychat://chat/jane/x", "/Home/Feed/app/NotFound"),
            (.reactNavigation, "mychat://archive", "/Home/Feed/Chat/Archive"),
            (.reactNavigation, "mychat://report/spam", "/Home/Feed/app/Report"),
            (.reactNavigation, "mychat://report/other", "/Home/Feed/app/NotFound"),
            (.reactNavigation, "mychat://legal/terms/2026", "/Home/Feed/app/Legal"),
        ] as [(TableImport.Source, String, String?)])
    func decisions(source: TableImport.Source, link: String, path: String?) throws {
        let decision = try Self.imported(source).table.resolve(link)
        #expect((decision.outcome == .navigate ? decision.path : nil) == path, "\(decision)")
    }

    @Test("The remarks name what a source does not say, and each difference with its place")
    func notes() throws {
        func lines(_ source: TableImport.Source) throws -> [String] {
            try Self.imported(source).notes.map { "\($0.line) \($0.kind.rawValue): \($0.message)" }
        }
        let screens =
            "0 unknown: the screens: each route leads to a screen of its own in the coordinator `app`, "
            + "named after its path"
        let parents = "0 unknown: the screens below a screen, for which `parents` is the key"
        let port = "0 opens more: links with a port, which a host of a table allows"
        #expect(
            try lines(.aasa) == [
                screens, "0 unknown: the data: a captured segment or query item is text", parents, port,
                "9 opens more: the exclusion `*` depends on the fragment, which no route of a table does",
                "12 leaves out: links with another length of `articleNumber` in the query, "
                    + "if a later component opens them",
                "12 opens more: `articleNumber` in the query with any text of 4 bytes, not only `????`",
                "14 leaves out: the component `/orders/$(digit)$(digit)$(digit)$(digit)`: other cases of letters, "
                    + "such as "
                    + "https://shop.example/orderS/1111",
                "17 leaves out: the component `/*/reviews`: more than 3 segments in place of `*`, such as "
                    + "https://shop.example/x/x/x/x/reviews",
            ])
        #expect(
            try lines(.manifest) == [
                screens, "0 unknown: the data: a captured segment is text, and the items of queries are not listed",
                parents,
                "0 opens more: links with a slash at the end of the path, which a table reads as without it",
                "17 leaves out: `pathSuffix .pdf`: more than 3 segments in place of `*`, such as "
                    + "https://any.shop.example/.pdf",
                "23 leaves out: links that the source opens, such as shop://open/item/",
                "29 unknown: `host` is only known when the app is built, so it is skipped: "
                    + "check the merged manifest",
                "29 unknown: `pathPrefix` is only known when the app is built, so it is skipped: "
                    + "check the merged manifest",
            ])
        #expect(
            try lines(.reactNavigation) == [
                port, "0 unknown: the data types: every parameter is text",
                "0 unknown: the items of queries, which React Navigation gives to the screen",
                "15 unknown: the screen that `Chat` shows first: the table shows `Message`",
                "17 leaves out: the path `:id(\\d+)`: more than 64 characters in place of `\\d+`",
            ])
    }
}
