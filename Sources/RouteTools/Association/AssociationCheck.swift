package import RouteAnalysis
package import LinkCoordinator

/// A comparison of a table with the association files of an app.
///
/// It finds the routes whose links the system hands to the app only in part or not at all, and the parts of the files
/// that hand over links that no route knows. Every result has a link as evidence. The table and the rules of the system
/// have decided this link.
package struct AssociationCheck {
    /// A system that hands links to apps.
    package enum System: String, Sendable, CaseIterable {
        /// Apple's systems, with an apple-app-site-association file.
        case apple = "ios"
        /// Android, with the intent filters of a manifest.
        case android
        /// Android 15 and newer with Google services, where the rules of `assetlinks.json` narrow the manifest.
        case androidDynamic = "android_dynamic"

        /// The name of the system in messages.
        package var name: String {
            switch self {
            case .apple: "iOS"
            case .android: "Android"
            case .androidDynamic: "Android 15 with dynamic rules"
            }
        }
    }

    /// The file in which a finding is located.
    package enum File: String, Sendable {
        case aasa, manifest, assetlinks
    }

    /// A difference between the files and the table.
    package struct Finding: Sendable, Equatable {
        /// The stable code.
        package var code: AssociationProblem.Code
        package var system: System
        package var message: String
        /// A link that demonstrates the finding, or nil if none is known.
        package var link: String?
        /// The id of the route, or nil for a finding about links that no route knows.
        package var route: String?
        /// A Boolean value that indicates whether the finding is proved for all links in their usual spelling.
        ///
        /// Otherwise it holds for the links that were tried.
        package var isProved: Bool
        /// The file with the location of the finding, or nil for a finding about a route.
        package var file: File?
        /// The line in the file, starting at 1, or 0 for none.
        package var line = 0
        /// The column in the file in Unicode scalars, starting at 1, or 0 for none.
        package var column = 0
        /// The JSON pointer in the file, or nil for none.
        package var pointer: String?
    }

    /// The result for one system.
    package struct Report: Sendable {
        package var system: System
        /// The number of routes that have links of a kind that the system can hand over.
        package var routes = 0
        /// The number of routes with at least one link that the system hands to the app.
        package var handed = 0
        /// The number of routes with some links that the system hands to the app and some that it does not.
        package var partly = 0
        /// The number of components or filter paths that were compared.
        package var parts = 0
        /// A Boolean value that indicates whether every answer is proved.
        package var isProved = true
        /// A Boolean value that indicates whether a search ended at its limit.
        package var isCut = false
        /// The findings: first about routes in the order of the table, then about parts of the files.
        package var findings: [Finding] = []
    }

    /// The maximum size of a file, in bytes.
    package static var maxBytes: Int { AssociationLimits.maxBytes }

    private let table: RouteTable
    private let apple: AppleFile?
    private let manifest: ManifestFile?
    private let assetLinks: AssetLinksFile?
    private let origins: HandingOrigins
    private let queries: [Int: String]
    private var budget: WorkBudget
    /// The limit on the work of the searches for links that are not handed over.
    private var partBudget = WorkBudget(perSearch: 2_000_000, total: 20_000_000)
    /// The limit on the work of trying sample links.
    private var sampleBudget = WorkBudget(perSearch: 20_000_000, total: 20_000_000)

    /// Creates a check of a table with the files that are given.
    ///
    /// - Parameters:
    ///   - hosts: The only hosts of web links that are compared, or none for all hosts of the table.
    ///   - budget: The limit on the work of the searches.
    package init(
        _ table: RouteTable, apple: AppleFile? = nil, manifest: ManifestFile? = nil,
        assetLinks: AssetLinksFile? = nil, hosts: [String] = [],
        budget: WorkBudget = WorkBudget(perSearch: 8_000_000, total: 60_000_000)
    ) {
        self.table = table
        self.apple = apple
        self.manifest = manifest
        self.assetLinks = assetLinks
        self.budget = budget
        origins = HandingOrigins(table.source, hosts: hosts.map { $0.lowercased() })
        var queries: [Int: String] = [:]
        for (index, route) in table.source.routes.enumerated() {
            let link = SampleLinks.first(of: route, in: table)
            guard let link, let mark = link.firstIndex(of: "?") else { continue }
            queries[index] = String(link[link.index(after: mark)...])
        }
        self.queries = queries
    }

    /// Returns a Boolean value that indicates whether a table reads https links with a host.
    package static func isHost(_ host: String, of table: RouteTable) -> Bool {
        !HandingOrigins(table.source, hosts: [host.lowercased()]).apple().isEmpty
    }

    /// The warnings about files that do not fit each other.
    package var fileProblems: [AssociationProblem] {
        guard let assetLinks, let name = manifest?.packageName, !assetLinks.statements.isEmpty else { return [] }
        if assetLinks.statements.contains(where: { $0.package == name }) { return [] }
        return [
            AssociationProblem(
                .warning, .notAssociated,
                "no statement names the package \(name) of the manifest, so its web links open in a browser")
        ]
    }

    /// Compares the table with each system that the files describe.
    package mutating func run() -> [Report] {
        var reports: [Report] = []
        if let apple { reports.append(report(apple)) }
        if let manifest { reports.append(report(.android, AndroidRules(filters: manifest.filters))) }
        if let dynamic = dynamicRules {
            reports.append(report(.androidDynamic, AndroidRules(filters: manifest?.filters, dynamic: dynamic)))
        }
        return reports
    }

    private var dynamicRules: [DynamicRule]? {
        let statements = assetLinks?.selected.filter { $0.rules != nil } ?? []
        guard let name = manifest?.packageName else { return statements.first?.rules }
        return statements.first { $0.package == name }?.rules
    }

    // MARK: Systems

    private mutating func report(_ file: AppleFile) -> Report {
        let platform = ApplePlatform(rules: file.rules)
        var result = HandingResult()
        for origin in origins.apple() {
            var search = PathSearch(
                table, TableLanguage(table.source, origin), platform, origin, queries: queries)
            search.run(&budget, into: &result)
            search.findParts(&partBudget, into: &result)
        }
        trySamples(&result, platform) { $0.scheme == "https" && $0.port == nil }
        var report = self.report(.apple, result, parts: file.rules.handingNumbers.count)
        report.isCut = result.isExhausted
        for (number, link) in result.unknown.sorted(by: { $0.key < $1.key }) {
            let rule = file.rules.rules[number]
            report.findings.append(
                unknown(.apple, .aasa, "the component `\(rule.path)`", rule.place, link))
        }
        return report
    }

    private mutating func report(_ system: System, _ rules: AndroidRules) -> Report {
        var result = HandingResult()
        let units = AndroidPlatform.units(rules)
        let (found, isCut) = origins.android(rules.filters)
        result.isExhausted = isCut
        for origin in found {
            let platform = AndroidPlatform(rules, units: units, origin)
            var search = PathSearch(
                table, TableLanguage(table.source, origin), platform, origin, queries: queries)
            search.run(&budget, into: &result)
            search.findParts(&partBudget, into: &result)
        }
        let any = AndroidPlatform(rules, units: units, HandingOrigin(scheme: "", host: ""))
        if rules.filters != nil {
            // No filter matches a scheme that the manifest does not list.
            result.routes = origins.selectedRoutes()
        }
        let schemes = rules.filters.map { Set($0.flatMap(\.schemes)) } ?? ["https", "http"]
        trySamples(&result, any) { schemes.contains($0.scheme) }
        let isSearchCut = result.isExhausted
        if manifest?.isUnresolved == true { result.isExhausted = true }
        var report = self.report(system, result, parts: units.count) { link in
            LinkPieces(link).flatMap(rules.missing)
        }
        report.isCut = isSearchCut
        for (number, link) in result.unknown.sorted(by: { $0.key < $1.key }) {
            // A value that is not known, such as a placeholder, could exclude the link.
            if let filter = units[number].filter, rules.filters?[filter].isTooWide == true { continue }
            report.findings.append(unknown(system, units[number], rules, link))
        }
        return report
    }

    /// Tries the sample links of routes that the searches did not find.
    ///
    /// - Parameter canHand: Returns a Boolean value that indicates whether the system could hand over such a link.
    private mutating func trySamples(
        _ result: inout HandingResult, _ platform: some HandingPlatform, canHand: (LinkPieces) -> Bool
    ) {
        for (index, route) in table.source.routes.enumerated() where result.routes.contains(index) {
            if result.links[index] != nil, result.parts[index] != nil { continue }
            for link in SampleLinks.all(of: route, in: table) {
                sampleBudget.begin()
                guard (try? sampleBudget.spend(platform.total)) != nil else {
                    result.isExhausted = true
                    return
                }
                guard let pieces = LinkPieces(link), origins.isSelected(pieces) else { continue }
                if !platform.handing(pieces).isEmpty {
                    if result.links[index] == nil { result.links[index] = (link, false) }
                } else if canHand(pieces), result.parts[index] == nil, !pieces.path.contains("//"),
                    pieces.path.count < 2 || !pieces.path.hasSuffix("/")
                {
                    result.parts[index] = link
                }
            }
        }
    }

    // MARK: Findings

    /// - Parameter missing: Returns what the files lack for a link that is not handed over, or nil if it is not known.
    private func report(
        _ system: System, _ result: HandingResult, parts: Int, missing: (String) -> String? = { _ in nil }
    ) -> Report {
        var report = Report(system: system)
        report.parts = parts
        report.isProved = !result.isExhausted
        for (index, route) in table.source.routes.enumerated() where result.routes.contains(index) {
            if case .exclude = route.action { continue }
            report.routes += 1
            if let found = result.links[index] {
                report.handed += 1
                if !found.isUnusual, let link = result.parts[index] {
                    report.partly += 1
                    report.findings.append(
                        Finding(
                            code: .partlyHanded, system: system,
                            message: "\(system.name) hands only a part of the links of route \(route.id.value) to the "
                                + "app, such as \(found.link)", link: link, route: route.id.value, isProved: true))
                }
                guard found.isUnusual else { continue }
                report.findings.append(
                    Finding(
                        code: .unusualOnly, system: system,
                        message: "\(system.name) hands over the links of route \(route.id.value) only with additional "
                            + "slashes",
                        link: found.link, route: route.id.value,
                        isProved: !result.isExhausted && !result.openRoutes.contains(index)))
                continue
            }
            let isProved = !result.isExhausted && !result.openRoutes.contains(index)
            if !isProved { report.isProved = false }
            report.findings.append(never(system, route, isProved: isProved, missing: missing))
        }
        if !result.openUnits.subtracting(result.unknown.keys).isEmpty { report.isProved = false }
        return report
    }

    private func never(
        _ system: System, _ route: TableSource.Route, isProved: Bool, missing: (String) -> String?
    ) -> Finding {
        let links = SampleLinks.all(of: route, in: table)
        let link = links.first { system != .apple || $0.hasPrefix("https:") } ?? links.first
        let words = isProved ? "hands no link" : "hands none of the links that were tried"
        return Finding(
            code: .neverHanded, system: system,
            message: "\(system.name) \(words) of route \(route.id.value) to the app"
                + (link.flatMap(missing).map { ": " + $0 } ?? ""), link: link,
            route: route.id.value, isProved: isProved)
    }

    private func unknown(
        _ system: System, _ file: File, _ part: String, _ place: AssociationProblem.Place, _ link: String
    ) -> Finding {
        Finding(
            code: .unknownLinks, system: system,
            message: "\(system.name) hands links to the app that no route knows, because of \(part)", link: link,
            route: nil, isProved: true, file: file, line: place.line, column: place.column, pointer: place.pointer)
    }

    private func unknown(
        _ system: System, _ unit: AndroidPlatform.Unit, _ rules: AndroidRules, _ link: String
    ) -> Finding {
        let filters = rules.filters ?? []
        switch unit {
        case .anyPath(let filter):
            return unknown(system, .manifest, "a filter for every path", filters[filter].place, link)
        case .path(let filter, let index):
            let path = filters[filter].paths[index]
            return unknown(system, .manifest, "`\(path.text)`", path.place, link)
        case .group(let filter, _):
            return unknown(system, .manifest, "a group of a filter", filters[filter].place, link)
        case .rule(let index):
            let rule = rules.dynamic?[index]
            return unknown(
                system, .assetlinks, "the component `\(rule?.path?.text ?? "*")`", rule?.place ?? .init(), link)
        }
    }
}
