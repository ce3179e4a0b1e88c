import LinkIngest
internal import StrictJSON
internal import TestSupport
internal import Testing

@testable internal import DispatchWorker

/// The reference of the worker against its code.
@Suite struct WorkerReferenceTests {
    let page: ReferencePage

    init() throws { page = try ReferencePage(path: "Sources/DispatchWorker/DispatchWorker.docc/WorkerReference.md") }

    @Test("The reference has the names of a lane")
    func names() throws {
        let lane = LaneIdentity(group: "GROUP", instance: "INSTANCE", isStable: true, lane: 7)
        let table = try #require(page.table("Names", "Name"))
        let expected = [
            "transactional.id": lane.transactionalID, "group.id": lane.group,
            "group.instance.id": lane.groupInstanceID ?? "", "client.id": lane.clientID, "dlq.instance": lane.name,
        ]
        #expect(Set(table.names) == Set(expected.keys))
        for (name, value) in expected {
            let form = ReferencePage.code(table.cell(name, "Form") ?? "").first
            #expect(form?.replacing("LANE", with: "7") == value, "\(name)")
        }
        let rights = try #require(page.table("Access rights", "Operation"))
        let prefix = try #require(rights.column("Name").flatMap(ReferencePage.code).first)
        #expect(lane.transactionalID.hasPrefix(prefix))
    }

    @Test("The reference has the exit codes of a worker")
    func exitCodes() {
        let codes = (0...255).compactMap { WorkerExitCode(rawValue: $0)?.rawValue }
        // 64 is the code for a wrong command line, before a worker exists.
        let found = page.table("Exit codes", "Code")?.column("Code").compactMap { Int32($0) }
        #expect(found == (codes + [64]).sorted())
    }

    @Test("The reference has the headers of dead letters in their order, and the reasons with their stages")
    func deadLetters() throws {
        #expect(page.table("Headers", "Header")?.names == DeadLetterHeaders.names.map(\.description))
        let others = try #require(page.table("Headers for other tools", "Header"))
        #expect(others.names == HeaderProfile.all.names.map(\.description))
        for name in others.names {
            let profile = ReferencePage.code(others.cell(name, "Profile") ?? "").first.flatMap(HeaderProfile.init)
            #expect(profile?.names.contains { $0.description == name } == true, "\(name)")
        }
        let reasons = try #require(page.table("Reasons", "Reason"))
        #expect(reasons.names == DeadLetterReason.allCases.map(\.rawValue))
        #expect(reasons.column("Stage").flatMap(ReferencePage.code) == DeadLetterReason.allCases.map(\.stage))
    }

    @Test("The reference has the events of the log")
    func logEvents() throws {
        let files = try Checkout.trackedFiles().filter { file in
            let folders = ["Commands", "Crashes", "Kafka", "Monitoring", "ShortLinks", "Tables"]
                .map { "Sources/LinkdCommands/\($0)/" }
            return (folders + ["Sources/DispatchWorker/"]).contains { file.path.hasPrefix($0) }
                && file.suffix == "swift"
        }
        var events: Set = [LogEntry.exit, LogEntry.status, LogEntry.trace]
        for file in files {
            // The name of the event follows the level, after a condition if there is one.
            let call = #/\.(?:error|warning|info|debug),\s*(?:\w+ \? )?"([a-z][a-z_.]*)"/#
            for match in (file.text ?? "").matches(of: call) { events.insert(String(match.1)) }
        }
        #expect(events.count >= 20)
        #expect(Set(page.table("Log", "Event")?.names ?? []) == events)
    }

    @Test("The reference has the causes of rotations and aborts")
    func causes() throws {
        let rotations = page.table("Exactly once", "Cause")?.names ?? []
        #expect(rotations.count == RotationCause.allCases.count)
        #expect(rotations.filter { RotationCause(rawValue: $0) == nil } == [])
        let line = try #require(page.text.split(separator: "\n").first { $0.hasPrefix("The `cause` of `aborted`") })
        let aborts = ReferencePage.code(String(line)).dropFirst(2).filter { $0 != "code" }
        #expect(aborts.count == AbortCause.allCases.count)
        #expect(aborts.filter { AbortCause(rawValue: $0) == nil } == [])
    }

    @Test("The reference has the metrics with their types, labels, and descriptions")
    func metrics() throws {
        let table = try #require(page.table("Metrics", "Metric"))
        #expect(table.names == MetricCatalog.all.map(\.description.name))
        #expect(table.column("Type") == MetricCatalog.all.map(\.description.kind.rawValue))
        #expect(table.column("Labels").map(ReferencePage.code) == MetricCatalog.all.map(\.description.labels))
        #expect(table.column("Meaning") == MetricCatalog.all.map(\.description.help))
    }

    @Test("The reference has the stages of a lane")
    func stages() throws {
        let row = try #require(page.text.split(separator: "\n").first { $0.hasPrefix("| `state` |") })
        #expect(ReferencePage.code(String(row)).dropFirst() == LaneStage.allCases.map(\.rawValue)[...])
    }

    @Test("The reference has the members of a report")
    func report() throws {
        let report = try JSONValue.parse([UInt8](RunReport().text(.json).utf8))
        #expect(page.table("Report", "Member")?.names == report.object?.map(\.name))
    }

    @Test("The reference has the properties of both clients with their values", arguments: ClientKind.allCases)
    func properties(client: ClientKind) throws {
        var configuration = WorkerConfiguration(bootstrap: ["broker:9092"])
        configuration.input = .pattern("^events")
        configuration.instance = "INSTANCE"
        let identity = LaneIdentity(group: "GROUP", instance: "INSTANCE", isStable: true, lane: 0)
        var properties = ClientSettings.properties(of: client, configuration: configuration, identity: identity)
        configuration.guarantee = .atLeastOnce
        properties += ClientSettings.properties(of: client, configuration: configuration, identity: identity)
        let common = try #require(page.table("Both clients", "Property"))
        let own = try #require(page.table(client == .consumer ? "Consumer" : "Producer", "Property"))
        #expect(Set(common.names + own.names) == Set(properties.map(\.key)))
        for property in properties {
            let cell = try #require(common.cell(property.key, "Value") ?? own.cell(property.key, "Value"))
            // If a value depends on a setting, the reference describes it as text.
            guard cell.hasPrefix("`") else { continue }
            #expect(ReferencePage.code(cell).first == property.value, "\(property.key)")
        }
    }
}
