internal import Foundation
internal import KafkaClient
internal import LinkCoordinator
internal import StrictJSON
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

/// Workers and commands with a topic for each application.
@Suite(.enabled(if: TestBroker.plain != nil, "no broker: KAFKA_BOOTSTRAP_SERVERS is not set"))
struct OutputTopicsBrokerTests {
    /// The topics and tables of a worker: of the application `one.app`, of `two.app`, and of two others.
    private final class Site {
        let folder: TemporaryFolder
        let input = TestBroker.uniqueName("apps")

        init() throws {
            folder = try TemporaryFolder()
            try write(Self.table("one", #"["one.app"]"#), to: "one.json")
            try write(Self.table("two", #"["two.app"]"#), to: "two.json")
            try write(Self.table("rest", #"["third.app","fourth.app"]"#), to: "rest.json")
        }

        static func table(_ id: String, _ applications: String, target: String = "other") -> String {
            #"""
            {"schemaVersion":1,"table":{"id":"\#(id)","version":"1","applications":\#(applications)},
             "link":{"schemes":["\#(id)"],"host":"segment","payload":{"link":["/link"]}},
             "coordinators":{"home":{"initial":"feed","screens":{"feed":{},"other":{},"third":{}}}},
             "routes":[{"id":"start","match":"/","to":{"path":"/home/feed"}},
                       {"id":"other","match":"/other","to":{"path":"/home/\#(target)"}}]}
            """#
        }

        func write(_ text: String, to name: String) throws {
            try text.write(toFile: folder.path(name), atomically: true, encoding: .utf8)
        }

        func topic(_ name: String) -> String { "\(input).\(name)" }

        var map: [String] { ["--output-applications", "one.app=\(topic("one")),two.app=\(topic("two"))"] }
        var names: [String] { ["--input", input, "--output", topic("out")] + map }
        var tables: [String] { ["one", "two", "rest"].flatMap { ["--table", folder.path("\($0).json")] } }

        @discardableResult
        func run(_ arguments: [String], input: String = "", code: Int32 = 0) throws -> CommandResult {
            let home = Checkout.root.appending(path: "config").path
            let environment = ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? "", "LINKD_HOME": home]
            let result = try LinkdProcess.run(arguments, input: input, environment: environment)
            #expect(result.code == code, "\(arguments): \(result.err)")
            return result
        }

        func decide(_ events: [String]) throws {
            try run(["produce", "--topic", input, "--raw"], input: events.joined(separator: "\n"))
            try run(["worker", "--group", input, "--stop-after", "\(events.count)"] + tables + names)
            try awaitDecisions()
        }

        /// Waits until the decisions can be read, which is a moment after a broker has confirmed their commit.
        func awaitDecisions() throws { #expect(try verify()["result"]?.string == "right") }

        /// The ids of the decisions in a topic, without the topic of their events.
        func ids(_ name: String) throws -> [String] {
            let result = try run(["inspect", "--topic", topic(name), "-f", "%{decision}\\n"])
            return result.out.split(separator: "\n").map { String($0.dropFirst(input.utf8.count)) }.sorted()
        }

        func verify(code: Int32 = 0) throws -> JSONValue {
            let result = try run(["verify", "--group", input, "--json"] + names, code: code)
            return try JSONValue.parse(Array(result.out.utf8))
        }
    }

    private static func message(_ device: String, _ link: String) -> String {
        #"{"to":"ExponentPushToken[\#(device)]","data":{"url":"\#(link)"}}"#
    }

    @Test("Each application's decisions are in its topic, all commands know all topics, and a moved decision is found")
    func applications() throws {
        let site = try Site()
        let created = try site.run(["topics", "create", "--recall", "--partitions", "1"] + site.names)
        #expect(created.out.contains(site.topic("two")), "\(created.out)")
        let checked = try site.run(["topics", "check", "--json"] + site.names)
        let roles = try JSONValue.parse(Array(checked.out.utf8))["topics"]?.array?.map { $0["role"]?.string }
        #expect(roles?.count { $0 == "output" } == 3, "\(checked.out)")
        try site.decide([
            #"{"id":"e-0","link":"one:/other","device":{"id":"a"}}"#,
            #"{"id":"e-1","link":"two:/","device":{"id":"a"},"application":"two.app"}"#,
            #"{"id":"e-2","link":"rest:/","devices":[{"id":"a"},{"id":"b"}]}"#,
            "[\(Self.message("c", "one:/")),\(Self.message("d", "rest:/")),\(Self.message("e", "two:/other"))]",
            #"{"id":"e-4","link":"rest:/","device":{"id":"a"},"application":"third.app"}"#,
            #"{"id":"e-5","payload":{"aps":{}},"device":{"id":"a"}}"#,
        ])
        #expect(try site.ids("one") == ["-0-0-0", "-0-3.0-0"])
        #expect(try site.ids("two") == ["-0-1-0", "-0-3.2-0"])
        #expect(try site.ids("out") == ["-0-2-0", "-0-2-1", "-0-3.1-0", "-0-4-0", "-0-5-0"])
        let all = try site.run(["inspect", "--device", "a", "--json"] + site.map + ["--config", try config(site)])
        #expect(all.out.split(separator: "\n").count == 5, "\(all.out)")
        #expect(try site.verify()["decisions"]?.integer == 9)
        for (id, topic) in [("-0-0-0", "one"), ("-0-3.2-0", "two"), ("-0-2-1", "out")] {
            let why = try site.run(
                ["inspect", "--why", site.input + id, "--json", "--config", try config(site)] + site.map + site.tables)
            #expect(why.out.contains(#""same":true"#) && why.out.contains(site.topic(topic)), "\(why.out)")
        }
        let position = try site.run(
            ["inspect", "--why", site.topic("two") + "-0-0", "--json", "--config", try config(site)] + site.map
                + site.tables)
        #expect(position.out.contains(#""same":true"#) && position.out.contains("two.app"), "\(position.out)")
        try recall(site)
        // A decision of an application in the topic of another one, as a worker with another map writes it.
        let moved = #"{"decision":"\#(site.input)-0-1-0","event":"e-1","device":"a","application":"two.app"}"#
        try site.run(["produce", "--topic", site.topic("one"), "--raw", "--key", "a"], input: moved)
        let report = try site.verify(code: 1)
        let harms = report["harms"]?.array?.compactMap { $0["harm"]?.string } ?? []
        #expect(harms == ["doubled", "disordered", "wrong_topic"], "\(report.text)")
    }

    /// Returns the path of a settings file with the topic of everything else.
    private func config(_ site: Site) throws -> String {
        try site.write(#"{"output":"\#(site.topic("out"))"}"#, to: "linkd.json")
        return site.folder.path("linkd.json")
    }

    /// Corrects the decisions of the table `one`, which a table of another application takes the place of.
    private func recall(_ site: Site) throws {
        let old = Site.table("one", #"["one.app"]"#)
        try site.write(Site.table("one", #"["two.app"]"#, target: "third"), to: "new.json")
        let hash = String(try RouteTable(json: Array(old.utf8)).hash.prefix(8))
        let flags = ["recall", "--table", hash, "--old", site.folder.path("one.json")]
        let command = flags + ["--with", site.folder.path("new.json"), "--yes", "--to", site.topic("out")] + site.names
        let result = try site.run(command)
        #expect(result.out.contains("corrected 1 of 1"), "\(result.out)")
        #expect(result.out.contains("1 correction of decisions in another topic"), "\(result.out)")
        #expect(try site.ids("one") == ["-0-0-0", "-0-0-0~1", "-0-3.0-0"])
        let again = try site.run(command)
        #expect(again.out.contains("nothing to correct") || again.out.contains("corrected 0 of 0"), "\(again.out)")
        #expect(try site.verify()["corrections"]?.integer == 1)
    }

    @Test("A decision beyond the limit of another topic is explained and corrected with the archived configuration")
    func messageLimits() throws {
        let site = try Site()
        let results = try KafkaAdmin(["bootstrap.servers": TestBroker.plain ?? ""]).create(
            topics: [
                TopicSpecification(name: site.topic("out"), partitions: 1, settings: ["max.message.bytes": "2000"])
            ], timeoutMilliseconds: 20_000)
        try #require(results.allSatisfy { $0.error == nil })
        let archive = ["--tables-topic", site.topic("tables")]
        try site.run(["topics", "create", "--recall", "--partitions", "1"] + archive + site.names)
        let segment = #""segment":"\#(String(repeating: "s", count: 3_000))""#
        let events = ["one", "rest"].map { #"{"link":"\#($0):/other","device":{"id":"a"},\#(segment)}"# }
        try site.run(["produce", "--topic", site.input, "--raw"], input: events.joined(separator: "\n"))
        let worker = ["worker", "--group", site.input, "--stop-after", "2", "--passthrough", "segment"]
        try site.run(worker + archive + site.tables + site.names)
        try site.awaitDecisions()
        #expect(try site.ids("one") == ["-0-0-0"])
        #expect(try site.ids("out").isEmpty)
        let config = ["--config", try config(site)]
        let why = try site.run(["inspect", "--why", site.input + "-0-0-0", "--json"] + archive + config + site.map)
        let report = try JSONValue.parse(Array(why.out.utf8))
        #expect(report["same"]?.text == "true" && report["table"]?["source"]?.string == "topic", "\(why.out)")
        try site.write(Site.table("one", #"["one.app"]"#, target: "third"), to: "new.json")
        let hash = try RouteTable(json: Array(Site.table("one", #"["one.app"]"#).utf8)).hash
        let recall = ["recall", "--table", hash, "--with", site.folder.path("new.json"), "--to", site.topic("out")]
        let result = try site.run(recall + ["--yes"] + archive + site.names)
        #expect(result.out.contains("corrected 1 of 1"), "\(result.out)")
        #expect(try site.ids("one") == ["-0-0-0", "-0-0-0~1"])
    }

    @Test("A worker does not start without the topic of an application, and names it")
    func missing() throws {
        let site = try Site()
        try site.run(["topics", "create", "--partitions", "1", "--input", site.input, "--output", site.topic("out")])
        let worker = ["worker", "--group", site.input, "--stop-after", "1"] + site.tables + site.names
        let result = try site.run(worker, code: 78)
        #expect(result.err.contains("the topic \(site.topic("one")) does not exist"), "\(result.err)")
    }

    @Test("The access rules name the topics of all applications")
    func rights() throws {
        let site = try Site()
        let rules = try site.run(["doctor", "--print-acls"] + site.names)
        for topic in ["out", "one", "two"].map(site.topic) { #expect(rules.out.contains(topic), "\(rules.out)") }
    }
}
