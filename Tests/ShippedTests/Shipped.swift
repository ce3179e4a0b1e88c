import Foundation
import TestSupport

/// The files in `config`.
enum Shipped {
    /// A line of a sample file.
    struct Sample {
        /// The name of the file and the number of the line.
        var name: String
        /// The text of the line.
        var text: String
        /// The members of the line.
        var members: [String: Any]
        /// The expected result in the line.
        var expected: [String: Any] { members["expect"] as? [String: Any] ?? [:] }
    }

    /// The names of the sample files with one event per line.
    static let eventFiles = ["articles", "shop", "pushes"]

    /// The name of the sample file with events for users, which only a worker with a registry of devices can decide.
    static let userFile = "users"

    /// Returns the lines of a sample file.
    static func samples(_ file: String) throws -> [Sample] {
        let url = Checkout.root.appending(path: "config/samples/\(file).jsonl")
        return try String(contentsOf: url, encoding: .utf8).split(separator: "\n").enumerated().map { number, line in
            let members = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return Sample(name: "\(file).jsonl:\(number + 1)", text: String(line), members: members ?? [:])
        }
    }

    /// Returns the route tables that reproduce the source articles.
    static func parityTables() throws -> [Checkout.File] {
        try Checkout.trackedFiles().filter { $0.path.hasPrefix("config/parity/") && $0.suffix == "json" }
    }

    /// Returns the route tables of `config/routes`.
    static func tables() throws -> [Checkout.File] {
        try Checkout.trackedFiles().filter { $0.path.hasPrefix("config/routes/") && $0.suffix == "json" }
    }
}
