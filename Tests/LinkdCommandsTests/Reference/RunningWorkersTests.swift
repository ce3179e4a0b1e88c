internal import TestSupport
internal import Testing

@testable internal import DispatchWorker
@testable internal import LinkdCommands

/// The guide for running workers against the reference and the code.
@Suite struct RunningWorkersTests {
    static let catalog = "Sources/DispatchWorker/DispatchWorker.docc"
    let page: ReferencePage
    let emergencies: ReferencePage.Table

    init() throws {
        page = try ReferencePage(path: "\(Self.catalog)/RunningWorkers.md")
        emergencies = try #require(page.table("Emergencies", "Symptom"))
    }

    @Test("Each line of the log in the table of emergencies exists, and so does its text")
    func lines() throws {
        let reference = try ReferencePage(path: "\(Self.catalog)/WorkerReference.md")
        let events = Set(try #require(reference.table("Log", "Event")).names)
        let night = try ReferencePage(path: "\(Self.catalog)/ANightOnCall.md").text
        let sources = try Checkout.trackedFiles()
            .filter { $0.path.hasPrefix("Sources/") && $0.suffix == "swift" }.compactMap(\.text)
        let cells = emergencies.column("Log line")
        #expect(cells.count >= 15)
        for cell in cells where cell != "none" {
            let names = ReferencePage.code(cell)
            #expect(!names.isEmpty && names.allSatisfy(events.contains), "\(cell)")
            for text in cell.matches(of: /"([^"]+)"/).map({ String($0.1) }) {
                #expect(night.contains(text) || sources.contains { $0.contains(text) }, "\(text)")
            }
        }
    }

    @Test("Each metric of the guide exists")
    func metrics() {
        let known = Set(MetricCatalog.all.map(\.description.name))
        let found = page.text.matches(of: /\b(?:linkd|process)_[a-z_]+/).map { String($0.0) }
        #expect(found.count >= 20)
        #expect(found.filter { !known.contains($0) } == [])
        for cell in emergencies.column("Metric") where !cell.hasPrefix("none") {
            #expect(ReferencePage.code(cell).first.map(known.contains) == true, "\(cell)")
        }
    }

    @Test("Each exit code of the guide is one of a worker, and each with a cause outside of it has a row")
    func codes() {
        let found = page.text.matches(of: /\| Ends with ([0-9]+)/).compactMap { Int32($0.1) }
        #expect(found.allSatisfy { WorkerExitCode(rawValue: $0) != nil })
        #expect(Set(found) == [65, 75, 77, 78, 79, 81])
    }

    @Test("Each flag and setting of the guide exists")
    func flags() throws {
        let known = Set(CommandIndex.all.flatMap(\.allFlags).flatMap(\.names))
        // These are flags of the benchmarks.
        let other: Set = ["--broker", "--peers"]
        let found = page.text.matches(of: /--[a-z][a-z-]+/).map { String($0.0) }.filter { !other.contains($0) }
        #expect(found.count >= 4)
        #expect(found.filter { !known.contains($0) } == [])
        let settings = try ReferencePage(path: "Sources/LinkdCommands/Documentation.docc/Settings.md").text
        for name in ["commit.interval", "commit.bytes", "limits.output.bytes", "data.loss", "canary.table"] {
            #expect(page.text.contains("`\(name)`") && settings.contains("| `\(name)` |"), "\(name)")
        }
    }
}
