import Foundation

/// A certificate that signs itself, and its key, as files that are deleted with the object.
package final class TestIdentity: Sendable {
    private let directory: URL

    /// The path of the certificate.
    package var certificate: String { directory.appending(path: "certificate").path }
    /// The path of the key.
    package var key: String { directory.appending(path: "key").path }

    /// Creates a certificate for a name.
    package init(_ name: String) throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "identity-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let made = try ChildProcess.run(
            [
                "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key", "-out", "certificate",
                "-days", "2", "-subj", "/CN=\(name)",
            ], in: directory)
        guard made.status == 0 else { throw ChildProcess.Failure(text: made.errors) }
    }

    deinit { try? FileManager.default.removeItem(at: directory) }
}
