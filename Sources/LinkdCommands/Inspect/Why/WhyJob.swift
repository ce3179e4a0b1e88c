internal import RouteTools

/// A run of `linkd inspect --why`: finds a decision and its event, and resolves the event again.
final class WhyJob {
    private let call: Invocation
    private let settings: Settings
    private let search: WhySearch

    /// Loads the tables and the vendors of the settings.
    init(_ call: Invocation, _ settings: Settings) throws(CommandFailure) {
        let shipped = ShippedFiles(environment: call.environment)
        self.call = call
        self.settings = settings
        search = WhySearch(
            settings, try WhyTables(settings, shipped),
            try LoadedVendors(settings, shipped, opensShortLinks: false, on: call.console))
    }

    /// Finds a decision and prints why it was made.
    ///
    /// - Parameter outputs: The topics of decisions.
    func run(
        _ reference: DecisionReference, _ connection: Connection, outputs: [String]
    ) throws(CommandFailure) -> ExitCode {
        var scan = try TopicScan(connection)
        var archive = try ArchiveReader(settings, connection)
        var progress = ProgressLine(call.console)
        defer { progress.clear() }
        let report = try search.report(reference, &scan, &archive, outputs: outputs) { topic, read in
            progress.show("searching \(topic): \(Counts.grouped(read)) records")
        }
        progress.clear()
        if call.json { report.printJSON(on: call.console.out) } else { report.print(on: call.console) }
        return .success
    }
}
