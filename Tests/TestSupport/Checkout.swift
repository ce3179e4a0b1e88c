package import Foundation

/// The checkout that the tests were built from, and the files that belong to it.
package enum Checkout {
    /// The directory that `Package.swift` stands in.
    package static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// One file that is under version control.
    package struct File: Sendable, CustomStringConvertible {
        /// The path from the root, with `/` between its parts.
        package let path: String
        /// Whether the mode that is committed lets it be run.
        package let isExecutable: Bool

        package var description: String { path }

        /// The file's text; nil when it is not UTF-8 or not there.
        package var text: String? { try? String(contentsOf: Checkout.root.appending(path: path), encoding: .utf8) }

        /// The lines of the text, without what ends them.
        package var lines: [Substring] {
            (text ?? "").split(separator: "\n", omittingEmptySubsequences: false)
        }

        /// What stands after the last dot of the name; empty for none.
        package var suffix: String { path.split(separator: "/").last.map { ($0 as NSString).pathExtension } ?? "" }
    }

    /// All files under version control that are still there, by path.
    ///
    /// - Throws: `ChildProcess.Failure` when git cannot be run or this is no checkout.
    package static func trackedFiles() throws -> [File] {
        let listing = try ChildProcess.run(["git", "ls-files", "-s", "-z"], in: root)
        guard listing.status == 0 else { throw ChildProcess.Failure(text: "git ls-files: \(listing.errors)") }
        return listing.output.split(separator: "\0").compactMap { entry in
            // Each entry is "MODE HASH STAGE\tPATH".
            let parts = entry.split(separator: "\t", maxSplits: 1)
            guard parts.count == 2 else { return nil }
            let path = String(parts[1])
            guard FileManager.default.fileExists(atPath: root.appending(path: path).path) else { return nil }
            return File(path: path, isExecutable: parts[0].hasPrefix("100755"))
        }
    }
}
