package import Foundation

/// The checkout from which the tests were built, and its files.
package enum Checkout {
    /// The directory of `Package.swift`.
    package static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// A file under version control.
    package struct File: Sendable, CustomStringConvertible {
        /// The path relative to the root, with `/` as separator.
        package let path: String
        /// A Boolean value that indicates whether the committed mode is executable.
        package let isExecutable: Bool

        package var description: String { path }

        /// The text of the file, or nil if it is not UTF-8 or does not exist.
        package var text: String? { try? String(contentsOf: Checkout.root.appending(path: path), encoding: .utf8) }

        /// The lines of the text, without line feeds.
        package var lines: [Substring] {
            (text ?? "").split(separator: "\n", omittingEmptySubsequences: false)
        }

        /// The text after the last period of the name, or an empty text.
        package var suffix: String { path.split(separator: "/").last.map { ($0 as NSString).pathExtension } ?? "" }
    }

    /// Returns all existing files under version control, sorted by path.
    ///
    /// - Throws: `ChildProcess.Failure` if git cannot run or this is not a checkout.
    package static func trackedFiles() throws -> [File] {
        let listing = try ChildProcess.run(["git", "ls-files", "-s", "-z"], in: root)
        guard listing.status == 0 else { throw ChildProcess.Failure(text: "git ls-files failed: \(listing.errors)") }
        return listing.output.split(separator: "\0").compactMap { entry in
            // The format of an entry is "MODE HASH STAGE\tPATH".
            let parts = entry.split(separator: "\t", maxSplits: 1)
            guard parts.count == 2 else { return nil }
            let path = String(parts[1])
            guard FileManager.default.fileExists(atPath: root.appending(path: path).path) else { return nil }
            return File(path: path, isExecutable: parts[0].hasPrefix("100755"))
        }
    }
}
