public import LinkCoordinator

extension RouteTable {
    /// Returns the different decisions of this table compared to an older one.
    ///
    /// Every change has a request and a device that were resolved with both tables, so there are no false alarms. If
    /// `unproved` and `sampled` are empty, all other decisions are equal for all links.
    public func difference(from old: RouteTable) -> TableDifference { difference(from: old) { false } }

    /// Returns the different decisions of this table compared to an older one, as far as they are found before the
    /// search is ended.
    ///
    /// - Parameters:
    ///   - old: The older table.
    ///   - isOver: A function that returns true to end the search after the current set of links. `isCut` then is true,
    ///     and the causes of the changes can be less exact.
    package func difference(from old: RouteTable, until isOver: () -> Bool) -> TableDifference {
        var search = DifferenceSearch(old: old, new: self, budget: WorkBudget())
        let isCut = !search.run(until: isOver)
        var difference = search.difference
        difference.isCut = isCut
        if !difference.changes.isEmpty {
            var causes = DifferenceCauses([old, self])
            difference.groups = causes.groups(of: difference.changes, until: isOver)
        }
        if let group = ApplicationEdit.group(from: old.source, to: source) { difference.add(group) }
        return difference
    }
}
