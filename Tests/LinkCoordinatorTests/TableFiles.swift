import Foundation
import LinkCoordinator
import RouteAnalysis
import StrictJSON

/// The tables that the tests read, found from this file's place.
enum TableFiles {
    private static let tests = URL(filePath: #filePath).deletingLastPathComponent()

    private static let package = tests.deletingLastPathComponent().deletingLastPathComponent()

    /// The tables of the source articles, by name.
    static let seeds = ["coordinator-demo", "trips-calendar", "easydev991", "content-flow"]

    /// The bytes of `config/routes/NAME.json`.
    static func shipped(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: package.appending(path: "config/routes/\(name).json")))
    }

    /// The bytes of `config/parity/NAME.json`.
    static func parity(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: package.appending(path: "config/parity/\(name).json")))
    }

    /// The bytes of a fixture of these tests.
    static func fixture(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: path(ofFixture: name)))
    }

    /// Where a fixture of these tests stands.
    static func path(ofFixture name: String) -> URL { tests.appending(path: "Fixtures/\(name)") }
}

extension TableSource {
    /// Reads and checks a table file, without compiling it.
    static func inspect(_ file: [UInt8]) -> (source: TableSource?, problems: [TableProblem]) {
        var loader = TableLoader(file)
        loader.prove()
        return (loader.source, loader.problems.located(in: file))
    }
}
