internal import Foundation
internal import Testing

/// Runs the built `linkd` as a process of its own, as a shell would.
enum ChildProcess {
    /// The binary beside the test bundle.
    static let binary: URL = {
        let executable =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        return URL(fileURLWithPath: executable).deletingLastPathComponent().appendingPathComponent("linkd")
    }()

    /// Runs a command line to its end.
    ///
    /// - Parameters:
    ///   - arguments: Behind the program's name.
    ///   - input: What standard input gives.
    ///   - environment: Besides PATH; nothing of the test's own environment is passed on.
    ///   - seconds: After which the process is ended, and the test fails.
    static func run(
        _ arguments: [String], input: String = "", environment: [String: String] = [:], seconds: Double = 60,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> CommandResult {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("linkd-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let files = ["in", "out", "err"].map(directory.appendingPathComponent)
        try Data(input.utf8).write(to: files[0])
        for file in files[1...] { try Data().write(to: file) }
        let process = Process()
        process.executableURL = binary
        process.arguments = arguments
        process.environment = environment.merging(["PATH": "/usr/bin:/bin"]) { first, _ in first }
        process.currentDirectoryURL = directory
        process.standardInput = try FileHandle(forReadingFrom: files[0])
        process.standardOutput = try FileHandle(forWritingTo: files[1])
        process.standardError = try FileHandle(forWritingTo: files[2])
        let ended = DispatchSemaphore(value: 0)
        process.terminationHandler = { _ in ended.signal() }
        try process.run()
        if ended.wait(timeout: .now() + seconds) == .timedOut {
            process.terminate()
            Issue.record("linkd \(arguments) did not end within \(seconds) s", sourceLocation: sourceLocation)
        }
        process.waitUntilExit()
        func text(_ file: URL) throws -> String { String(decoding: try Data(contentsOf: file), as: UTF8.self) }
        return CommandResult(code: process.terminationStatus, out: try text(files[1]), err: try text(files[2]))
    }
}

/// The brokers that the environment offers to tests.
enum TestBroker {
    private static let environment = ProcessInfo.processInfo.environment

    /// A broker without encryption, or nil.
    static var plain: String? { environment["KAFKA_BOOTSTRAP_SERVERS"] }

    /// A broker with SASL, TLS and access rules, and what a client of a user without rights needs, or nil.
    static var refusing: [String: String]? {
        guard let secure = environment["KAFKA_SECURE_BOOTSTRAP"], let directory = environment["KAFKA_DIR"] else {
            return nil
        }
        return [
            "KAFKA_BOOTSTRAP_SERVERS": secure, "KAFKA_SECURITY_PROTOCOL": "SASL_SSL", "KAFKA_SASL_MECHANISMS": "PLAIN",
            "KAFKA_SSL_CA_LOCATION": directory + "/tls/ca.pem", "KAFKA_SASL_USERNAME": "mallory",
            "KAFKA_SASL_PASSWORD": "mallory-secret",
        ]
    }

    /// Runs one of Kafka's own tools against the broker that the tests started, or nil when it is somebody else's.
    static var script: String? { environment["LINKD_TEST_BROKER"] }

    /// Runs `script` with these arguments.
    static func tool(_ arguments: [String], sourceLocation: SourceLocation = #_sourceLocation) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: script ?? "")
        process.arguments = arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(arguments)", sourceLocation: sourceLocation)
    }

    /// A name that no other test uses.
    static func uniqueName(_ prefix: String) -> String { "\(prefix)-\(UUID().uuidString.prefix(8).lowercased())" }
}
