internal import LinkCoordinator
internal import RouteAnalysis
internal import StrictJSON
internal import TestSupport
internal import Testing

/// The reference of explanations against explanations of links with the table in the reference.
@Suite struct ExplanationReferenceTests {
    @Test("The reference has the members of an explanation in their order, and those of its entries")
    func members() throws {
        let catalog = "Sources/LinkCoordinator/LinkCoordinator.docc"
        let tables = try ReferencePage(path: "\(catalog)/RouteTableReference.md")
        let text = try #require(tables.blocks("A complete table").first).text
        let table = try RouteTable(json: [UInt8](text.utf8))
        let page = try ReferencePage(path: "\(catalog)/DecisionReference.md")
        let rows = try #require(page.table("Explanations", "Member"))
        let links = [
            "shop://o/12", "shop://p/B121D5E7-EA65-49F8-8B33-B3C43FA93866?color=green", "shop://ordrs/12", "shp://o/12",
            "https://shop.example/de/p/new", "https://shop.example/search", "shop://go/nothing",
        ]
        var found: Set<String> = []
        var inner: [String: Set<String>] = [:]
        for link in links {
            let json = table.explain(.link(link), device: DeviceFacts(app: "3.0.0")).json
            let names = try #require(try JSONValue.parse(json).object)
            #expect(rows.names.filter { name in names.contains { $0.name == name } } == names.map(\.name))
            for member in names {
                found.insert(member.name)
                let objects = [member.value] + (member.value.array ?? [])
                inner[member.name, default: []].formUnion(objects.flatMap { $0.object ?? [] }.map(\.name))
            }
        }
        #expect(Set(rows.names) == found)
        for (name, members) in inner {
            let documented = ReferencePage.code(rows.cell(name, "Entry or object") ?? "")
            #expect(members.subtracting(documented) == [], "\(name)")
        }
    }
}
