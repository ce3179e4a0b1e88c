import Foundation

/// A TLS server with a certificate of its own authority.
package final class TLSServer {
    private let directory: URL
    private let process = Process()
    /// The server's `host:port`.
    package private(set) var address = ""

    /// A Boolean value that indicates whether the program `openssl` can run.
    package static var isAvailable: Bool { (try? ChildProcess.run(["openssl", "version"]).status) == 0 }

    /// The path of the certificate of the authority.
    package var authority: String { directory.appending(path: "ca.pem").path }

    /// The path of the certificate of an authority that signed nothing.
    package var otherAuthority: String { directory.appending(path: "other.pem").path }

    /// Starts a server whose certificate ends in that number of days and has these names.
    package init(days: String, name: String) throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try Data("subjectAltName=\(name)\n".utf8).write(to: directory.appending(path: "names"))
        for authority in ["ca", "other"] {
            try openssl([
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", authority + ".key", "-out",
                authority + ".pem", "-days", "2", "-subj", "/CN=" + authority,
            ])
        }
        try openssl(["req", "-newkey", "rsa:2048", "-nodes", "-keyout", "key", "-out", "request", "-subj", "/CN=x"])
        try openssl([
            "x509", "-req", "-in", "request", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", days,
            "-extfile", "names", "-out", "certificate",
        ])
        try start()
    }

    /// Ends the server.
    package func stop() {
        if process.isRunning { process.terminate() }
        try? FileManager.default.removeItem(at: directory)
    }

    private func openssl(_ arguments: [String]) throws {
        let result = try ChildProcess.run(["openssl"] + arguments, in: directory)
        guard result.status == 0 else { throw ChildProcess.Failure(text: result.errors) }
    }

    private func start() throws {
        let output = directory.appending(path: "output")
        try Data().write(to: output)
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "openssl", "s_server", "-accept", "127.0.0.1:0", "-www", "-cert", "certificate", "-key", "key",
        ]
        process.currentDirectoryURL = directory
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = FileHandle.nullDevice
        try process.start()
        let started = becomesTrue(withinSeconds: 15) {
            let text = (try? String(contentsOf: output, encoding: .utf8)) ?? ""
            // The server prints `ACCEPT 127.0.0.1:PORT`.
            let line = text.split(separator: "\n").first { $0.hasPrefix("ACCEPT ") && text.hasSuffix("\n") }
            address = line.map { String($0.dropFirst(7)) } ?? ""
            return !address.isEmpty || !process.isRunning
        }
        guard started, !address.isEmpty else { throw ChildProcess.Failure(text: "openssl s_server did not start") }
    }
}
