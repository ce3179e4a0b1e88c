public import LinkCoordinator

extension RouteTable {
    /// Returns the different decisions of this table compared to an older one.
    ///
    /// Every change has a request and a device that were resolved with both tables, so there are no false alarms. If
    /// `unproved` and `sampled` are empty, all other decisions are equal for all links.
    public func difference(from old: RouteTable) -> TableDifference {
        var search = DifferenceSearch(old: old, new: self, budget: WorkBudget())
        search.run()
        var difference = search.difference
        if !difference.changes.isEmpty {
            var causes = DifferenceCauses([old, self])
            difference.groups = causes.groups(of: difference.changes)
        }
        if let group = ApplicationEdit.group(from: old.source, to: source) { difference.add(group) }
        return difference
    }
}
