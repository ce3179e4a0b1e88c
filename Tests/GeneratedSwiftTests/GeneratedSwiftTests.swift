import Foundation
import LinkCoordinator
import RouteTools
import TestSupport
import Testing

@Suite("Generated Swift files") struct GeneratedSwiftTests {
    static let devices = [
        DeviceFacts(), DeviceFacts(app: "6.1", claims: ["session", "user"]),
        DeviceFacts(app: "6.1", os: "18.0", capabilities: ["ar", "orders"], claims: ["session", "user"]),
    ]

    // MARK: - The files

    @Test("The file of a table equals the recorded one", arguments: GeneratedFile.all)
    func recorded(file: GeneratedFile) throws {
        let export = try file.export()
        expect(export.text, equals: "\(export.typeName).swift")
    }

    @Test("The list of samples equals the recorded one, and every case has a sample")
    func recordedSamples() throws {
        expect(try GeneratedFile.samples(), equals: "Samples.swift")
        for file in GeneratedFile.all {
            let export = try file.export()
            // The enumeration of screens has cases too.
            let links = export.text.components(separatedBy: "/// The table from which this file was generated")[0]
            let cases = links.matches(of: #/(?m)^        case \.([^\s(:]+)/#).map(\.1)
            for name in Set(cases) {
                let start = "\(export.typeName).\(name)"
                #expect(export.samples.contains { $0 == start || $0.hasPrefix(start + "(") }, "\(start)")
            }
        }
    }

    private func expect(_ text: String, equals name: String, sourceLocation: SourceLocation = #_sourceLocation) {
        let file = GeneratedFile.folder.appending(path: name)
        if ProcessInfo.processInfo.environment["RECORD_SNAPSHOTS"] != nil {
            #expect(throws: Never.self) { try Data(text.utf8).write(to: file) }
            Issue.record("recorded \(name)", sourceLocation: sourceLocation)
            return
        }
        let recorded = try? String(contentsOf: file, encoding: .utf8)
        #expect(
            text == recorded, "\(name) differs; RECORD_SNAPSHOTS=1 writes it anew", sourceLocation: sourceLocation)
    }

