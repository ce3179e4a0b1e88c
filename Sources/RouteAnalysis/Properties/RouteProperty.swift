package import LinkCoordinator
internal import ByteStorage

/// A property of a table that its owner states: which results some requests must never, or always, have.
package struct RouteProperty: Sendable {
    /// The rule for the results.
    package enum Rule: String, Sendable {
        /// No request has such a result.
        case never
        /// Every request has such a result.
        case always
    }

    /// The form of a request.
    package enum Form: String, Sendable, CaseIterable { case link, path, route, payload }

    /// The name of the property.
    package var id: Located<String>
    /// A sentence for people, or nil.
    package var text: String?
    /// The forms of requests that the property covers.
    package var forms: Set<Form> = Set(Form.allCases)
    /// The patterns of the links that the property covers, or empty for all links.
    package var links: [TableSource.RoutePattern] = []
    /// The condition of the devices and queries that the property covers.
    package var when: TableSource.Condition?
    /// The claims that the devices must not have.
    package var withoutClaims: [String] = []
    /// The rule.
    package var rule: Rule
    /// The results.
    package var result: ResultTest

    /// A Boolean value that indicates whether the property covers only requests with a link.
    var needsLink: Bool { !links.isEmpty || when?.query.isEmpty == false }
}

/// A description of results.
///
/// Every part that is given must hold.
package struct ResultTest: Sendable {
    /// A place where a decision names a screen.
    package enum Place: String, Sendable, CaseIterable {
        /// An entry of the stack to show.
        case stack
        /// An entry of the stack that a guard shows instead.
        case deferred
        /// A screen whose view displays an entry.
        case view
        /// A screen of the notice.
        case notice
    }

    /// The outcomes, or nil for any.
    package var outcomes: Set<Decision.Outcome>?
    /// The screens that fulfill the test if one of them is shown, or nil for any.
    package var screens: [ScreenTest]?
    /// The presentations that fulfill the test if the screen has one of them, or nil for any.
    package var presents: Set<Presentation>?
    /// The places that count for `screens` and `presents`.
    package var places = Set(Place.allCases)
    /// The origins that fulfill the test if the opened URL has one of them, or nil for any.
    package var external: [OriginTest]?
    /// The origins that the opened URL must not have, or nil for none.
    package var otherExternal: [OriginTest]?

    /// A Boolean value that indicates whether the test is about screens.
    var namesScreens: Bool { screens != nil || presents != nil }

    /// A Boolean value that indicates whether the test is about the URL that is opened, or about whether one is.
    var dependsOnURL: Bool { external != nil || otherExternal != nil || outcomes != nil }
}

/// A screen, or all screens of a coordinator.
package struct ScreenTest: Sendable {
    /// The name of the coordinator.
    package var coordinator: String
    /// The name of the screen, or nil for every screen.
    package var screen: String?
}

/// A host rule with a scheme.
package struct OriginTest: Sendable {
    /// The scheme in lowercase, or nil for any.
    package var scheme: String?
    /// The host.
    package var host: HostRule

    /// Returns a Boolean value that indicates whether a URL with these parts has the origin.
    ///
    /// - Parameters:
    ///   - scheme: The scheme in lowercase.
    ///   - host: The host in lowercase.
    ///   - port: The port, or nil for the default port of the scheme, which a rule can also write.
    func matches(_ scheme: String, _ host: [UInt8], _ port: UInt16?) -> Bool {
        (self.scheme == nil || self.scheme == scheme)
            && self.host.matches(host: host, port: port ?? OriginHosts.defaultPort(of: scheme))
    }
}

/// A screen that a decision shows.
struct ShownScreen {
    var place: ResultTest.Place
    var coordinator: String
    var screen: String
    var present: Presentation
}

/// The names of a table's screens, to find the screens that a decision shows.
struct ScreenNames {
    private let source: TableSource
    private let names: TableNames
    /// The coordinators that have a screen with a name.
    private let owners: [String: [String]]

    init(_ source: TableSource, _ names: TableNames) {
        self.source = source
        self.names = names
        var owners: [String: [String]] = [:]
        for coordinator in source.coordinators {
            for screen in coordinator.screens { owners[screen.name.value, default: []].append(coordinator.name.value) }
        }
        self.owners = owners
    }

    /// Returns the screens of an entry: the entry itself, and the screens that its view can belong to.
    ///
    /// A view is the name of a screen. It belongs to the entry's own coordinator if that has such a screen.
    func shown(
        _ place: ResultTest.Place, _ coordinator: String, _ screen: String, view: String?, _ present: Presentation
    ) -> [ShownScreen] {
        let own = ShownScreen(place: place, coordinator: coordinator, screen: screen, present: present)
        guard let view else { return [own] }
        let all = owners[view] ?? []
        return [own]
            + (all.contains(coordinator) ? [coordinator] : all).map {
                ShownScreen(place: .view, coordinator: $0, screen: view, present: present)
            }
    }

    /// Returns the screens that a decision shows.
    func shown(_ decision: Decision) -> [ShownScreen] {
        let place: ResultTest.Place = decision.outcome == .deferred ? .deferred : .stack
        var all = decision.stack.flatMap { shown(place, $0.coordinator, $0.screen, view: $0.view, $0.present) }
        let notice = decision.notice?.split(separator: "/").map(String.init) ?? []
        for entry in StaticStack.entries(of: notice, in: source, names: names) {
            let coordinator = source.coordinators[entry.coordinator]
            let screen = coordinator.screens[entry.screen]
            all += shown(
                .notice, coordinator.name.value, screen.name.value, view: screen.view?.value, entry.present)
        }
        return all
    }
}

extension ResultTest {
    /// Returns a Boolean value that indicates whether a decision is one of the results.
    func holds(for decision: Decision, _ names: ScreenNames) -> Bool {
        if let outcomes, !outcomes.contains(decision.outcome) { return false }
        if namesScreens, !names.shown(decision).contains(where: matches) { return false }
        if external == nil && otherExternal == nil { return true }
        guard let url = decision.url, decision.outcome == .external else { return false }
        return Array(url.utf8).withUnsafeBufferPointer { bytes in
            guard let url = WebURL(ByteView(bytes), allowsSpaces: true), let host = WebURL.normalHost(url.host) else {
                return external == nil
            }
            return allows(url.scheme.string.lowercased(), host, url.port)
        }
    }

    /// Returns a Boolean value that indicates whether a shown screen passes the test.
    func matches(_ shown: ShownScreen) -> Bool {
        guard places.contains(shown.place) else { return false }
        if let presents, !presents.contains(shown.present) { return false }
        guard let screens else { return true }
        return screens.contains {
            $0.coordinator == shown.coordinator && ($0.screen == nil || $0.screen == shown.screen)
        }
    }

    /// Returns a Boolean value that indicates whether a URL with these parts passes the test.
    func allows(_ scheme: String, _ host: [UInt8], _ port: UInt16?) -> Bool {
        if let external, !external.contains(where: { $0.matches(scheme, host, port) }) { return false }
        return otherExternal?.contains { $0.matches(scheme, host, port) } != true
    }
}
