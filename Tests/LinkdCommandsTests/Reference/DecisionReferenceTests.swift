internal import StrictJSON
internal import TestSupport
internal import Testing

@testable internal import LinkCoordinator

/// The reference of decisions against the schema, which has the order of a decision's members, and against the code.
@Suite struct DecisionReferenceTests {
    let page: ReferencePage
    let schema: JSONValue

    init() throws {
        page = try ReferencePage(path: "Sources/LinkCoordinator/LinkCoordinator.docc/DecisionReference.md")
        schema = try SchemaKeyTests.schema("decision")
    }

    @Test(
        "The reference has the members of a decision and of its objects, in their order",
        arguments: [
            ("Members", ""), ("Stack entries", "/$defs/entry"), ("Resume", "/properties/resume"),
            ("Context", "/properties/context/properties/push"),
        ])
    func members(section: String, pointer: String) throws {
        let table = try #require(page.table(section, "Member"))
        let object = try #require(SchemaKeyTests.value(at: pointer, in: schema))
        #expect(table.names == object["properties"]?.object?.map(\.name))
    }

    @Test("The reference has the outcomes")
    func outcomes() throws {
        let codes = schema["properties"]?["outcome"]?["enum"]?.array?.compactMap(\.string)
        #expect(page.table("Outcomes", "Outcome")?.names == codes)
    }

    @Test("The reference has the reasons, in the order in which they are detected")
    func reasons() throws {
        let table = try #require(page.table("Reasons", "Phase"))
        var found: [String] = []
        for name in table.column("Reason").flatMap(ReferencePage.code) where !found.contains(name) {
            found.append(name)
        }
        // A payload without a link is found before the selection, and a defect is no decision.
        let reasons = ReasonCode.allCases.filter { $0 != .internalError }
        #expect(Set(found) == Set(reasons.map(\.rawValue)))
        #expect(found.filter { $0 != "no_link" } == reasons.filter { $0 != .noLink }.map(\.rawValue))
    }

    @Test("The schema and the reference have the same reasons")
    func schemaReasons() throws {
        let codes = Set(schema["properties"]?["reason"]?["enum"]?.array?.compactMap(\.string) ?? [])
        // These are determined before the resolution.
        let early: Set = ["expired", "open_app", "needs_resolution", "no_device"]
        #expect(codes.subtracting(early) == Set(ReasonCode.allCases.map(\.rawValue)))
        let row = #/\| (?:worker|payload|link) \| `([a-z_]+)` \|/#
        #expect(Set(page.text.matches(of: row).map { String($0.1) }) == early)
        #expect(Set(Decision.Reason.beforeResolution.map(\.rawValue)) == early)
    }

    @Test("The reference has the notes that the code adds")
    func notes() throws {
        let files = try Checkout.trackedFiles().filter {
            $0.path.hasPrefix("Sources/LinkCoordinator/") && $0.suffix == "swift"
        }
        var heads: Set<String> = []
        for file in files {
            for match in (file.text ?? "").matches(of: #/\bNote\(\s*"([^"]+)"/#) { heads.insert(String(match.1)) }
        }
        #expect(heads.count >= 10)
        let names = page.table("Notes", "Note")?.names ?? []
        #expect(heads.filter { head in !names.contains { $0.hasPrefix(head) } } == [])
        #expect(names.filter { name in !heads.contains { name.hasPrefix($0) } } == [])
    }

    @Test("The decision in the reference is the decision of the table in the reference")
    func example() throws {
        let tables = try ReferencePage(path: "Sources/LinkCoordinator/LinkCoordinator.docc/RouteTableReference.md")
        let text = try #require(tables.blocks("A complete table").first).text
        let table = try RouteTable(json: [UInt8](text.utf8))
        let decision = table.resolve("shop://o/12", device: DeviceFacts(app: "6.1.0", claims: ["session"]))
        let expected = try #require(page.blocks("Overview").first).text.replacing("\n", with: "")
        #expect(String(decoding: decision.json, as: UTF8.self) == expected)
    }
}
