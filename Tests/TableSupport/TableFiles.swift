import Foundation
import LinkCoordinator
import RouteAnalysis
import StrictJSON

/// The tables that the tests read, located relative to this file.
enum TableFiles {
    private static let tests = URL(filePath: #filePath).deletingLastPathComponent()

    private static let package = tests.deletingLastPathComponent().deletingLastPathComponent()

    /// The names of the tables of the source articles.
    static let seeds = ["coordinator-demo", "trips-calendar", "easydev991", "content-flow"]

    /// Returns the bytes of `config/routes/NAME.json`.
    static func shipped(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: package.appending(path: "config/routes/\(name).json")))
    }

    /// Returns the bytes of `config/parity/NAME.json`.
    static func parity(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: package.appending(path: "config/parity/\(name).json")))
    }

    /// Returns the bytes of a fixture.
    static func fixture(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: path(ofFixture: name)))
    }

    /// Returns the location of a fixture.
    static func path(ofFixture name: String) -> URL { tests.appending(path: "Fixtures/\(name)") }
}

extension TableSource {
    /// Reads and checks a table file without compiling it.
    static func inspect(_ file: [UInt8]) -> (source: TableSource?, problems: [TableProblem]) {
        var loader = TableLoader(file)
        loader.prove()
        return (loader.source, loader.problems.located(in: file))
    }
}
