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
        let compose = try Self.text("docker-compose.yml")
        let grace = try #require(compose.firstMatch(of: /stop_grace_period: ([0-9]+)s/))
        #expect(try #require(Int(grace.1)) >= 30 + 5)
    }

    @Test("The image, the published ports, and the health check have the same port")
    func port() throws {
        let lines = try Self.text("config/docker/Dockerfile").split(separator: "\n")
        #expect(lines.contains("ENV LINKD_HTTP_LISTEN=:8080") && lines.contains("EXPOSE 8080"))
        let compose = try Self.text("docker-compose.yml")
        #expect(compose.contains("/dev/tcp/127.0.0.1/8080"))
        #expect(compose.matches(of: #/ports: \["127\.0\.0\.1:808[123]:8080"\]/#).count == 3)
    }

    @Test("The compose file pins the versions of its images, and limits what its services use")
    func pinned() throws {
        let compose = try Self.text("docker-compose.yml")
        let version = try ChildProcess.run([BuiltProgram.linkd, "--version"]).output.split(separator: " ")[1]
        let images = compose.matches(of: /\n +image: (\S+)/).map { String($0.1) }
        #expect(images == ["linkd:\(version)", "apache/kafka:4.3.1"])
        #expect(compose.matches(of: #/\n +mem_limit:/#).count == images.count)
        #expect(compose.matches(of: #/\n +cpus:/#).count == images.count)
        #expect(compose.hasPrefix("# A demonstration on one host: one broker without replication"))
    }

    @Test("The compose file's commands have flags of the program, and its variables are settings")
    func flags() throws {
        let compose = try Self.text("docker-compose.yml")
        let commands = compose.matches(of: /command: \[(.*)\]/).map {
            $0.1.split(separator: ", ").map { $0.trimmingCharacters(in: ["\""]) }
        }
        #expect(commands.count >= 5)
        for command in commands {
            let help = try ChildProcess.run([BuiltProgram.linkd] + command.prefix { !$0.hasPrefix("-") } + ["--help"])
            #expect(help.status == 0, "\(command)")
            for flag in command where flag.hasPrefix("--") {
                #expect(help.output.contains("\n  \(flag) "), "\(command)")
            }
        }
        let names = Set(compose.matches(of: /LINKD_[A-Z_]+/).map { String($0.0) })
        #expect(names == ["LINKD_TABLES", "LINKD_TABLE_DIRECTORY", "LINKD_DEVICES_TOPIC", "LINKD_STATE_DIR"])
        let settings = try Self.text("Sources/LinkdCommands/Documentation.docc/Settings.md")
        for name in names { #expect(settings.contains("`\(name)`"), "\(name)") }
    }

    @Test("Secrets and tables that the compose file mounts exist, and tables are mounted as a directory")
    func mounts() throws {
        let compose = try Self.text("docker-compose.yml")
        let secret = try #require(compose.firstMatch(of: /file: \.\/(\S+)/)).1
        #expect(Self.exists(secret) && compose.contains("_FILE: /run/secrets/kafka-password"))
        let mount = try #require(compose.firstMatch(of: /- \.\/(\S+):(\S+):ro/))
        var isDirectory: ObjCBool = false
        let path = Checkout.root.appending(path: String(mount.1)).path
        #expect(FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory.boolValue)
        #expect(compose.contains("LINKD_TABLE_DIRECTORY: \(mount.2)"))
        // The image must not contain a secret.
        #expect(try !Self.copied().contains { secret.hasPrefix($0) })
    }

    @Test("Each worker has a volume of its own for its state, in a directory that belongs to the user of the image")
    func state() throws {
        let compose = try Self.text("docker-compose.yml")
        let directory = try #require(compose.firstMatch(of: /LINKD_STATE_DIR: (\S+)/)).1
        let volumes = compose.matches(of: /(state-[a-z0-9]+):(\/[a-z\/]+)/)
        #expect(volumes.allSatisfy { $0.2 == directory })
        #expect(Set(volumes.map { $0.1 }).count == 3 && volumes.count == compose.matches(of: /<<: \*worker/).count)
        for volume in volumes { #expect(compose.contains("\n  \(volume.1): {}\n")) }
        let image = try Self.text("config/docker/Dockerfile")
        let user = try #require(image.matches(of: /\nUSER ([0-9]+):([0-9]+)/).last)
        #expect(image.contains("install -d -o \(user.1) -g \(user.2) \(directory)\n"))
    }

    @Test("The base images are arguments, and their digests are those that the registry returns")
    func digests() throws {
        let folder = try TemporaryFolder()
        let script = Checkout.root.appending(path: "config/docker/pin").path
        let docker = folder.url.appending(path: "docker")
        func pin(_ answer: String) throws -> ChildProcess.Result {
            try Data("#!/bin/sh\n\(answer)\n".utf8).write(to: docker)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: docker.path)
            return try ChildProcess.run([script], environment: ["PATH": "\(folder.url.path):/usr/bin:/bin"])
        }
        let digest = String(repeating: "0a", count: 32)
        let other = String(digest.reversed())
        let pinned = try pin(
            "case \"$4\" in swift:*) echo sha256:\(digest);; *) echo sha256:\(other);; esac")
        #expect(pinned.status == 0, "\(pinned.errors)")
        #expect(
            pinned.output == "--build-arg SWIFT_IMAGE=swift:6.3@sha256:\(digest)\n"
                + "--build-arg DEBIAN_IMAGE=debian:13-slim@sha256:\(other)\n")
        #expect(try pin("exit 1").status == 69)
        #expect(try pin("echo none").output == "")
    }

    @Test("The image does not run as root, and its librdkafka supports SCRAM with Kafka 4")
    func image() throws {
        let lines = try Self.text("config/docker/Dockerfile").split(separator: "\n")
        let user = try #require(lines.last { $0.hasPrefix("USER ") })
        #expect(!user.hasPrefix("USER 0") && !user.hasPrefix("USER root"))
        // Debian 13 has librdkafka 2.8. The first version without the defect is 2.6.1.
        #expect(lines.contains("ARG DEBIAN_IMAGE=debian:13-slim"))
        #expect(lines.last { $0.hasPrefix("FROM ") } == "FROM ${DEBIAN_IMAGE}")
    }
}
