/// A use of a part that is newer than the oldest schema version, or that the library does not know.
package struct SchemaUse: Sendable {
    /// The description of the part, as in "the key `x` in a route".
    let part: String
    /// The code of the problem if the library does not know the part.
    let code: TableProblem.Code
    /// The byte offset in the file.
    let offset: Int
    /// The version that introduced the part, or nil if the library has no such part.
    let version: Int?
}

/// The schema version that a table declares, and the parts for which it matters.
package struct TableSchema: Sendable {
    /// The declared version, or nil if it is missing or invalid.
    package var declared: Int?

    /// The byte offset of the declared version.
    package var offset = 0

    /// The uses of newer and unknown parts, in the order in which they were read.
    ///
    /// For each version there are at most as many as problems are reported, so that a large file needs little memory.
    package private(set) var uses: [SchemaUse] = []

    /// The number of uses by version, with 0 for unknown parts.
    private var counts: [Int: Int] = [:]

    /// Adds a use, unless there are enough of its version.
    mutating func add(_ use: SchemaUse) {
        let count = counts[use.version ?? 0, default: 0]
        // One more than is reported shows that the list of problems is truncated.
        if count > ProblemList.maxCount { return }
        counts[use.version ?? 0] = count + 1
        uses.append(use)
    }

    /// Adds the problems of the table's version to those of reading.
    func check(_ versions: SchemaVersions, into problems: inout ProblemList) {
        guard let declared else { return }
        if declared > versions.newest {
            problems = unsupported(declared, versions)
            return
        }
        for use in uses {
            guard let version = use.version else { continue }
            if version > versions.newest {
                problems.error(use.code, at: use.offset, "this release does not know \(use.part)")
            } else if version > declared {
                problems.error(
                    .needsSchemaVersion, at: use.offset,
                    "\(use.part) needs schemaVersion \(version), but the table declares \(declared)",
                    suggestion: "write \"schemaVersion\": \(version) when all apps that read the table support it",
                    schemaVersion: version)
            }
        }
    }

    /// Returns the problems of a table that declares a newer version than is supported: the version, and the unknown
    /// parts.
    ///
    /// All other problems are left out, because they are probably only consequences.
    private func unsupported(_ declared: Int, _ versions: SchemaVersions) -> ProblemList {
        var problems = ProblemList()
        let advice = "use a release that supports schemaVersion \(declared)"
        problems.error(
            .unsupportedSchemaVersion, at: offset,
            "the table declares schemaVersion \(declared), but this release supports the versions "
                + "\(SchemaVersions.oldest) to \(versions.newest)",
            suggestion: advice, schemaVersion: declared)
        for use in uses where (use.version ?? .max) > versions.newest {
            problems.error(
                use.code, at: use.offset, "this release does not know \(use.part)", suggestion: advice,
                schemaVersion: declared)
        }
        return problems
    }

    /// Returns the problems that a library has with the table if `newest` is the newest version that it supports.
    ///
    /// The problems that this library has with the table are not included.
    package func problems(for newest: Int, _ versions: SchemaVersions = .current) -> ProblemList {
        var problems = ProblemList()
        let declared = declared ?? versions.newest
        if declared > versions.newest { return problems }
        let newer = uses.filter { use in use.version.map { $0 > newest } ?? false }
        if declared > newest {
            let needed = newer.compactMap(\.version).max()
            problems.error(
                .unsupportedSchemaVersion, at: offset,
                "the table declares schemaVersion \(declared), but the check is for schemaVersion \(newest)",
                suggestion: needed == nil
                    ? "write \"schemaVersion\": \(newest), because the table uses no newer key or type"
                    : "remove the newer keys and types, or update the apps before the table",
                schemaVersion: declared)
        }
        for use in newer where use.version ?? 0 <= declared {
            problems.error(
                .needsSchemaVersion, at: use.offset,
                "\(use.part) needs schemaVersion \(use.version ?? 0), but the check is for schemaVersion \(newest)",
                suggestion: "remove it, or update the apps before the table", schemaVersion: use.version)
        }
        return problems
    }
}
