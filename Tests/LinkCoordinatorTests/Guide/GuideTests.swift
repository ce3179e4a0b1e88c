import RouteAnalysis
import Foundation
import LinkCoordinator
import StrictJSON
import TableSupport
import TestSupport
import Testing

@Suite("Guides of LinkCoordinator") struct GuideTests {
    /// A block of code in a guide.
    struct Block: Sendable, CustomTestStringConvertible {
        let guide: String
        let line: Int
        let language: String
        let text: String
        var testDescription: String { "\(guide), line \(line)" }
    }

    static let blocks: [Block] = {
        let catalog = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Sources/LinkCoordinator/LinkCoordinator.docc").standardizedFileURL
        let files = (try? FileManager.default.contentsOfDirectory(at: catalog, includingPropertiesForKeys: nil)) ?? []
        var blocks: [Block] = []
        for file in files where file.pathExtension == "md" {
            var open: (line: Int, language: String, lines: [Substring])?
            let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
            for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                if line.hasPrefix("```"), let block = open {
                    blocks.append(
                        Block(
                            guide: file.lastPathComponent, line: block.line, language: block.language,
                            text: block.lines.joined(separator: "\n")))
                    open = nil
                } else if line.hasPrefix("```") {
                    open = (number + 1, String(line.dropFirst(3)), [])
                } else {
                    open?.lines.append(line)
                }
            }
        }
        return blocks
    }()

    @Test("Every guide has code in languages that are checked")
    func kinds() {
        #expect(Self.blocks.filter { $0.language == "swift" }.count >= 10)
        #expect(Self.blocks.filter { $0.language == "json" }.count >= 5)
        #expect(Set(Self.blocks.map(\.language)).isSubset(of: ["swift", "json", "sh", "text"]))
    }

    private static func lines(_ text: String) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    @Test("The Swift code of a guide is compiled", arguments: blocks.filter { $0.language == "swift" })
    func swift(block: Block) throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let files = ["GuideSnippets.swift", "GuideViews.swift", "../../GeneratedSwiftTests/GuideSwitch.swift"]
        let compiled = try files.flatMap {
            Self.lines(try String(contentsOf: folder.appending(path: $0).standardizedFileURL, encoding: .utf8))
        }
        let expected = Self.lines(block.text)
        let first = try #require(expected.first)
        let isThere = compiled.indices.contains { index in
            compiled[index] == first && compiled[index...].starts(with: expected)
        }
        #expect(isThere, "\(block.text)")
    }

    @Test("Every complete table in a guide can be loaded, and every part is part of such a table")
    func tables() throws {
        var known: [String] = []
        for seed in TableFiles.seeds {
            known.append(String(decoding: try TableFiles.shipped("seeds/\(seed)"), as: UTF8.self))
        }
        for block in Self.blocks where block.language == "json" && block.text.contains("schemaVersion") {
            _ = try RouteTable(json: [UInt8](block.text.utf8))
            known.append(block.text)
        }
        let texts = known.map { $0.filter { !$0.isWhitespace } }
        for block in Self.blocks where block.language == "json" && !block.text.contains("schemaVersion") {
            let part = block.text.filter { !$0.isWhitespace }
            #expect(texts.contains { $0.contains(part) }, "\(block.guide), line \(block.line): \(block.text)")
        }
    }

    @Test("The explanation in a guide equals that of the link")
    func explanations() throws {
        let tables = Self.blocks.filter { $0.guide == "YourFirstTable.md" && $0.text.contains("schemaVersion") }
        let table = try RouteTable(json: [UInt8](try #require(tables.first).text.utf8))
        let texts = Self.blocks.filter { $0.guide == "YourFirstTable.md" && $0.language == "text" }
        let expected = try #require(texts.first).text
        #expect(table.explain(.link("shop://p/7?from=mail")).text == expected)
    }

    @Test("The app of the guide shows the described stacks")
    @MainActor func app() async throws {
        let file = try TableFiles.fixture("anchor-features.json")
        let app = try AppModel(tableFile: file, router: Router(pause: .zero))
        await app.open(.link("shop:///p/\(LinkTests.uuid)?mode=ar&count=2"))
        #expect(app.router.groups.map(\.path.count) == [3, 0])
        #expect(app.router.groups.last?.root?.screen == "ar")
        let top = try #require(app.router.shown.last)
        #expect(ProductScreen(top)?.product.count == 2)
        await app.open(.link("shop:///orders/12"))
        #expect(app.router.shown.map(\.screen) == ["form"])
        await app.signedIn()
        #expect(app.router.shown.map(\.screen) == ["feed", "profile", "order"])
        app.router.userLeft(2)
        #expect(app.table.path(for: app.router.shown) == "/home/feed/account/profile")
        await openPath("/home/feed/catalog/list", in: app)
        #expect(app.router.shown.map(\.screen) == ["feed", "list"])
        let product = Product(id: try #require(UUID(uuidString: LinkTests.uuid)), count: 2)
        #expect(try shareLink(of: product, in: app.table) == "shop://shop.example/p/\(LinkTests.uuid)?count=2")
        #expect(easyDevParameters("myapp://path?Param1=VALUE1") == "VALUE1")
        #expect(try pushed(app.table.resolve("shop:///").json).outcome == .navigate)
        await app.open(.link("https://shop.example/legal/terms"))
        #expect(app.openedOutside == ["https://shop.example/legal/terms"])
    }
    /// The app of the guide with the table of the reference, whose guard keeps the user's stack.
    @MainActor private func referenceApp() throws -> AppModel {
        let blocks = Self.blocks.filter { $0.guide == "RouteTableReference.md" && $0.text.contains("schemaVersion") }
        return try AppModel(tableFile: [UInt8](try #require(blocks.first).text.utf8), router: Router(pause: .zero))
    }

    @Test("A guard with `append` keeps the user's stack, before and after signing in")
    @MainActor func guardKeepsStack() async throws {
        let app = try referenceApp()
        await app.open(.link("shop://p/\(LinkTests.uuid)"))
        let before = app.router.shown
        #expect(before.map(\.screen) == ["feed", "list", "item"])
        await app.open(.link("shop://o/12"))
        #expect(app.router.shown.map(\.screen) == ["feed", "list", "item", "form"])
        // The user dismisses the login.
        ViewReader.dismissTop(of: AppView(app: app))
        #expect(app.router.shown == before)
        await app.open(.link("shop://o/12"))
        await app.signedIn()
        #expect(app.router.shown.map(\.screen) == ["feed", "profile", "order"])
    }

    @Test("The views show the groups of the stack, and what the user leaves is removed from it")
    @MainActor func views() async throws {
        let app = try referenceApp()
        let view = AppView(app: app)
        #expect(ViewReader.shown(view) == "Home")
        await app.open(.link("shop://p/\(LinkTests.uuid)?mode=ar"))
        #expect(ViewReader.shown(view) == "Home feed list item | cover: ar")
        await app.open(.link("shop://o/12"))
        #expect(ViewReader.shown(view) == "Home feed list item | cover: ar | sheet: form")
        let alert = StackEntry(coordinator: "system", screen: "update", present: .alert)
        await app.router.present(alert)
        #expect(ViewReader.shown(view).hasSuffix(" | sheet: form | alert: update"))
        for expected in ["feed list item ar form", "feed list item ar", "feed list item"] {
            ViewReader.dismissTop(of: view)
            #expect(app.router.shown.map(\.screen).joined(separator: " ") == expected)
        }
        app.router.userLeft(2)
        #expect(ViewReader.shown(view) == "Home feed list")
    }

    @Test("A link selects the tab of its lowest coordinator, and the other tabs keep their stacks")
    @MainActor func tabs() async throws {
        let table = try RouteTable(json: TableFiles.shipped("shop"))
        let device = DeviceFacts(app: "6.1.0", claims: ["session"])
        let tabs = Tabs(["home", "account"], pause: .zero)
        func shown() -> [[String]] { ["home", "account"].map { tabs.routers[$0]?.shown.map(\.screen) ?? [] } }
        await tabs.apply(table.resolve(.path("/account/profile"), device: device))
        #expect(tabs.selected == "account" && shown() == [[], ["profile"]])
        await tabs.apply(table.resolve(.path("catalog/list", mode: .append), device: device))
        #expect(tabs.selected == "account" && shown() == [[], ["profile", "list"]])
        await tabs.apply(table.resolve("https://shop.example/p/new", device: device))
        #expect(tabs.selected == "home" && shown() == [["feed", "list"], ["profile", "list"]])
    }

    @Test("The stack is restored with its data and sheets")
    @MainActor func restored() async throws {
        let app = try referenceApp()
        await app.open(.link("shop://p/\(LinkTests.uuid)?count=7"))
        await app.open(.link("shop://o/12"))
        let saved = try app.save()
        let next = try referenceApp()
        try await next.restore(saved)
        #expect(next.router.shown == app.router.shown && next.router.shown.count == 4)
        #expect(ProductScreen(next.router.shown[2])?.product.count == 7)
    }
}