    @Test("Routes without a case are noted")
    func notes() throws {
        let odd = try #require(GeneratedFile.all.first { $0.table.hasSuffix("odd.json") })
        #expect(
            try odd.export().notes.lines == [
                "route private is excluded: it has no case", "route moved redirects: it has no case",
                "route again redirects: it has no case", "route hidden has no pattern: it has no case",
            ])
        let hostile = try #require(GeneratedFile.all.last)
        #expect(
            try hostile.export().notes.lines == [
                "route payload takes required values from push payloads: it has no case"
            ])
    }

    @Test("A route of which no link leads back to it is an error that says why")
    func noLink() throws {
        let json = [UInt8](
            #"""
            {"schemaVersion":1,"table":{"id":"t","version":"1"},"link":{"schemes":["t"],"host":"segment"},
             "models":{"M":{"a":"int","b":"int"}},"coordinators":{"c":{"screens":{"s":{"needs":["M"]}}}},
             "routes":[{"id":"half","match":"/half/{a:int}","to":{"path":"/c/s"},"bind":{"M":{"a":"path.a"}}},
                       {"id":"root","match":"/","to":{"root":true}}]}
            """#.utf8)
        let error = #expect(throws: SwiftExportError.self) {
            try SwiftExport(RouteTable(json: json), json: json, typeName: nil)
        }
        #expect(
            error.map { "\($0)" }
                == "no link of route half leads back to it: M.b: expected a value of type int (missing)")
    }

    @Test(
        "A given name for the type of links becomes an identifier that nothing else uses",
        arguments: [
            ("Deep", "Deep", "DeepScreen"), ("DeepLink", "DeepLink", "DeepScreen"), ("Link", "Link", "LinksScreen"),
            ("my-links", "MyLinks", "MyLinksScreen"), ("1st", "Value1st", "Value1stScreen"),
            ("String", "StringLink", "StringScreen"), ("Self", "SelfLink", "SelfScreen"),
            ("LinkError", "LinkErrorLink", "LinkErrorScreen"), ("LinkLink", "LinkLink", "LinksScreen"),
        ])
    func typeNames(given: String, link: String, screen: String) throws {
        let json = [UInt8](
            #"""
            {"schemaVersion":1,"table":{"id":"t","version":"1"},"link":{"schemes":["t"],"host":"segment"},
             "routes":[{"id":"root","match":"/","to":{"root":true}}]}
            """#.utf8)
        let text = try SwiftExport(RouteTable(json: json), json: json, typeName: given).text
        #expect(text.contains("public nonisolated enum \(link): Sendable"))
        #expect(text.contains("public nonisolated enum \(screen): StackScreen"))
    }

    // MARK: - All types

    @Test("The table in a generated file has the bytes of the table's file")
    func sameTable() throws {
        for type in generatedTypes {
            let json = [UInt8](try Data(contentsOf: Checkout.root.appending(path: type.file)))
            #expect(try type.table.get().hash == RouteTable(json: json).hash, "\(type)")
        }
    }

    @Test("Every sample link leads to its route")
    func sampleLinks() throws {
        #expect(generatedTypes.count == GeneratedFile.all.count)
        for type in generatedTypes { try checkLinks(of: type) }
    }

    private func checkLinks<Link: GeneratedLink>(of type: Link.Type) throws {
        let table = try type.table.get()
        #expect(type.samples.isEmpty == type.file.hasSuffix("empty.json"))
        #expect(Set(type.samples).count == type.samples.count)
        for sample in type.samples {
            let link = try sample.link(scheme: nil, host: nil)
            let decision = table.resolve(link)
            #expect(decision.route == sample.route && decision.via.isEmpty, "\(link)")
            let scheme = try #require(link.firstRange(of: "://").map { String(link[..<$0.lowerBound]) })
            #expect(try sample.link(scheme: scheme, host: nil) == link)
            #expect(throws: LinkError.self) { try sample.link(scheme: "another scheme", host: nil) }
        }
    }

    @Test("Every decision of a sample link and of an example becomes a destination with the same screens")
    func sampleDestinations() throws {
        for type in generatedTypes {
            let count = try checkDestinations(of: type)
            #expect(count > 0 || type.samples.isEmpty, "\(type)")
        }
    }

    private func checkDestinations<Link: GeneratedLink>(of type: Link.Type) throws -> Int {
        let table = try type.table.get()
        let file = try Data(contentsOf: Checkout.root.appending(path: type.file))
        let json = try JSONSerialization.jsonObject(with: file) as? [String: Any]
        let examples = (json?["examples"] as? [[String: Any]] ?? []).compactMap { $0["link"] as? String }
        var screens = 0
        for link in try type.samples.map({ try $0.link(scheme: nil, host: nil) }) + examples {
            for device in Self.devices {
                let decision = table.resolve(link, device: device)
                let stack: LinkDestination<Link.Screen>.Stack
                switch try LinkDestination<Link.Screen>(decision) {
                case .navigate(let own):
                    #expect(decision.outcome == .navigate)
                    stack = own
                case .deferred(let own, let guarding):
                    #expect(decision.outcome == .deferred && guarding == decision.guard)
                    stack = own
                case .external(let url):
                    #expect(decision.outcome == .external && url == decision.url)
                    continue
                case .none: continue
                case .reject:
                    #expect(decision.outcome == .reject)
                    continue
                }
                #expect(stack.mode == decision.mode && stack.dismissModals == decision.dismissModals)
                #expect(try stack.screens == decision.stack.map { try Link.Screen($0) })
                #expect(stack.entries.map(\.identity) == decision.stack.map(\.identity))
                // Back to entries: with the presentation of the decision, and with the default one.
                #expect(try stack.entries.map { try StackEntry($0) } == decision.stack, "\(link)")
                for entry in decision.stack {
                    var own = try StackEntry(Link.Screen(entry))
                    own.present = entry.present
                    #expect(own == entry, "\(link)")
                }
                screens += stack.entries.count
            }
        }
        return screens
    }
}
