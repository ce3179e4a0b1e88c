import Foundation
import TestSupport

/// A broker that one test stops and starts again, beside the broker of all tests.
final class OwnBroker {
    /// The path of the script that starts brokers, or nil if the tests use a broker that they did not start.
    static let script = ProcessInfo.processInfo.environment["LINKD_TEST_BROKER"]

    /// The value of `bootstrap.servers`.
    let bootstrap: String
    private let process: GuardedProcess
    private let directory: URL

    /// Starts the broker, and waits until it serves.
    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "broker-\(UUID().uuidString)")
        // The script and the broker need the ports P, P+1, and P+4.
        let port = UInt16.random(in: 3200...3270) * 10
        // The broker ends with the shell, and the shell with the tests.
        process = try GuardedProcess(
            [
                "/bin/sh", "-c",
                "trap '\"$0\" clean; exit' TERM; \"$0\" start --port \"$1\" && echo ready; while :; do sleep 0.2; done",
                Self.script ?? "", "\(port)",
            ],
            environment: ProcessInfo.processInfo.environment.merging(["KAFKA_DIR": directory.path]) { $1 })
        bootstrap = try process.awaits(seconds: 90) { $0.output.contains("ready") ? "127.0.0.1:\(port)" : nil }
    }

    deinit {
        try? tool("clean")
        process.stop()
        try? FileManager.default.removeItem(at: directory)
    }

    /// Runs a command of the script, such as `kill` or `up`.
    func tool(_ command: String) throws {
        let tool = try GuardedProcess(
            [Self.script ?? "", command],
            environment: ProcessInfo.processInfo.environment.merging(["KAFKA_DIR": directory.path]) { $1 })
        defer { tool.stop() }
        let status = try eventually("the end of the broker's \(command)", seconds: 100) { tool.status }
        guard status == 0 else { throw DriverFailure("the broker's \(command): \(tool.errors)") }
    }
}
