/// The files of a worker's route tables.
struct TableFiles {
    /// The files that are named one by one.
    let named: [String]

    /// Creates the list of the files in the settings.
    init(_ settings: Settings) throws(CommandFailure) { named = try LoadedTables.paths(settings, nil) }

    /// Creates a list.
    init(named: [String]) { self.named = named }

    /// Returns the paths of the files.
    func paths() throws(CommandFailure) -> [String] { named }
}
