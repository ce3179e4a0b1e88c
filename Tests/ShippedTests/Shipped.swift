import Foundation
import TestSupport

/// What stands under `config/`, as the tests read it.
enum Shipped {
    /// One line of a sample file.
    struct Sample {
        /// The file's name and the line's number.
        var name: String
        /// The line.
        var text: String
        /// Its members.
        var members: [String: Any]
        /// What the line says becomes of it.
        var expected: [String: Any] { members["expect"] as? [String: Any] ?? [:] }
    }

    /// The sample files that hold events, a line each.
    static let eventFiles = ["articles", "shop", "pushes"]

    /// The lines of a sample file.
    static func samples(_ file: String) throws -> [Sample] {
        let url = Checkout.root.appending(path: "config/samples/\(file).jsonl")
        return try String(contentsOf: url, encoding: .utf8).split(separator: "\n").enumerated().map { number, line in
            let members = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return Sample(name: "\(file).jsonl:\(number + 1)", text: String(line), members: members ?? [:])
        }
    }

    /// The tables that do as the source articles do, by path.
    static func parityTables() throws -> [Checkout.File] {
        try Checkout.trackedFiles().filter { $0.path.hasPrefix("config/parity/") && $0.suffix == "json" }
    }

    /// The route tables, by path.
    static func tables() throws -> [Checkout.File] {
        try Checkout.trackedFiles().filter { $0.path.hasPrefix("config/routes/") && $0.suffix == "json" }
    }
}
