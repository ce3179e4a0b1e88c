internal import LinkCoordinator

/// A result that requests of some devices may have.
///
/// A table's results are computed for sets of devices, without a link: the real results are among them, and some of
/// them may have no link. So a property that all of them have is proved.
struct PossibleResult {
    /// A screen that the result may show.
    struct Screen {
        var shown: ShownScreen
        /// The devices to which the screen is shown, or nil for all of the result.
        var cell: DeviceCell?
        /// A Boolean value that indicates whether the screen is shown by every such decision.
        var isSure: Bool
    }

    /// The origin of a URL.
    enum URLOrigin {
        /// The origin that a template names.
        case literal(scheme: String, host: [UInt8], port: UInt16?)
        /// The origin of the received link.
        case link
    }

    /// The devices and queries.
    var cell: DeviceCell
    var outcome: Decision.Outcome
    var screens: [Screen] = []
    /// The origin of the URL, or nil if none is opened.
    var origin: URLOrigin?

    /// Returns the devices for which the result may break a rule.
    ///
    /// - Parameter linkAllows: For the origin of the link: whether some origin passes the test of URLs, and whether
    ///   some does not.
    func violations(
        of rule: RouteProperty.Rule, _ test: ResultTest, linkAllows: (some: Bool, notAll: Bool)
    ) -> [DeviceCell] {
        rule == .never ? cells(holding: test, linkAllows.some) : cells(failing: test, linkAllows.notAll)
    }

    private func cells(holding test: ResultTest, _ linkAllows: Bool) -> [DeviceCell] {
        if let outcomes = test.outcomes, !outcomes.contains(outcome) { return [] }
        if test.external != nil || test.otherExternal != nil {
            switch origin {
            case nil: return []
            case .link: if !linkAllows { return [] }
            case .literal(let scheme, let host, let port): if !test.allows(scheme, host, port) { return [] }
            }
        }
        guard test.namesScreens else { return [cell] }
        var cells: [DeviceCell] = []
        for screen in screens where test.matches(screen.shown) {
            guard let own = screen.cell else { return [cell] }
            if let common = cell.intersection(own) { cells.append(common) }
        }
        return cells
    }

    private func cells(failing test: ResultTest, _ linkFails: Bool) -> [DeviceCell] {
        if let outcomes = test.outcomes, !outcomes.contains(outcome) { return [cell] }
        if test.external != nil || test.otherExternal != nil {
            switch origin {
            case nil: return [cell]
            case .link: if linkFails { return [cell] }
            case .literal(let scheme, let host, let port): if !test.allows(scheme, host, port) { return [cell] }
            }
        }
        guard test.namesScreens else { return [] }
        return screens.contains { $0.isSure && $0.cell == nil && test.matches($0.shown) } ? [] : [cell]
    }
}

extension DeviceCell {
    /// Returns the devices of both cells, or nil if there are none.
    func intersection(_ other: DeviceCell) -> DeviceCell? {
        var common = self
        for (fact, values) in other {
            let both = common[fact].map { $0.intersection(values) } ?? values
            if both.isEmpty { return nil }
            common[fact] = both
        }
        return common
    }
}
