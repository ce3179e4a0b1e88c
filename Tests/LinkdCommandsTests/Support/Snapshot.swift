internal import Foundation
internal import Testing

/// Holds a text against the file of this name in `Snapshots`.
///
/// With `RECORD_SNAPSHOTS` in the environment the file is written anew and the test fails all the same, so that
/// nobody records by accident.
func expectSnapshot(_ text: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation) {
    let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    expectFile(text, directory.appendingPathComponent("Snapshots/\(name).txt"), sourceLocation: sourceLocation)
}

/// Holds a text against a file, which `RECORD_SNAPSHOTS` writes anew.
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
        text == expected, "\(file.lastPathComponent) differs; RECORD_SNAPSHOTS=1 writes it anew",
        sourceLocation: sourceLocation)
}
