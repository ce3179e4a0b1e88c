internal import LinkCoordinator

/// An edit of `table.applications`.
///
/// It affects only events that name an application, because the application selects their table.
enum ApplicationEdit {
    /// Returns the edit with its losses, or nil if both tables list the same applications in any order.
    static func group(from old: TableSource, to new: TableSource) -> TableDifference.Group? {
        let (before, after) = (old.applications.map(\.value), new.applications.map(\.value))
        let removed = before.filter { !after.contains($0) }
        let added = after.filter { !before.contains($0) }
        if removed.isEmpty && added.isEmpty { return nil }
        var cause = TableDifference.Cause(location: "table.applications")
        cause.old = removed.isEmpty ? nil : removed.joined(separator: ", ")
        cause.new = added.isEmpty ? nil : added.joined(separator: ", ")
        var group = TableDifference.Group(causes: [cause], changes: [])
        group.losses = removed.map { "events of the application `\($0)` become dead letters (application_unknown)" }
        return group
    }
}
