package import LinkCoordinator
internal import StrictJSON

/// A request that breaks a property.
package struct PropertyWitness: Sendable {
    /// The request.
    package var request: LinkRequest
    /// The device.
    package var device: DeviceFacts
    /// The decision that the table makes for them.
    package var decision: Decision

    /// The outcome with what it shows or opens.
    var resultText: String {
        let detail = [
            decision.path.map { "to \($0)" }, decision.url.map { "to \($0)" }, decision.reason.map { "(\($0))" },
        ]
        let notice = decision.notice.map { "with the notice \($0)" }
        return ([decision.outcome.rawValue] + (detail + [notice]).compactMap(\.self)).joined(separator: " ")
    }
}

/// The links and devices that a property covers, decided by the resolver with tables made for it.
struct PropertyScope {
    /// A table with one route, which matches the links of the property, or nil if the property covers all links.
    private let links: RouteTable?
    /// A table with one route, whose first variant is for the devices of the property, or nil if it covers all devices.
    private let devices: CompiledTable?
    private let withoutClaims: Set<String>

    private static let id = "p"

    init(_ property: RouteProperty, _ source: TableSource) {
        withoutClaims = Set(property.withoutClaims)
        var own = source
        (own.examples, own.fallback, own.routes) = ([], [], [])
        if property.needsLink {
            own.routes = Self.route(of: property).map { [$0] } ?? []
            links = RouteTable(source: own, compiled: CompiledTable(own, hash: ""), hash: "", warnings: [])
        } else {
            links = nil
        }
        if var when = property.when, var route = Self.template, var first = route.variants.first {
            when.query = []
            route.patterns = []
            first.when = when
            route.action = .variants([first] + route.variants.dropFirst())
            own.routes = [route]
            devices = CompiledTable(own, hash: "")
        } else {
            devices = nil
        }
    }

    /// A route with a pattern that matches every link, and two variants.
    private static let template: TableSource.Route? = {
        let variant = #"{ "when": {}, "to": { "root": true } }"#
        let table =
            #"{ "routes": [ { "id": "\#(id)", "match": "/{rest*}", "variants": [ \#(variant), \#(variant) ] } ] }"#
        return TableSource.read(Array(table.utf8)).source?.routes.first
    }()

    /// Returns a route that matches the links of a property, or no link if the property covers all.
    static func route(of property: RouteProperty, id: String = Self.id) -> TableSource.Route? {
        guard var route = template else { return nil }
        route.id = Located(id, at: 0)
        if !property.needsLink { route.patterns = [] }
        if !property.links.isEmpty { route.patterns = property.links }
        route.query = property.when?.query ?? []
        return route
    }

    /// Returns a Boolean value that indicates whether the property covers a device.
    func covers(_ device: DeviceFacts) -> Bool {
        if device.claims?.contains(where: withoutClaims.contains) == true { return false }
        guard let devices else { return true }
        return Decision(devices.resolve(.route(Self.id), device)).variant == 0
    }

    /// Returns a Boolean value that indicates whether the property covers a request.
    func covers(_ request: LinkRequest) -> Bool { links.map { $0.selection(of: request) != nil } ?? true }
}

/// The attempts to break a property of a table, whose resolver judges each of them.
struct PropertyTrial: RequestTrial {
    private let property: RouteProperty
    private let table: RouteTable
    private let names: ScreenNames
    private let scope: PropertyScope
    /// The devices and queries to try.
    var contexts: [EvaluationContext] = []
    /// The request that breaks the property, or nil if none was found.
    private(set) var witness: PropertyWitness?
    /// The remaining number of requests to resolve.
    private var remaining = maxRequests
    private var lastDevice: (device: DeviceFacts, isCovered: Bool)?

    /// The maximum number of requests to resolve for one property.
    static let maxRequests = 200_000

    init(_ property: RouteProperty, _ table: RouteTable, _ names: ScreenNames) {
        self.property = property
        self.table = table
        self.names = names
        scope = PropertyScope(property, table.source)
    }

    /// A Boolean value that indicates whether no more requests are needed or allowed.
    var isOver: Bool { witness != nil || remaining <= 0 }
    /// The number of requests that were resolved.
    var count: Int { Self.maxRequests - remaining }
    /// A Boolean value that indicates whether no more requests are allowed.
    var isExhausted: Bool { remaining <= 0 }

    /// Resolves a request, and keeps it if it breaks the property.
    ///
    /// Returns nil if the trial is over.
    mutating func decide(_ request: LinkRequest, _ device: DeviceFacts) -> DecisionPair? {
        if isOver { return nil }
        remaining -= 1
        let decision = table.compiled.resolve(request, device)
        if let covered = covered(request), covers(device), scope.covers(covered) {
            let own = covered == request ? decision : table.compiled.resolve(covered, device)
            let read = Decision(own)
            if property.result.holds(for: read, names) == (property.rule == .never) {
                witness = PropertyWitness(request: covered, device: device, decision: read)
            }
        }
        return DecisionPair(decision)
    }

    /// Returns a request in a form that the property covers, or nil if there is none.
    private func covered(_ request: LinkRequest) -> LinkRequest? {
        let pointers = table.source.payload
        switch request {
        case .link(let link):
            if property.forms.contains(.link) { return request }
            guard property.forms.contains(.payload), let pointer = pointers.link.first else { return nil }
            return RequestFrame.payload([(pointer.value, JSONValue(.string(link)))]).map { .payload($0) }
        case .path: return property.forms.contains(.path) ? request : nil
        case .route(let id, let params):
            if property.forms.contains(.route) { return request }
            guard property.forms.contains(.payload), let pointer = pointers.route else { return nil }
            var values = [(pointer.value, JSONValue(.string(id)))]
            if let own = pointers.params, let object = try? JSONValue.parse(Array(params.json.utf8)) {
                values.append((own.value, object))
            }
            return RequestFrame.payload(values).map { .payload($0) }
        case .payload: return property.forms.contains(.payload) ? request : nil
        }
    }

    private mutating func covers(_ device: DeviceFacts) -> Bool {
        if let lastDevice, lastDevice.device == device { return lastDevice.isCovered }
        let isCovered = scope.covers(device)
        lastDevice = (device, isCovered)
        return isCovered
    }
}

// Requests for routes by their ids.
extension TableSource {
    /// The maximum number of requests for routes that fail.
    private static let maxFailingRoutes = 60

    /// The first capture that a parameter with an empty segment can fill.
    var firstTail: (route: String, name: String)? {
        for route in routes {
            let captures = route.patterns.flatMap(\.path.captures)
            if let name = captures.first(where: \.isTail)?.name { return (route.id.value, name) }
        }
        return nil
    }

    /// Requests for routes by their ids that fail in different ways.
    var failingRoutes: [LinkRequest] {
        var requests: [LinkRequest] = [.route("zz-unknown")]
        if let tail = firstTail {
            let long = Array(repeating: "a", count: limits.maxSegments + 1).joined(separator: "/")
            requests += ["a//b", "a/..", "%zz", long].map { .route(tail.route, params: [tail.name: .string($0)]) }
        }
        for route in routes {
            if requests.count > Self.maxFailingRoutes { break }
            let names = Set(route.patterns.flatMap(\.path.captures).map(\.name))
            if names.isEmpty { continue }
            requests.append(.route(route.id.value))
            for text in ["zz-invalid", "..", "\u{1}"] {
                let params = LinkRequest.Object(names.sorted().map { ($0, .string(text)) })
                requests.append(.route(route.id.value, params: params))
            }
        }
        return requests
    }
}
