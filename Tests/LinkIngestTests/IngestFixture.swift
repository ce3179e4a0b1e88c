import Foundation
import StrictJSON
import TestSupport

/// The data files of these tests and the shipped files that they read.
enum IngestFixture {
    /// Returns the lines of a file in `Fixtures` as JSON.
    static func lines(_ name: String) throws -> [JSONValue] {
        let file = Checkout.root.appending(path: "Tests/LinkIngestTests/Fixtures/\(name)")
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map {
            try JSONValue.parse(Array($0.utf8))
        }
    }

    /// Returns the bytes of a file in `config`.
    static func shipped(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: Checkout.root.appending(path: "config/\(name)")))
    }
}
