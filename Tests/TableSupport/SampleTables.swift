import Foundation
package import LinkCoordinator
import TestSupport

/// The tables for tests of commands and outputs about a table.
package enum SampleTables {
    /// The files of the tests and the shipped files.
    package static let paths: [String] = {
        let folders = ["Tests/LinkdCommandsTests/Tables", "config/routes", "config/routes/seeds"]
        return folders.flatMap { folder in
            let directory = Checkout.root.appending(path: folder)
            let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
            return names.filter { $0.hasSuffix(".json") }.sorted().map { directory.appending(path: $0).path }
        }
    }()

    /// Returns the path of a table of the tests.
    package static func path(_ name: String) -> String {
        Checkout.root.appending(path: "Tests/LinkdCommandsTests/Tables/\(name).json").path
    }

    /// Loads the table in a file.
    package static func load(_ path: String) throws -> RouteTable {
        try RouteTable(json: [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))))
    }

    /// Returns a large random table: a tree of coordinators, and routes with variants and redirects.
    package static func random(seed: UInt64) throws -> RouteTable {
        var random = SeededGenerator(seed: seed)
        let areas = Int.random(in: 1...12, using: &random)
        var coordinators: [String] = []
        for area in 0..<areas {
            let screens = (0..<Int.random(in: 1...9, using: &random)).map { "\"screen\($0)\": {}" }
            let parent =
                area > 0 && Bool.random(using: &random)
                ? "\"parent\": \"area\(Int.random(in: 0..<area, using: &random))\", " : ""
            coordinators.append(
                "\"area\(area)\": {\(parent)\"initial\": \"screen0\", \"screens\": {\(screens.joined(separator: ","))}}"
            )
        }
        let count = Int.random(in: 1...60, using: &random)
        let routes = (0..<count).map { route in
            let match = "\"id\": \"route-\(route)\", \"match\": \"/r\(route)/{id:int}\""
            let target = "{\"path\": \"/area\(Int.random(in: 0..<areas, using: &random))/screen0\"}"
            switch Int.random(in: 0..<6, using: &random) {
            case 0 where route + 1 < count: return "{\(match), \"redirect\": \"/r\(count - 1)/{id}\"}"
            case 1:
                let url =
                    "https://h.example/\(String(repeating: "long-", count: Int.random(in: 1...30, using: &random)))"
                return "{\(match), \"variants\": [{\"when\": {\"app\": \">=3\"}, \"to\": \(target)},"
                    + "{\"to\": {\"external\": \"\(url)\"}}]}"
            case 2: return "{\(match), \"to\": {\"root\": true}}"
            default: return "{\(match), \"to\": \(target)}"
            }
        }
        let last = "{\"id\": \"route-\(count - 1)\", \"match\": \"/r\(count - 1)/{id:int}\", \"to\": {\"root\": true}}"
        let text = """
            {"schemaVersion": 1, "table": {"id": "random", "version": "\(seed)"},
             "link": {"schemes": ["https"], "host": "authority", "hosts": ["h.example"]},
             "coordinators": {\(coordinators.joined(separator: ","))},
             "routes": [\((routes.dropLast() + [last]).joined(separator: ","))]}
            """
        return try RouteTable(json: [UInt8](text.utf8))
    }
}
