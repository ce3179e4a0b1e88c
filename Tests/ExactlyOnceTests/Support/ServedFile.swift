import Foundation
import LinkCoordinator
import TestSupport

/// The file of the workers' table, whose versions can take turns during a run.
final class ServedFile {
    /// The shipped table, which stays the same.
    static var shop: ServedFile {
        get throws {
            let file = Checkout.root.appending(path: "config/routes/shop.json")
            return ServedFile(path: file.path, versions: [Array(try Data(contentsOf: file))])
        }
    }

    /// The path of the file.
    let path: String
    /// The contents of the versions.
    let versions: [[UInt8]]
    /// The file of the workers' candidate, whose versions take turns with those of the table, or nil.
    let candidate: ServedFile?
    private var current = 0

    private init(path: String, versions: [[UInt8]], candidate: ServedFile? = nil) {
        self.path = path
        self.versions = versions
        self.candidate = candidate
    }

    /// Creates a file with versions of the shipped table that differ in their version.
    ///
    /// With `other`, the table also lists this application.
    convenience init(
        versions numbers: ClosedRange<Int>, candidate: ServedFile? = nil, other: String? = nil
    ) throws {
        let applications = #""applications": ["com.example.shop""#
        let shop = String(decoding: try ServedFile.shop.versions[0], as: UTF8.self)
            .replacing(applications, with: applications + (other.map { #", "\#($0)""# } ?? ""))
        let versions = numbers.map {
            Array(shop.replacing(#""version": "1""#, with: #""version": "\#($0)""#, maxReplacements: 1).utf8)
        }
        let file = FileManager.default.temporaryDirectory.appending(path: "table-\(UUID().uuidString).json")
        try Data(versions[0]).write(to: file)
        self.init(path: file.path, versions: versions, candidate: candidate)
    }

    /// The contents of the versions of the table and of the candidate.
    var allVersions: [[UInt8]] { versions + (candidate?.versions ?? []) }

    /// The identities of the versions in decisions.
    var identities: [String] {
        get throws { try versions.map { try RouteTable(json: $0).identity } }
    }

    /// Replaces the file by its next version.
    ///
    /// Returns false if there is only one.
    func change() throws -> Bool {
        guard versions.count > 1 else { return false }
        _ = try candidate?.change()
        current = (current + 1) % versions.count
        try Data(versions[current]).write(to: URL(fileURLWithPath: path), options: .atomic)
        return true
    }

    /// Removes the files.
    func remove() {
        candidate?.remove()
        try? FileManager.default.removeItem(atPath: path)
    }
}
