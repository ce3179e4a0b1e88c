/// The files that come with linkd: route tables and samples.
struct ShippedFiles {
    private let places: [String]
    private let words: [String]

    /// Searches `LINKD_HOME`, or `../share/linkd` beside the executable, or `config` in the working directory.
    init(
        environment: [String: String], executable: String? = Platform.executablePath,
        directory: String = Platform.currentDirectory
    ) {
        var places: [String] = []
        var words: [String] = []
        if let home = environment["LINKD_HOME"], !home.isEmpty {
            places.append(home)
            words.append("LINKD_HOME \(home)")
        } else {
            words.append("LINKD_HOME (not set)")
        }
        if let executable {
            let parts = executable.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
            places.append((parts.dropLast(2) + ["share", "linkd"]).joined(separator: "/"))
        }
        places.append(directory + "/config")
        self.places = places
        self.words = words + places.suffix(executable == nil ? 1 : 2)
    }

    /// Returns the path of a file or directory. A failure lists all searched directories and has exit code 78.
    func path(_ name: String) throws(CommandFailure) -> String {
        for place in places where Platform.exists(place + "/" + name) { return place + "/" + name }
        throw CommandFailure(
            .configuration, "`\(name)`, which comes with linkd, was not found in: \(words.joined(separator: ", "))",
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
            throw CommandFailure(.configuration, "\(root) contains no route table",
            advice: "specify your own with --table FILE")
        }
        return found
    }
}
