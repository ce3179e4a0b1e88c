internal import RouteAnalysis
internal import LinkCoordinator
internal import StrictJSON

/// Example links of a route: the table's own examples, resolved again, and generated ones.
struct RouteExamples {
    /// A link with its result.
    struct Example {
        var link: String
        /// The facts of the device as JSON, or nil for none.
        var device: String?
        var decision: Decision
        /// A Boolean value that indicates whether the link was generated; otherwise it is an example of the table.
        var isGenerated: Bool
    }

    private let table: RouteTable
    private var byRoute: [String: [Example]] = [:]

    /// Resolves the examples of a table.
    init(_ table: RouteTable) {
        self.table = table
        for example in table.source.examples {
            guard let link = Self.link(of: example) else { continue }
            let decision = table.resolve(link, device: example.device.map { DeviceFacts($0) } ?? DeviceFacts())
            let shown = Example(link: link, device: example.device?.text, decision: decision, isGenerated: false)
            for route in Set(decision.via + [decision.route].compactMap { $0 }) {
                byRoute[route, default: []].append(shown)
            }
        }
    }

    /// Returns the examples of a route: those of the table, then a generated one for each pattern without one.
    func examples(of route: TableSource.Route) -> [Example] {
        var examples = byRoute[route.id.value] ?? []
        let known = Set(examples.flatMap { Self.patterns($0, of: route, in: table) })
        for link in SampleLinks.all(of: route, in: table) {
            let generated = Example(link: link, decision: table.resolve(link), isGenerated: true)
            if known.isDisjoint(with: Self.patterns(generated, of: route, in: table)) { examples.append(generated) }
        }
        return examples
    }

    private static func patterns(_ example: Example, of route: TableSource.Route, in table: RouteTable) -> [String] {
        guard let found = table.selection(of: example.link), found.route == route.id.value else { return [] }
        return [found.pattern]
    }

    private static func link(of example: TableSource.Example) -> String? {
        switch example.request {
        case .link(let link): link
        case .request(let json): json["link"]?.string
        }
    }
}
