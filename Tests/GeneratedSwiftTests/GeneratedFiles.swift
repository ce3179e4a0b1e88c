import Foundation
import LinkCoordinator
import RouteTools
import TestSupport
import Testing

/// A table and the Swift file that is generated for it.
///
/// The files are part of this test target, so a build compiles them against the library. `RECORD_SNAPSHOTS=1` writes
/// them anew. If they do not compile, restore them from version control first.
nonisolated struct GeneratedFile: Sendable, CustomTestStringConvertible {
    /// The path of the table in the checkout.
    let table: String
    /// The name of the type of links, or nil to derive it from the table's id.
    let typeName: String?

    var testDescription: String { table }

    /// The files of the tables that are shipped, of those of other tests, of a table without
    /// cases, and of a table with hostile names.
    static let all: [GeneratedFile] =
        ["shop", "seeds/content-flow", "seeds/coordinator-demo", "seeds/easydev991", "seeds/trips-calendar"]
        .map { GeneratedFile(table: "config/routes/\($0).json", typeName: nil) } + [
            GeneratedFile(table: "Tests/LinkdCommandsTests/Tables/anchor.json", typeName: "AnchorLink"),
            GeneratedFile(table: "Tests/LinkdCommandsTests/Tables/odd.json", typeName: nil),
            GeneratedFile(table: "Tests/GeneratedSwiftTests/Tables/empty.json", typeName: nil),
            GeneratedFile(table: "Tests/GeneratedSwiftTests/Tables/hostile.json", typeName: nil),
        ]

    /// Returns the export of the table.
    func export() throws -> SwiftExport {
        let json = [UInt8](try Data(contentsOf: Checkout.root.appending(path: table)))
        return try SwiftExport(RouteTable(json: json), json: json, typeName: typeName)
    }

    /// The folder of the generated files.
    static let folder = Checkout.root.appending(path: "Tests/GeneratedSwiftTests/Generated")

    /// Returns the file that lists the generated types with sample links.
    static func samples() throws -> String {
        let exports = try all.map { ($0, try $0.export()) }
        let types = exports.map { "    \($0.1.typeName).self," }
        var lines =
            [
                "// Samples for the generated files of this folder, recorded by the tests.",
                "// swift-format-ignore-file",
                "import Foundation", "import LinkCoordinatorFoundation", "",
                "nonisolated let generatedTypes: [any GeneratedLink.Type] = [",
            ] + types + ["]"]
        for (file, export) in exports {
            lines += [
                "", "nonisolated extension \(export.typeName): GeneratedLink {",
                "    typealias Screen = \(export.typeName.dropLast(4))Screen",
                "    static var file: String { \"\(file.table)\" }",
                "    static var samples: [\(export.typeName)] {", "        [",
            ]
            for sample in export.samples {
                let line = "            \(sample),"
                lines.append(line.count <= 120 ? line : line.replacing(", ", with: ",\n                "))
            }
            lines += ["        ]", "    }", "}"]
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

/// A generated enumeration of links, for tests of all of them.
nonisolated protocol GeneratedLink: Sendable, Hashable {
    associatedtype Screen: StackScreen
    /// The path of the table in the checkout.
    static var file: String { get }
    static var table: Result<RouteTable, RouteTableError> { get }
    /// Links with values that the table accepts.
    static var samples: [Self] { get }
    var route: String { get }
    func link(scheme: String?, host: String?) throws(LinkError) -> String
}
