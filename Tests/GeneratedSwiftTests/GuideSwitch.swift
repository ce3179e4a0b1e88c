import Foundation
import LinkCoordinator
import Testing

// The code of the guide `NavigationStack` that uses generated types. `GuideTests` compares the Swift blocks of the
// guide with lines of this file.

final class SwitchingApp {
    var shown: [StackEntry] = []
    var openedOutside: [String] = []

    func apply(_ decision: Decision) { shown = decision.stack(over: shown) }

    func open(_ link: String) throws {
        let decision = try ShopLink.table.get().resolve(link)
        switch try ShopDestination(decision) {
        case .navigate, .deferred: apply(decision)
        case .external(let url): openedOutside.append(url)
        case .none, .reject: break
        }
    }

    func title(of entry: StackEntry) throws(DestinationError) -> String {
        switch try ShopScreen(entry) {
        case .homeFeed: "News"
        case .homeSearch(let search): "Results for \(search.q)"
        case .catalogList: "Catalog"
        case .catalogItem(let product): "\(product.count) of \(product.id)"
        case .accountProfile: "Profile"
        case .accountOrder(let reference): "Order \(reference.order)"
        }
    }

    func steps(to product: ShopModels.Product) throws -> [StackStep] {
        let screens = [ShopScreen.homeFeed, .catalogList, .catalogItem(product)]
        return StackStep.steps(from: shown, to: try screens.map { try StackEntry($0) })
    }

    func link(to product: ShopModels.Product) throws(LinkError) -> String {
        try ShopLink.item(id: product.id, count: product.count).link(scheme: "https")
    }
}

@Suite("The guide's switch over screens") struct GuideSwitchTests {
    @Test("A link is opened, and its screens have titles")
    func opens() throws {
        let app = SwitchingApp()
        try app.open(ShopLink.search(q: "shoes").link())
        #expect(try app.shown.map(app.title) == ["News", "Results for shoes"])
        let product = ShopModels.Product(id: GeneratedValueTests.id, count: 3)
        #expect(try app.link(to: product) == "https://shop.example/p/\(product.id.uuidString)?count=3")
        try app.open("nonsense")
        #expect(app.shown.count == 2)
        // A stack of the app's own choice is that of a link to the same product.
        let decision = try ShopLink.table.get().resolve(app.link(to: product), device: DeviceFacts(app: "6.1.0"))
        #expect(try app.steps(to: product) == decision.steps(from: app.shown))
        var stack = app.shown
        for step in try app.steps(to: product) { step.apply(to: &stack) }
        #expect(stack == decision.stack)
    }
}
