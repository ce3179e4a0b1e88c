import Foundation
import TestSupport
import Testing

/// The compose file and the Dockerfile name files that are there; no engine is needed to see that.
@Suite struct ContainerTests {
    static func text(_ path: String) throws -> String {
        try String(contentsOf: Checkout.root.appending(path: path), encoding: .utf8)
    }

    static func exists(_ path: Substring) -> Bool {
        FileManager.default.fileExists(atPath: Checkout.root.appending(path: String(path)).path)
    }

    /// The sources of the Dockerfile's COPY lines that come from the checkout.
    static func copied() throws -> [Substring] {
        try text("config/docker/Dockerfile").split(separator: "\n")
            .filter { $0.hasPrefix("COPY ") && !$0.contains("--from=") }
            .flatMap { $0.split(separator: " ").dropFirst().dropLast() }
    }

    @Test("What the Dockerfile copies is there, and .dockerignore lets through just that")
    func dockerfile() throws {
        let copied = try Self.copied()
        #expect(copied.filter { !Self.exists($0) } == [])
        let kept = try Self.text(".dockerignore").split(separator: "\n").filter { $0.hasPrefix("!") }
        #expect(Set(kept.map { $0.dropFirst() }) == Set(copied))
    }

    @Test("What the compose file names inside the image is shipped in it")
    func compose() throws {
        let names = try Self.text("docker-compose.yml").matches(of: #//usr/local/share/linkd/([A-Za-z0-9/._-]+)/#)
        #expect(names.count >= 8)
        let copied = try Self.copied()
        for name in names.map({ "config/" + $0.1 }) {
            #expect(Self.exists(name[...]), "\(name)")
            #expect(copied.contains { name.hasPrefix($0 + "/") }, "\(name)")
        }
    }

    @Test("The worker has as long to end as it takes for itself")
    func grace() throws {
        #expect(try Self.text("docker-compose.yml").contains("stop_grace_period: 30s"))
    }

    @Test("The image does not run as root, and its librdkafka can do SCRAM with Kafka 4")
    func image() throws {
        let lines = try Self.text("config/docker/Dockerfile").split(separator: "\n")
        let user = try #require(lines.last { $0.hasPrefix("USER ") })
        #expect(!user.hasPrefix("USER 0") && !user.hasPrefix("USER root"))
        // Debian 13 has librdkafka 2.8; 2.6.1 is the first without the fault.
        #expect(lines.last { $0.hasPrefix("FROM ") } == "FROM debian:13-slim")
    }
}
