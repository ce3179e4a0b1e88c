internal import DispatchWorker
internal import LinkCoordinator
internal import LinkDecider

/// A candidate that was loaded, with the bytes of its file.
struct LoadedCanary {
    /// The plan.
    let plan: CanaryPlan
    /// The description of the table.
    let entry: ServedTable
    /// The bytes of the file.
    let json: [UInt8]
}

extension CanaryFile {
    /// Loads the candidate, and logs its problems.
    ///
    /// A refused one, and one whose id not exactly one of the served tables has, ends with exit code 65. A file with
    /// the contents of one of the `known` tables is not checked again.
    func load(
        for served: [RouteTable], known: [RouteTable], after earlier: ServedTable?, log: Log
    ) throws(CommandFailure) -> LoadedCanary {
        let loaded = try LoadedTables(paths: [path], known: known) { file, problem in log.log(problem, of: file) }
        let candidate = loaded.tables[0]
        let time = earlier?.hash == candidate.hash ? earlier?.loadedAtMilliseconds : nil
        return LoadedCanary(
            plan: try plan(candidate, for: served),
            entry: ServedTable(
                id: candidate.id, version: candidate.version, hash: candidate.hash, path: path,
                loadedAtMilliseconds: time ?? SystemClock.wallMilliseconds()),
            json: loaded.files[0].json)
    }
}
