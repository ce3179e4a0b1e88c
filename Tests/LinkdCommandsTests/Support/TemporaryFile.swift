internal import Foundation

/// Calls `body` with the path of a file with the given content, and removes the file afterwards.
func withTemporaryFile<Result>(_ content: String, _ body: (String) throws -> Result) rethrows -> Result {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("linkd-\(UUID().uuidString)")
    _ = FileManager.default.createFile(atPath: url.path, contents: Data(content.utf8))
    defer { try? FileManager.default.removeItem(at: url) }
    return try body(url.path)
}
