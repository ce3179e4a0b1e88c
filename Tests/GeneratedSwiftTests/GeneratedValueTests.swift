import Foundation
import LinkCoordinator
import LinkCoordinatorFoundation
import Testing

@Suite("Values of generated Swift types") struct GeneratedValueTests {
    static let id = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

    @Test("Values are written into the link as the table reads them")
    func links() throws {
        for (link, text) in [
            (
                OddLink.ref(id: "ab1", day: "2024-02-29", flag: true, rate: 2.5),
                "https://a.example/ref/ab1?day=2024-02-29&flag=true&rate=2.5"
            ),
            (.ref(id: "ab", rate: 0.00001), "https://a.example/ref/ab?rate=0.00001"),
            (.kind(kind: .new, id: "é/?#", id2: "x y&z"), "https://a.example/kind/new/%C3%A9%2F%3F%23?ref=x%20y%26z"),
            (
                .page(number: 9, book: "b", url: "https://a.example/x?y", ids: [1, -2]),
                "https://a.example/page/9/of/b?mode=read&key&url=https%3A%2F%2Fa.example%2Fx%3Fy&ids=1&ids=-2"
            ),
            (.rest(rest: ["a b", "c"]), "https://a.example/files/a%20b/c"), (.deepTop, "odd://top"),
        ] {
            #expect(try link.link() == text)
        }
        #expect(try AnchorLink.item(id: Self.id).link(scheme: "https").hasPrefix("https://shop.example/p/0102"))
        #expect(try AnchorLink.home.link(scheme: "https", host: "m.shop.example") == "https://m.shop.example/")
        // A screen that needs no data has a link without data, and the others need theirs.
        #expect(try CoordinatorDemoLink.path(path: ["auth", "a"]).link() == "coordinator://auth/a")
        let error = #expect(throws: LinkError.self) {
            try CoordinatorDemoLink.path(path: ["products", "merch"]).link()
        }
        #expect(error?.code == .missing)
    }

    @Test(
        "A value that the table does not accept, or that another route matches, is an error",
        arguments: [
            (OddLink.ref(id: ""), LinkError.Code.value, "Ref.id"),
            (.ref(id: "ab", day: "2025-02-29"), .value, "Ref.day"),
            (.ref(id: "ab", rate: 1e300), .value, "Ref.rate"),
            (.page(number: 10, book: "b"), .value, "path.number"), (.page(number: 1, book: ""), .value, "path.book"),
            (.page(number: 1, book: "b", ids: [1, 2, 3, 4]), .value, "Page.ids"),
            (.page(number: 1, book: "b", url: "https://b.example/"), .value, "Page.url"),
            (.path(p: []), .missing, "path.p"), (.path(p: ["x"]), .value, "path.p"),
            (.rest(rest: [".."]), .value, "path.rest"), (.rest(rest: ["a/b"]), .value, "path.rest"),
            (.rest(rest: ["a", ""]), .value, "path.rest"),
        ])
    func refused(link: OddLink, code: LinkError.Code, position: String) {
        let error = #expect(throws: LinkError.self) { try link.link() }
        #expect(error?.code == code && error?.position == position, "\(String(describing: error))")
    }

    @Test("A value whose link selects another route is an error that names the route")
    func otherRoute() {
        let error = #expect(throws: LinkError.self) { try HostileLink.any(what: "special").link() }
        #expect(error?.code == .notRoundTripped && error?.position == "route special")
        #expect(throws: LinkError.self) { try ShopLink.home.link(host: "another.example") }
    }

    @Test("A decision becomes a destination whose screens have their models")
    func destinations() throws {
        let table = try AnchorLink.table.get()
        let signedIn = DeviceFacts(app: "6.1", capabilities: ["orders"], claims: ["session"])
        let link = try AnchorLink.item(id: Self.id, count: 3).link()
        let item = try AnchorDestination(table.resolve(link, device: signedIn))
        guard case .navigate(let stack) = item else {
            Issue.record("\(item)")
            return
        }
        let product = AnchorModels.Product(id: Self.id, count: 3)
        #expect(stack.screens == [.homeFeed, .catalogList, .catalogItem(product)])
        #expect(stack.mode == .replace && !stack.dismissModals)
        #expect(stack.entries.last?.identity == Self.id.uuidString && stack.entries.last?.present == .push)

        let order = try AnchorDestination(table.resolve(try AnchorLink.order(order: 12).link()))
        guard case .deferred(let login, "signedIn") = order else {
            Issue.record("\(order)")
            return
        }
        #expect(login.screens == [.loginForm])
        #expect(login.entries.first?.present == .sheet && login.entries.first?.nav == true)
        let rejected = table.resolve("nonsense")
        #expect(try AnchorDestination(rejected) == .reject(rejected.reason) && rejected.reason != nil)
        #expect(
            try AnchorDestination(table.resolve(link, device: DeviceFacts(app: "3.9")))
                == .external(url: "https://shop.example/p/\(Self.id.uuidString)"))
        // A model can be written into a link too.
        #expect(
            try table.link(route: "item", models: Models(product), scheme: "https")
                == AnchorLink.item(id: Self.id, count: 3).link(scheme: "https"))
    }

    @Test("A screen or a model that the app does not have is an error that names it")
    func newerTable() throws {
        let product: [String: ModelValue] = ["id": .text(Self.id.uuidString), "count": 3]
        let entry = StackEntry(coordinator: "catalog", screen: "item", models: Models(["Product": product]))
        #expect(try AnchorScreen(entry) == .catalogItem(AnchorModels.Product(id: Self.id, count: 3)))

        var renamed = entry
        renamed.screen = "product"
        let unknown = DestinationError.unknownScreen(coordinator: "catalog", screen: "product")
        #expect(throws: unknown) { try AnchorScreen(renamed) }
        #expect("\(unknown)" == "the app has no screen catalog/product: the table may be newer than the app")

        for (models, names) in [
            (Models(), ["Product"]), (Models(["Product": ["id": .text(Self.id.uuidString)]]), ["Product", "count"]),
            (Models(["Product": ["id": 5, "count": 3]]), ["Product", "id"]),
            (Models(["Product": ["id": .text(Self.id.uuidString), "count": "many"]]), ["Product", "count"]),
        ] {
            var changed = entry
            changed.models = models
            let error = #expect(throws: DestinationError.self) { try AnchorScreen(changed) }
            for name in names + ["catalog/item"] {
                #expect(error?.description.contains(name) == true, "\(String(describing: error))")
            }
        }
        let decision = try Decision(
            json: #"""
                {"outcome":"navigate","table":"shop@43","mode":"replace","path":"/catalog/offers",
                 "stack":[{"coordinator":"catalog","screen":"offers","present":"push"}]}
                """#.utf8)
        #expect(throws: DestinationError.unknownScreen(coordinator: "catalog", screen: "offers")) {
            try AnchorDestination(decision)
        }
        let external = try Decision(json: #"{"outcome":"external","table":"shop@43"}"#.utf8)
        #expect(throws: DestinationError.noURL) { try AnchorDestination(external) }
    }

    @Test("Names that are keywords, or that collide, still have their own values")
    func hostile() throws {
        let table = try HostileLink.table.get()
        let link = HostileLink.self2(
            self2: "me", init2: 1, default: true, type: .rawValue2, aB: Self.id, aB2: "2025-11-20",
            modelName: [.value2])
        let destination = try HostileDestination(table.resolve(try link.link(scheme: "x-hostile")))
        guard case .navigate(let stack) = destination, case .defaultSelf2(let model)? = stack.screens.first else {
            Issue.record("\(destination)")
            return
        }
        #expect(model.self2 == "me" && model.init2 == 1 && model.default && model.type == .rawValue2)
        #expect(model.aB == Self.id && model.aB2 == "2025-11-20" && model.modelName == [.value2])
        #expect(HostileModels.String2.modelName == "String")
    }

    @Test("Decimals, and dates and times, keep their values from the link to the screen")
    func exact() throws {
        let when = try #require(Date(fieldText: "2025-11-20T09:30:00.25Z"))
        let price = try #require(Decimal(fieldText: "12345678901234567890.123456789"))
        let link = try HostileLink.exact(when: when, price: price, all: [price, 1]).link(scheme: "https")
        let decision = try HostileLink.table.get().resolve(link)
        guard case .navigate(let stack) = try HostileDestination(decision),
            case .defaultExact(let date, let decimal)? = stack.screens.first
        else {
            Issue.record("\(link)")
            return
        }
        #expect(date.when == when && date.times.isEmpty)
        #expect(decimal.price == price && decimal.all == [price, 1] && decimal.factor == nil)
    }
}
