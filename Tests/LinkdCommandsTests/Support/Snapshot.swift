internal import Foundation
internal import Testing

/// Compares a text with the file in `Snapshots`.
///
/// If `RECORD_SNAPSHOTS` is set, the file is written and the test fails, so that recording is never unnoticed.
func expectSnapshot(_ text: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation) {
    let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    expectFile(text, directory.appendingPathComponent("Snapshots/\(name).txt"), sourceLocation: sourceLocation)
}

/// Compares a text with a file, which `RECORD_SNAPSHOTS` writes.
func expectFile(_ text: String, _ file: URL, sourceLocation: SourceLocation = #_sourceLocation) {
    if ProcessInfo.processInfo.environment["RECORD_SNAPSHOTS"] != nil {
        do {
            try Data(text.utf8).write(to: file)
            Issue.record("recorded \(file.lastPathComponent)", sourceLocation: sourceLocation)
        } catch {
            Issue.record(error, sourceLocation: sourceLocation)
        }
        return
    }
    let expected = (try? Data(contentsOf: file)).map { String(decoding: $0, as: UTF8.self) }
    #expect(
        text == expected, "\(file.lastPathComponent) differs; RECORD_SNAPSHOTS=1 records it again",
        sourceLocation: sourceLocation)
}
