internal import RouteAnalysis
internal import RouteTools
internal import StrictJSON

/// An application that two tables list, with both places.
///
/// A worker refuses such tables, because every event that names the application would become a dead letter.
struct SharedApplication {
    /// A place in the file of a table.
    struct Place {
        /// The path of the file.
        var path: String
        /// The location in the file.
        var location: JSONLocation

        /// The place as `FILE:LINE:COLUMN`.
        var text: String { "\(Escaping.visible(path)):\(location.line):\(location.column)" }
    }

    /// The code of the problem in the log and in the JSON of a check.
    static let code = "shared_application"
    /// The next step for the author.
    static let advice = "list the application in only one of the tables"

    /// The place in the table that was loaded first.
    var first: Place
    /// The place in the other table.
    var second: Place
    /// The problem as one sentence without a period.
    var text: String

    /// Returns the applications that two of the tables list.
    ///
    /// The conflicts refer to tables by their position in `files`.
    static func all(
        _ conflicts: [TableConflict], in files: [(path: String, json: [UInt8])]
    ) -> [SharedApplication] {
        conflicts.compactMap { conflict in
            guard let offsets = conflict.offsets else { return nil }
            let (first, second) = (files[conflict.tables.first], files[conflict.tables.second])
            return SharedApplication(
                first: Place(path: first.path, location: JSONLocation.locate(offset: offsets.first, in: first.json)),
                second: Place(
                    path: second.path, location: JSONLocation.locate(offset: offsets.second, in: second.json)),
                text: conflict.text)
        }
    }

    /// The problem with both places.
    var textWithPlaces: String { "\(Escaping.visible(text)) (\(first.text), \(second.text))" }

    /// The failure that ends the command with exit code 65.
    var failure: CommandFailure { CommandFailure(.badData, textWithPlaces, advice: Self.advice) }
}

extension LoadedTables {
    /// The applications that two of the tables list.
    var sharedApplications: [SharedApplication] {
        SharedApplication.all(conflicts, in: files.map { ($0.path, $0.json) })
    }
}
