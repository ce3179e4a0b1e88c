import RouteAnalysis
import Foundation
import LinkCoordinator
import Observation

// The code of the guides in LinkCoordinator.docc. `GuideTests` compares every Swift block of a guide with lines of this
// file.

struct Product: LinkModel, Encodable, Equatable {
    let id: UUID
    let count: Int
}

@MainActor @Observable
final class Router: StackApplier {
    private(set) var shown: [StackEntry] = []
    private let pause: Duration

    init(pause: Duration = .milliseconds(500)) { self.pause = pause }

    func dismiss() async { await show(.dismiss) }
    func pop(_ count: Int) async { await show(.pop(count)) }
    func update(_ entry: StackEntry, at index: Int) async { await show(.update(index, entry)) }
    func push(_ entries: [StackEntry]) async { await show(.push(entries)) }
    func present(_ entry: StackEntry) async { await show(.present(entry)) }

    private func show(_ step: StackStep) async {
        step.apply(to: &shown)
        try? await Task.sleep(for: pause)
    }
}

extension Router {
    /// A root and the entries pushed onto it, which one `NavigationStack` shows.
    struct Group: Equatable, Identifiable {
        /// The position of the group, from the lowest one.
        let id: Int
        /// The sheet, cover, or alert that presents the group, or nil for the lowest group.
        var root: StackEntry?
        var path: [StackEntry] = []
        /// The number of entries of the stack up to the last one of the group.
        var end = 0
    }

    var groups: [Group] {
        var groups = [Group(id: 0)]
        for (index, entry) in shown.enumerated() {
            if entry.isModal {
                groups.append(Group(id: groups.count, root: entry))
            } else {
                groups[groups.count - 1].path.append(entry)
            }
            groups[groups.count - 1].end = index + 1
        }
        return groups
    }

    func group(_ index: Int) -> Group? { groups.indices.contains(index) ? groups[index] : nil }
}

extension Router {
    /// Updates the stack after the user went back or dismissed a sheet, with `count` entries left.
    func userLeft(_ count: Int) {
        shown.removeLast(max(0, shown.count - count))
    }
}

@MainActor @Observable
final class Tabs {
    var selected: String
    let routers: [String: Router]

    init(_ coordinators: [String], pause: Duration = .milliseconds(500)) {
        selected = coordinators[0]
        routers = Dictionary(uniqueKeysWithValues: coordinators.map { ($0, Router(pause: pause)) })
    }

    func apply(_ decision: Decision) async {
        if decision.mode == .replace, let first = decision.stack.first?.coordinator, routers[first] != nil {
            selected = first
        }
        await routers[selected]?.apply(decision)
    }
}

@MainActor
final class ProductScreen {
    let product: Product

    init?(_ entry: StackEntry) {
        guard let product = try? entry.model(Product.self) else { return nil }
        self.product = product
    }
}

@MainActor
final class AppModel {
    let table: RouteTable
    let router: Router
    private(set) var openedOutside: [String] = []
    private var claims: [String] = []
    private var waiting: (Decision.Resume, until: ContinuousClock.Instant)?

    init(tableFile: [UInt8], router: Router) throws {
        table = try RouteTable(json: tableFile)
        self.router = router
    }

    var device: DeviceFacts {
        DeviceFacts(
            platform: "ios", app: "6.1.0", os: "18.0", capabilities: ["ar"], claims: claims,
            coordinator: router.shown.last?.coordinator)
    }

    func open(_ request: LinkRequest) async {
        let decision = table.resolve(request, device: device)
        waiting = decision.resume.map { ($0, until: .now + $0.ttl) }
        if decision.outcome == .external, let url = decision.url { openedOutside.append(url) }
        await router.apply(decision)
    }

    func signedIn() async {
        claims.append("session")
        await router.apply(.dismiss)
        guard let (resume, until) = waiting, .now < until else { return }
        waiting = nil
        await open(resume.request)
    }

    func save() throws -> Data { try JSONEncoder().encode(router.shown) }

    func restore(_ saved: Data) async throws {
        await router.apply(try JSONDecoder().decode([StackEntry].self, from: saved))
    }
}

func ask(_ link: String, on device: DeviceFacts, of table: RouteTable) -> Decision {
    let decision = table.resolve(link, device: device)
    return decision
}

@MainActor
func shareLink(of product: Product, in table: RouteTable) throws -> String {
    try table.link(route: "item", models: Models(product))
}

@MainActor
func openPath(_ saved: String, in app: AppModel) async {
    await app.router.apply(app.table.resolve(.path(saved, mode: .replace), device: app.device))
}

func show(_ decision: Decision) {
    print(decision)
}

func pushed(_ body: [UInt8]) throws -> Decision {
    try Decision(json: body)
}

func update(_ store: RouteTableStore, with downloaded: [UInt8], reportOutdatedApp: (_ tableVersion: Int) -> Void) {
    do {
        store.replace(with: try RouteTable(json: downloaded))
    } catch {
        if let version = error.requiredSchemaVersion { reportOutdatedApp(version) }
    }
}

func easyDevParameters(_ url: String) -> String? {
    let parameters = LinkParameters(url)
    return parameters["param1"]
}

func why(_ link: String, in table: RouteTable) {
    print(table.explain(.link(link)).text)
}
