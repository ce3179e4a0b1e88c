import Foundation
import TestSupport
import Testing

/// A console with TLS of its own.
@Suite(.enabled(if: TLSServer.isAvailable, "the program openssl is not installed"))
struct TLSConsoleTests {
    private static let identity = Result { try TestIdentity("links.example.com") }

    private static func console(_ arguments: [String]) throws -> GuardedProcess {
        try GuardedProcess(
            [BuiltProgram.linkd, "console"] + arguments, environment: RunningConsole.environment)
    }

    @Test("Beyond this machine, a certificate serves the page under its name, with a cookie that only TLS sends")
    func serves() throws {
        let identity = try Self.identity.get()
        let console = try Self.console([
            "--listen", "0.0.0.0:0", "--host", "links.example.com", "--tls-certificate", identity.certificate,
            "--tls-key", identity.key,
        ])
        defer { console.stop() }
        let (port, token) = try console.awaits(seconds: 30) { process in
            process.output.firstMatch(of: #/https://links\.example\.com:(\d+)/\?token=([0-9a-f]{32})/#)
                .map { (String($0.1), String($0.2)) }
        }
        func get(_ path: String, _ headers: [String], host: String = "links.example.com") throws -> String {
            let lines = ["GET \(path) HTTP/1.1", "Host: \(host):\(port)"] + headers + ["Connection: close", "", ""]
            return try ChildProcess.run(
                ["openssl", "s_client", "-quiet", "-ign_eof", "-connect", "127.0.0.1:\(port)"],
                input: lines.joined(separator: "\r\n")
            ).output
        }
        let entry = try get("/?token=\(token)", [])
        #expect(entry.hasPrefix("HTTP/1.1 303 ") && entry.contains("HttpOnly; Secure"))
        let bearer = "Authorization: Bearer \(token)"
        let own = "Origin: https://links.example.com:\(port)"
        #expect(try get("/api/info", [bearer, own]).hasPrefix("HTTP/1.1 200 "))
        #expect(try get("/api/info", [bearer, "Origin: https://evil.example"]).hasPrefix("HTTP/1.1 403 "))
        #expect(try get("/api/info", [bearer], host: "evil.example").hasPrefix("HTTP/1.1 403 "))
        #expect(try get("/api/info", []).hasPrefix("HTTP/1.1 401 "))
    }

    @Test("A client that is silent in the middle of a handshake costs no time of the processor")
    func silentHandshakes() throws {
        let identity = try Self.identity.get()
        let console = try Self.console([
            "--listen", "127.0.0.1:0", "--tls-certificate", identity.certificate, "--tls-key", identity.key,
        ])
        defer { console.stop() }
        let port = try console.awaits(seconds: 30) { process in
            process.output.firstMatch(of: #/https://127\.0\.0\.1:(\d+)/#).flatMap { UInt16($0.1) }
        }
        // The header of a TLS record, and one byte of it.
        let starts: [[UInt8]] = [[0x16], [0x16, 3, 1, 2, 0, 1, 0]]
        let clients = try (0..<10).map { index in
            let client = try RawClient(port: port)
            client.send(starts[index % 2])
            return client
        }
        let child = try #require(console.child)
        let before = try #require(processorSeconds(of: child))
        Thread.sleep(forTimeInterval: 3)
        let spent = try #require(processorSeconds(of: child)) - before
        #expect(spent < 0.5, "\(spent) s in 3 s with \(clients.count) clients")
    }

    /// Returns the time of the processor that a process has used, in seconds.
    private func processorSeconds(of process: Int32) -> Double? {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return nil }
        let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return nil }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    @Test(
        "Flags that do not fit together, and files that are no certificate, are errors with a next step",
        arguments: [
            (["--listen", "0.0.0.0:0", "--tls-certificate", "CERTIFICATE", "--tls-key", "KEY"], 64, "--host"),
            (["--tls-certificate", "CERTIFICATE"], 64, "--tls-key"),
            (["--host", "links.example.com"], 64, "--tls-certificate"),
            (["--tls-certificate", "CERTIFICATE", "--tls-key", "CERTIFICATE"], 78, "PEM"),
            (["--tls-certificate", "/nonexistent", "--tls-key", "KEY"], 78, "--tls-certificate"),
            (["--tls-certificate", "/dev/zero", "--tls-key", "KEY"], 78, "--tls-certificate"),
        ])
    func wrong(arguments: [String], status: Int32, text: String) throws {
        let identity = try Self.identity.get()
        let arguments = arguments.map { ["CERTIFICATE": identity.certificate, "KEY": identity.key][$0] ?? $0 }
        let listen = arguments.contains("--listen") ? [] : ["--listen", "127.0.0.1:0"]
        let result = try ChildProcess.run(
            [BuiltProgram.linkd, "console"] + listen + arguments,
            environment: RunningConsole.environment, seconds: 20)
        #expect(result.status == status, "\(result.errors)")
        #expect(result.errors.contains(text), "\(result.errors)")
    }
}
