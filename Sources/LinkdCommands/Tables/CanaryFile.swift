internal import DispatchWorker
internal import LinkCoordinator
internal import RouteTools

/// The file of a candidate for a served table, and the shares of devices.
struct CanaryFile: Sendable {
    /// The path of the file.
    let path: String
    /// The share of devices for which the candidate decides, in hundredths of a percent.
    let percent: Int
    /// The share of the other devices that are compared, in hundredths of a percent.
    let compare: Int
}

extension CanaryFile {
    /// Creates the file in the settings, or returns nil if they have none.
    init?(_ settings: Settings) {
        guard let path = settings.text("canary.table") else { return nil }
        self.init(
            path: path, percent: Int(settings.number("canary.percent")),
            compare: Int(settings.number("canary.compare")))
    }

    /// Loads the candidate, and logs its problems.
    ///
    /// A refused one, and one whose id not exactly one of the served tables has, ends with exit code 65. A file with
    /// the contents of one of the `known` tables is not checked again.
    func load(
        for served: [RouteTable], known: [RouteTable], after earlier: CanaryPlan?, log: Log
    ) throws(CommandFailure) -> LoadedCanary {
        let loaded = try LoadedTables(paths: [path], known: known) { file, problem in log.log(problem, of: file) }
        let time = earlier.flatMap {
            $0.candidate.hash == loaded.tables[0].hash ? $0.entry.loadedAtMilliseconds : nil
        }
        return LoadedCanary(
            plan: try plan(
                loaded.tables[0], for: served, loadedAt: time ?? SystemClock.wallMilliseconds()),
            json: loaded.files[0].json)
    }

    /// Returns the plan with a candidate.
    ///
    /// A candidate whose id not exactly one of the served tables has ends with exit code 65.
    func plan(
        _ candidate: RouteTable, for served: [RouteTable], loadedAt milliseconds: Int64
    ) throws(CommandFailure) -> CanaryPlan {
        let bases = served.filter { $0.id == candidate.id }
        guard bases.count == 1 else {
            let found = bases.isEmpty ? "no served table has" : "\(bases.count) served tables have"
            throw CommandFailure(
                .badData,
                "canary.table \(Escaping.visible(path)) has the id `\(Escaping.visible(candidate.id))`, which \(found)",
                advice: "set canary.table to a candidate for one of the served tables, with its `table.id`")
        }
        return CanaryPlan(
            base: bases[0], candidate: candidate,
            entry: ServedTable(
                id: candidate.id, version: candidate.version, hash: candidate.hash, path: path,
                loadedAtMilliseconds: milliseconds),
            percent: percent, compare: compare)
    }
}

/// A candidate that was loaded, with the bytes of its file.
struct LoadedCanary {
    /// The plan.
    let plan: CanaryPlan
    /// The bytes of the file.
    let json: [UInt8]
}
