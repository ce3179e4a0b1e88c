package import Foundation
package import LinkCoordinator
import TestSupport

/// The table files that tests of several modules read.
package enum TableFiles {
    /// The names of the tables of the source articles.
    package static let seeds = ["coordinator-demo", "trips-calendar", "easydev991", "content-flow"]

    /// Returns the bytes of `config/routes/NAME.json`.
    package static func shipped(_ name: String) throws -> [UInt8] { try file("config/routes/\(name).json") }

    /// Returns the bytes of `config/parity/NAME.json`.
    package static func parity(_ name: String) throws -> [UInt8] { try file("config/parity/\(name).json") }

    /// Returns the bytes of a fixture of a test target.
    package static func fixture(_ name: String, of target: String = "LinkCoordinatorTests") throws -> [UInt8] {
        [UInt8](try Data(contentsOf: path(ofFixture: name, of: target)))
    }

    /// Returns the table of the fixture that uses every part of the format.
    package static func anchor() throws -> RouteTable { try RouteTable(json: fixture("anchor-features.json")) }

    /// Returns the location of a fixture of a test target.
    package static func path(ofFixture name: String, of target: String = "LinkCoordinatorTests") -> URL {
        Checkout.root.appending(path: "Tests/\(target)/Fixtures/\(name)")
    }

    /// Returns the bytes of a file of the repository.
    package static func shared(_ path: String) throws -> [UInt8] { try file(path) }

    private static func file(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: Checkout.root.appending(path: path)))
    }
}
