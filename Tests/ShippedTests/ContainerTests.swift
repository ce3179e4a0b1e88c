import Foundation
import TestSupport
import Testing

/// Checks of the compose file and the Dockerfile, which must refer to existing files.
///
/// They need no container engine.
@Suite struct ContainerTests {
    static func text(_ path: String) throws -> String {
        try String(contentsOf: Checkout.root.appending(path: path), encoding: .utf8)
    }

    static func exists(_ path: Substring) -> Bool {
        FileManager.default.fileExists(atPath: Checkout.root.appending(path: String(path)).path)
    }

    /// Returns the paths in the checkout that the Dockerfile copies.
    static func copied() throws -> [Substring] {
        try text("config/docker/Dockerfile").split(separator: "\n")
            .filter { $0.hasPrefix("COPY ") && !$0.contains("--from=") }
            .flatMap { $0.split(separator: " ").dropFirst().dropLast() }
    }

    @Test("The Dockerfile copies existing files, and .dockerignore allows only those")
    func dockerfile() throws {
        let copied = try Self.copied()
        #expect(copied.filter { !Self.exists($0) } == [])
        let kept = try Self.text(".dockerignore").split(separator: "\n").filter { $0.hasPrefix("!") }
        #expect(Set(kept.map { $0.dropFirst() }) == Set(copied))
    }

    @Test("The image contains the files that the compose file names")
    func compose() throws {
        let names = try Self.text("docker-compose.yml").matches(of: #//usr/local/share/linkd/([A-Za-z0-9/._-]+)/#)
        #expect(names.count >= 8)
        let copied = try Self.copied()
        for name in names.map({ "config/" + $0.1 }) {
            #expect(Self.exists(name[...]), "\(name)")
            #expect(copied.contains { name.hasPrefix($0 + "/") }, "\(name)")
        }
    }

    @Test("The stop timeout of the container allows the worker's shutdown.grace")
    func grace() throws {
        #expect(try Self.text("docker-compose.yml").contains("stop_grace_period: 30s"))
    }

    @Test("The image, the published ports, and the health check have the same port")
    func port() throws {
        let lines = try Self.text("config/docker/Dockerfile").split(separator: "\n")
        #expect(lines.contains("ENV LINKD_HTTP_LISTEN=:8080") && lines.contains("EXPOSE 8080"))
        let compose = try Self.text("docker-compose.yml")
        #expect(compose.contains("/dev/tcp/127.0.0.1/8080"))
        #expect(compose.matches(of: #/ports: \["127\.0\.0\.1:808[12]:8080"\]/#).count == 2)
    }

    @Test("The image does not run as root, and its librdkafka supports SCRAM with Kafka 4")
    func image() throws {
        let lines = try Self.text("config/docker/Dockerfile").split(separator: "\n")
        let user = try #require(lines.last { $0.hasPrefix("USER ") })
        #expect(!user.hasPrefix("USER 0") && !user.hasPrefix("USER root"))
        // Debian 13 has librdkafka 2.8. The first version without the defect is 2.6.1.
        #expect(lines.last { $0.hasPrefix("FROM ") } == "FROM debian:13-slim")
    }
}
