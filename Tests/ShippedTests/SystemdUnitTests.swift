import DispatchWorker
import Foundation
import TestSupport
import Testing

/// Checks of the unit for systemd.
@Suite struct SystemdUnitTests {
    /// The path of the unit.
    static let unit = "config/systemd/linkd.service"

    /// Returns the values of a directive, in the order of the file.
    static func values(_ name: String) throws -> [String] {
        try ContainerTests.text(unit).split(separator: "\n")
            .filter { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.count + 1)) }
    }

    /// A Boolean value that indicates whether systemd can verify units here.
    static let hasAnalyzer = (try? ChildProcess.run(["systemd-analyze", "--version"]))?.status == 0

    /// Returns what systemd says about a text of the unit, with the built program.
    ///
    /// It prints findings and ends with 0.
    static func findings(_ text: String) throws -> String {
        let directory = try TemporaryFolder()
        let file = directory.url.appending(path: "linkd.service")
        try Data(text.replacing("/usr/local/bin/linkd", with: BuiltProgram.linkd).utf8).write(to: file)
        let result = try ChildProcess.run(["systemd-analyze", "verify", "--man=no", file.path])
        return result.output + result.errors
    }

    @Test("systemd accepts the unit without a remark", .enabled(if: hasAnalyzer, "systemd-analyze is not installed"))
    func verified() throws {
        let text = try ContainerTests.text(Self.unit)
        #expect(try Self.findings(text) == "")
        #expect(try Self.findings(text.replacing("WatchdogSec", with: "WatchdogSecs")).contains("WatchdogSecs"))
    }

    /// A Boolean value that indicates whether a start after this code needs a person.
    ///
    /// The switch has no default, so that a new code is decided here.
    static func needsPerson(_ code: WorkerExitCode) -> Bool {
        switch code {
        case .badData, .denied, .configuration, .fenced, .deadLetterLimit: true
        case .done, .unavailable, .internal, .tryAgain, .forced: false
        }
    }

    @Test("The unit, the compose file, and the pages name the exit codes that need a person")
    func codes() throws {
        // 64 is a wrong flag, which ends every command before a worker exists.
        let codes = (0...255).compactMap { WorkerExitCode(rawValue: $0) }.filter(Self.needsPerson).map(\.rawValue)
        let names = ([64] + codes).map(String.init)
        #expect(try Self.values("RestartPreventExitStatus") == [names.joined(separator: " ")])
        let sentence = names.dropLast().joined(separator: ", ") + ", and " + names[names.count - 1]
        for page in ["config/systemd/README.md", "config/kubernetes/README.md", "docker-compose.yml"] {
            #expect(try ContainerTests.text(page).contains(sentence), "\(page)")
        }
    }

    @Test("The unit's settings are those of the program, and its times allow for shutdown.grace")
    func settings() throws {
        let lines = try ContainerTests.text("config/systemd/linkd.env.example").split(separator: "\n")
        var environment: [String: String] = ["KAFKA_SSL_CA_LOCATION": "/dev/null"]
        for line in lines where !line.hasPrefix("#") {
            let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
            try #require(parts.count == 2)
            environment[parts[0], default: parts[1]] = parts[1]
        }
        for entry in try #require(Self.values("Environment").first).split(separator: " ") {
            let parts = entry.split(separator: "=", maxSplits: 1).map(String.init)
            environment[parts[0]] = parts[1]
        }
        #expect(environment["KAFKA_SASL_PASSWORD_FILE"] == "%d/password")
        environment["KAFKA_SASL_PASSWORD_FILE"] = Checkout.root.appending(path: "README.md").path
        environment["LINKD_TABLE_DIRECTORY"] = Checkout.root.appending(path: "config/routes").path
        let result = try ChildProcess.run([BuiltProgram.linkd, "config"], environment: environment)
        #expect(result.status == 0, "\(result.errors)")
        for name in environment.keys { #expect(result.output.contains("environment \(name)"), "\(name)") }
        #expect(result.output.contains(/shutdown\.grace +30s/))
        #expect(try Self.values("TimeoutStopSec") == ["40"])
    }
}
