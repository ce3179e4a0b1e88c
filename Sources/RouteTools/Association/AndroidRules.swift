/// An intent filter of an Android manifest that receives links from other apps and from browsers.
///
/// The attributes of all `<data>` elements of a filter combine with each other.
struct AndroidFilter {
    /// A host with its port.
    struct Host: Hashable {
        /// The host, with `*` at the start for any characters before the rest.
        var name: String
        /// The port, or nil for any.
        var port: String?

        /// Returns a Boolean value that indicates whether a link can have this host.
        ///
        /// Android ignores the case of ASCII letters.
        func matches(_ host: String, _ port: String?) -> Bool {
            if let own = self.port, own != port { return false }
            let text = host.lowercased()
            guard name.hasPrefix("*") else { return text == name.lowercased() }
            return text.hasSuffix(name.dropFirst().lowercased())
        }
    }

    /// A condition of a group: on the path, an item of the query, or the fragment.
    struct Condition {
        /// The part of a link.
        enum Part: String, CaseIterable { case path, query, fragment }
        var part: Part
        var pattern: AndroidPatternText
    }

    /// A `<uri-relative-filter-group>`, of which all conditions must hold.
    struct Group {
        var isAllowed: Bool
        var conditions: [Condition]

        /// Returns a Boolean value that indicates whether all conditions hold for a link.
        func matches(_ link: LinkPieces) -> Bool {
            conditions.allSatisfy { condition in
                switch condition.part {
                case .path: return condition.pattern.matches(LinkPieces.decoded(link.path))
                case .fragment: return link.fragment.map { condition.pattern.matches(LinkPieces.decoded($0)) } ?? false
                case .query:
                    guard let query = link.query.map(LinkPieces.decoded) else { return false }
                    var items = query.split(separator: "&", omittingEmptySubsequences: false)
                    if items.count == 1 { items = query.split(separator: ";", omittingEmptySubsequences: false) }
                    return items.contains { condition.pattern.matches(String($0)) }
                }
            }
        }
    }

    /// A path of a filter.
    struct Path {
        var pattern: AndroidPatternText
        /// The attribute as written.
        var text: String
        var place: AssociationProblem.Place
    }

    /// The schemes, compared exactly.
    var schemes: [String] = []
    /// The hosts; empty for any host, and then paths are ignored.
    var hosts: [Host] = []
    /// The paths; with none, and no groups, every path matches.
    var paths: [Path] = []
    /// The groups, the first of which that matches decides.
    var groups: [Group] = []
    /// A Boolean value that indicates whether Android verifies the hosts.
    var isVerified = false
    /// The location of the filter.
    var place = AssociationProblem.Place()

    /// A Boolean value that indicates whether paths and groups count.
    var readsPath: Bool { !hosts.isEmpty && !(paths.isEmpty && groups.isEmpty) }

    /// Returns a Boolean value that indicates whether the filter can match links with this scheme, host, and port.
    func takes(scheme: String, host: String, port: String?) -> Bool {
        schemes.contains(scheme) && (hosts.isEmpty || hosts.contains { $0.matches(host, port) })
    }

    /// The match of a filter.
    enum Match: Equatable {
        /// The filter has no condition on the path.
        case anyPath
        /// The path with this index matches.
        case path(Int)
        /// A group matches.
        case group
    }

    /// Returns the part of the filter that matches a link, or nil if the filter does not match.
    func match(_ link: LinkPieces) -> Match? {
        guard takes(scheme: link.scheme, host: LinkPieces.decoded(link.host), port: link.port) else { return nil }
        guard readsPath else { return .anyPath }
        let path = LinkPieces.decoded(link.path)
        if let index = paths.firstIndex(where: { $0.pattern.matches(path) }) { return .path(index) }
        return groups.first { $0.matches(link) }?.isAllowed == true ? .group : nil
    }
}

/// A rule of a Dynamic App Link in `assetlinks.json`.
///
/// The first rule that matches decides, and a link without a match is not handed over.
struct DynamicRule {
    /// The pattern of the path, or nil for any.
    var path: AndroidPatternText?
    /// The patterns of items of the query, each of which must be present.
    var query: [(name: String, value: AndroidPatternText)] = []
    /// The pattern of the fragment, or nil for any.
    var fragment: AndroidPatternText?
    /// A Boolean value that indicates whether the links of the rule stay out of the app.
    var isExcluded = false
    /// The location of the rule.
    var place = AssociationProblem.Place()

    /// A Boolean value that indicates whether the rule has conditions other than the path.
    var isConditional: Bool { !query.isEmpty || fragment != nil }

    /// Returns a Boolean value that indicates whether the path of a link matches.
    func matchesPath(_ link: LinkPieces) -> Bool {
        path.map { $0.matches(LinkPieces.decoded(link.path)) } ?? true
    }

    /// Returns a Boolean value that indicates whether the query and the fragment of a link match.
    func matchesRest(_ link: LinkPieces) -> Bool {
        if let fragment {
            guard let own = link.fragment, fragment.matches(LinkPieces.decoded(own)) else { return false }
        }
        let items = LinkPieces.items(link.query ?? "").map {
            (name: LinkPieces.decoded($0.name), value: LinkPieces.decoded($0.value))
        }
        return query.allSatisfy { wanted in
            items.contains { $0.name == wanted.name && wanted.value.matches($0.value) }
        }
    }
}

/// The rules with which Android decides links.
struct AndroidRules {
    /// The filters of the manifest, or nil without a manifest.
    var filters: [AndroidFilter]?
    /// The rules of Dynamic App Links, which narrow the manifest on Android 15 and newer, or nil for none.
    var dynamic: [DynamicRule]?

    /// A decision about a link.
    struct Decision: Equatable {
        /// A Boolean value that indicates whether the app receives the link.
        var isHanded: Bool
        /// The filters that match, each with the part that matches.
        var filters: [Int] = []
        /// The dynamic rule that decided, or nil if there is none.
        var rule: Int?
    }

    /// Decides a link.
    func decide(_ link: LinkPieces) -> Decision {
        var found: [Int] = []
        if let filters {
            found = filters.indices.filter { filters[$0].match(link) != nil }
            if found.isEmpty { return Decision(isHanded: false) }
        }
        guard let dynamic, link.scheme == "https" || link.scheme == "http" else {
            return Decision(isHanded: filters != nil, filters: found)
        }
        guard let rule = dynamic.firstIndex(where: { $0.matchesPath(link) && $0.matchesRest(link) }) else {
            return Decision(isHanded: false, filters: found)
        }
        return Decision(isHanded: !dynamic[rule].isExcluded, filters: found, rule: rule)
    }
}
