internal import Foundation
internal import StrictJSON
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

@Suite struct DemoTests {
    private static let home = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../config").standardizedFileURL.path

    @Test("The demo prints decisions of every table with their stacks, dead letters, counts, and next steps")
    func demo() throws {
        let result = try LinkdProcess.run(["demo"], environment: ["LINKD_HOME": Self.home])
        #expect(result.code == 0, "\(result.err)")
        for words in [
            "shop@1+", "coordinator-demo@7+", "trips-calendar@3+", "easydev991@1+", "content-flow@1+",
            "home > feed > catalog > list > item", "content > sheet [sheet]", "calendar > list > details",
            "dead letters", "null_value", "bad_json", "records became", "linkd topics create -b localhost:9092",
            "processed exactly once", "push: OneSignal on Android: custom is JSON text", "push: Braze on Android",
            "none open_app", "none needs_resolution",
        ] { #expect(result.out.contains(words), "\(words)") }
        let samples = try String(contentsOfFile: Self.home + "/samples/users.jsonl", encoding: .utf8)
        let events = samples.split(separator: "\n")
        var users = 0
        for event in events {
            let devices = try #require(try JSONValue.parse(Array(event.utf8))["expect"]?["devices"]?.object)
            if devices.isEmpty { #expect(result.out.contains(/https:\S+ +none +no_device/)) }
            users += devices.count
            for device in devices {
                let outcome = try #require(device.value.string)
                let line = try Regex(#"shop\.example\S+ +\#(device.name) +\#(outcome) "#)
                #expect(result.out.contains(line), "\(device.name) \(outcome)")
            }
        }
        #expect(users == 5 && events.count == 3)
        #expect(!result.out.contains("\u{1B}"))
        #expect(result.err.split(separator: "\n").count == 1, "\(result.err)")
    }

    @Test("The demo's dead letters have the expected reasons")
    func deadLetters() throws {
        let samples = try String(contentsOfFile: Self.home + "/samples/records.jsonl", encoding: .utf8)
        var expected: [String: Int] = [:]
        for match in samples.matches(of: /"dead_letter":"([a-z0-9_]+)"/) { expected[String(match.1), default: 0] += 1 }
        let result = try LinkdProcess.run(["demo", "-q"], environment: ["LINKD_HOME": Self.home])
        #expect(result.code == 0, "\(result.err)")
        #expect(result.err == "")
        var counted: [String: Int] = [:]
        for match in result.out.matches(of: /(\d+)  dead letter ([a-z0-9_]+)/) {
            counted[String(match.2)] = Int(match.1)
        }
        #expect(counted == expected)
    }

    @Test("Without its files, the demo lists the searched directories")
    func missingFiles() throws {
        let result = try LinkdProcess.run(["demo"])
        #expect(result.code == 78)
        #expect(result.err.contains("LINKD_HOME (not set)"))
    }

    @Test("With --keep the broker runs until a signal, which ends with exit code 0")
    func keep() throws {
        let running = try RunningLinkd(["demo", "--keep", "-q"], environment: ["LINKD_HOME": Self.home])
        let isKept = becomesTrue(withinSeconds: 60) {
            Thread.sleep(forTimeInterval: 0.01)
            return running.output.contains("until Ctrl-C:\n") || !running.isRunning
        }
        #expect(isKept, "\(running.log)")
        let out = running.output
        let broker = try #require(out.firstMatch(of: /runs at (127\.0\.0\.1:\d+) until/)).1
        let seen = try LinkdProcess.run(["inspect", "-b", String(broker), "--outcome", "reject", "-f", "%{reason}\\n"])
        #expect(seen.code == 0, "\(seen.err)")
        #expect(seen.out.contains("no_route\n"))
        running.signal(SIGINT)
        #expect(try running.end() == 0)
    }
}
