import Foundation
import LinkCoordinator
import TableSupport
import TestSupport
import Testing

@testable import RouteTools

/// The map of a table as JSON.
@Suite(.serialized) struct TableMapTests {
    @Test("A map has every route, screen, and guard, and its numbers lead to them", arguments: SampleTables.paths)
    func whole(path: String) throws {
        let table = try SampleTables.load(path)
        let map = try JSONObject(TableMap.json(table))
        #expect(map.flag("isComplete") == true)
        #expect(map.objects("routes").map { $0.text("id") } == table.source.routes.map(\.id.value).sorted())
        let screens = map.objects("coordinators").flatMap { $0.objects("screens") }
        #expect(screens.count == map.number("screens"))
        #expect(screens.count == table.source.coordinators.reduce(0) { $0 + $1.screens.count })
        #expect(map.objects("guards").map { $0.text("name") } == table.source.guards.map(\.name.value))
        let versions = map.texts("versions").count
        for route in map.objects("routes") {
            #expect(!(route.text("summary") ?? "").isEmpty)
            for exit in route.objects("exits") {
                for number in exit.numbers("stack") ?? [] { #expect(screens.indices.contains(number)) }
                for number in exit.numbers("versions") ?? [] { #expect((0..<versions).contains(number)) }
                if let id = exit.text("route") { #expect(table.source.routes.contains { $0.id.value == id }) }
            }
        }
    }

    /// Returns the stack of a decision in the notation of a map: the names of the screens.
    private func names(_ decision: Decision) -> [String] { decision.stack.map { "\($0.coordinator).\($0.screen)" } }

    @Test(
        "The stack of a route without conditions is that of the decision about its links", arguments: SampleTables.paths
    )
    func stacks(path: String) throws {
        let table = try SampleTables.load(path)
        let map = try JSONObject(TableMap.json(table))
        let screens = map.objects("coordinators").flatMap { lane in
            lane.objects("screens").map { "\(lane.text("name") ?? "").\($0.text("name") ?? "")" }
        }
        let claims = table.source.guards.map(\.claim)
        var compared = 0
        for (route, shown) in zip(
            table.source.routes.sorted { $0.id.value < $1.id.value }, map.objects("routes"))
        {
            let exits = shown.objects("exits")
            guard exits.count == 1, let stack = exits[0].numbers("stack"), exits[0].text("over") == nil,
                let link = SampleLinks.first(of: route, in: table)
            else { continue }
            let decision = table.resolve(link, device: DeviceFacts(app: "99.0.0", claims: claims))
            guard decision.outcome == .navigate, decision.notes.isEmpty else { continue }
            compared += 1
            #expect(names(decision) == stack.map { screens[$0] }, "\(link)")
        }
        print("\(path): \(compared) stacks compared")
    }

    @Test("The variants of a route have the versions for which they are chosen")
    func versions() throws {
        let map = try JSONObject(TableMap.json(SampleTables.load("config/routes/shop.json".inCheckout)))
        #expect(map.texts("versions") == ["before 4.0.0", "4.0.0 and later"])
        let item = try #require(map.objects("routes").first { $0.text("id") == "item" })
        #expect(item.objects("exits").map { $0.numbers("versions") } == [[1, 1], [0, 0]])
        #expect(item.text("group") == "/p")
        #expect(
            item.text("summary")
                == "Opens catalog.item over catalog.list (app from 4.0.0); otherwise opens https://shop.example/p/{id}")
        let old = try #require(map.objects("routes").first { $0.text("id") == "old-order" })
        #expect(old.objects("exits").map { $0.text("route") } == ["order"])
    }

    /// A table with many routes of several kinds.
    private func large(_ count: Int) throws -> RouteTable {
        let routes = (0..<count).map { number -> String in
            let match = #""id": "r\#(number)", "match": "/t\#(number / 50)/p\#(number)/{n:int(1..9)}""#
            switch number % 4 {
            case 0 where number > 0: return #"{ \#(match), "redirect": "r\#(number - 1)" }"#
            case 1:
                return
                    #"{ \#(match), "variants": [ { "when": { "app": ">=\#(number % 7 + 1)" }, "#
                    + #""to": { "path": "/c/s" } }, { "to": { "external": "https://h.example/{n}" } } ] }"#
            default: return #"{ \#(match), "to": { "path": "/c/s" }, "bind": { "A": { "n": "path.n" } } }"#
            }
        }
        let text = """
            { "schemaVersion": 1, "table": { "id": "many", "version": "1" },
              "link": { "schemes": ["https"], "host": "authority", "hosts": ["h.example"] },
              "models": { "A": { "n": "int(1..99)?" } },
              "coordinators": { "c": { "screens": { "s": { "needs": ["A"] } } } },
              "routes": [ \(routes.joined(separator: ",\n")) ] }
            """
        return try #require(RouteTable.unchecked(Array(text.utf8)))
    }

    @Test("A map of 10,000 routes has less than 400 bytes for each, and takes a time in proportion to their number")
    func scale() throws {
        let (few, many) = (try large(1_000), try large(10_000))
        var text = ""
        let excess = ThreadTime.excess(
            of: { text = TableMap.json(many) }, over: { _ = TableMap.json(few) }, factor: 20)
        #expect(excess == nil)
        #expect(text.utf8.count < 400 * 10_000)
        #expect(try JSONObject(text).objects("routes").count == 10_000)
    }

    @Test("A map that would be too large ends its list of routes and says so")
    func bound() throws {
        let table = try large(1_000)
        let text = TableMap.json(table, limitBytes: 20_000)
        let map = try JSONObject(text)
        #expect(map.flag("isComplete") == false)
        #expect(map.number("routeCount") == 1_000)
        #expect((20...200).contains(map.objects("routes").count))
        #expect(text.utf8.count < 21_000)
    }

    @Test("Texts of a table are data: markup and marks that change the writing direction stay texts")
    func hostile() throws {
        let status = "<img src=x onerror=alert(1)>\u{202E}gnp\u{2066}\u{0085}"
        let file = """
            { "schemaVersion": 1, "table": { "id": "t", "version": "<b class=x>1\u{202E}" },
              "link": { "schemes": ["t"], "host": "segment" },
              "coordinators": { "main": { "screens": { "x": {} } } },
              "routes": [ { "id": "a", "match": "/<img src=x onerror=alert(1)>", "status": "\(status)",
                            "to": { "path": "/main/x" } } ] }
            """
        let table = try RouteTable(json: Array(file.utf8))
        for text in [TableMap.json(table), try #require(RoutePage.json("a", in: table))] {
            #expect(!text.unicodeScalars.contains { (0x202A...0x202E).contains($0.value) || $0.value == 0x85 })
        }
        let map = try JSONObject(TableMap.json(table))
        #expect(map.objects("routes")[0].text("status") == status)
        #expect(map.text("version") == "<b class=x>1\u{202E}")
        #expect(try JSONObject(#require(RoutePage.json("a", in: table))).text("status") == status)
    }
}

extension String {
    /// The absolute path of a file in the checkout.
    var inCheckout: String { Checkout.root.appending(path: self).path }
}
