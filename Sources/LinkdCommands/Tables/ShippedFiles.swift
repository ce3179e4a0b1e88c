/// The files that come with linkd: route tables and samples.
struct ShippedFiles: Sendable {
    private let directories: [String]
    private let searched: [String]

    /// Creates a search in `LINKD_HOME`, then in `../share/linkd` relative to the directory of the executable, then in
    /// `config` in the working directory.
    init(
        environment: [String: String], executable: String? = Platform.executablePath,
        directory: String = Platform.currentDirectory
    ) {
        var directories: [String] = []
        var searched: [String] = []
        if let home = environment["LINKD_HOME"], !home.isEmpty {
            directories.append(home)
            searched.append("LINKD_HOME \(home)")
        } else {
            searched.append("LINKD_HOME (not set)")
        }
        if let executable {
            let parts = executable.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
            directories.append((parts.dropLast(2) + ["share", "linkd"]).joined(separator: "/"))
        }
        directories.append(directory + "/config")
        self.directories = directories
        self.searched = searched + directories.suffix(executable == nil ? 1 : 2)
    }

    /// Returns the path of a file or directory.
    ///
    /// A failure lists all searched directories and has exit code 78.
    func path(_ name: String) throws(CommandFailure) -> String {
        for directory in directories where Platform.exists(directory + "/" + name) { return directory + "/" + name }
        throw CommandFailure(
            .configuration, "`\(name)`, which comes with linkd, was not found in: \(searched.joined(separator: ", "))",
            advice: "set LINKD_HOME to the directory that contains it, or specify your own file")
    }

    /// Returns the paths of the route tables: all JSON files in `routes` and its subdirectories.
    func tables() throws(CommandFailure) -> [String] {
        let root = try path("routes")
        var found: [String] = []
        for name in Platform.names(in: root) {
            if name.hasSuffix(".json") { found.append(root + "/" + name) }
            for inner in Platform.names(in: root + "/" + name) where inner.hasSuffix(".json") {
                found.append(root + "/" + name + "/" + inner)
            }
        }
        guard !found.isEmpty else {
            throw CommandFailure(
                .configuration, "\(root) contains no route table",
                advice: "specify your own with --table FILE")
        }
        return found
    }
}

/// The route tables that a command reads.
enum TablePaths {
    /// Returns the files in the arguments of a command, or else the files in its settings.
    static func of(_ call: Invocation) throws(CommandFailure) -> [String] {
        // Settings are read in any case, so that wrong ones are reported.
        let settings = try call.settings()
        if !call.operands.isEmpty { return call.operands }
        return try of(settings, ShippedFiles(environment: call.environment))
    }

    /// Returns the files in the settings, or those that come with linkd.
    static func of(_ settings: Settings, _ shipped: ShippedFiles?) throws(CommandFailure) -> [String] {
        let named = settings.list("tables")
        if !named.isEmpty { return named }
        if let shipped { return try shipped.tables() }
        throw CommandFailure(
            .usage, "no route table is specified",
            advice: "pass --table FILE, for example one of config/routes, or --table-directory")
    }
}
