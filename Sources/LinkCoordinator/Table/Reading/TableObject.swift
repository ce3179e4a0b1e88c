/// The objects of a route table with their keys.
///
/// The reader accepts these keys and no others. Tests compare them with RouteTableReference and with the JSON schema of
/// tables.
package enum TableObject: Int, Sendable, CaseIterable {
    case file, table, canary
    case linkBlock, pathOptions, queryOptions, payloadPointers, linkLimits, rewrite
    case capability, coordinator, screen, guardRule, guardTarget, resumeOptions
    case externals
    case route, pattern, target, variant, condition, exclusion, unsupported, constant
    case fallbackRule
    case example, exampleRequest, deviceFacts

    /// The keys of the object.
    package var keys: [String] { Self.lists[rawValue].keys }

    /// The keys of an example that expect members of its decision.
    package static let expectations = [
        "outcome", "route", "variant", "via", "mode", "dismissModals", "path", "url", "notice", "reason", "detail",
        "guard", "notes", "screens", "present", "identity", "models",
    ]

    /// The keys that must be present.
    package var required: [String] { Self.lists[rawValue].required }

    /// The keys of all objects, computed only once because a table may have many thousands of objects.
    private static let lists = allCases.map { (keys: $0.allKeys, required: $0.requiredKeys) }

    private var allKeys: [String] {
        switch self {
        case .file:
            [
                "schemaVersion", "table", "link", "models", "capabilities", "coordinators", "guards", "vars",
                "externals", "routes", "fallback", "examples", "$schema",
            ]
        case .table: ["id", "version", "applications", "canary"]
        case .canary: ["percent", "salt", "compareTo"]
        case .linkBlock:
            [
                "schemes", "schemeCase", "host", "hosts", "path", "query", "rewrites", "repair", "payload", "limits",
            ]
        case .pathOptions: ["case", "emptySegments"]
        case .queryOptions: ["pairSeparators", "names", "duplicates", "decode", "plus", "nulls", "flatten"]
        case .payloadPointers: ["link", "route", "params"]
        case .linkLimits: ["maxBytes", "maxSegments", "maxQueryItems"]
        case .rewrite: ["stripPrefix", "as"]
        case .externals: ["schemes", "hosts"]
        case .capability, .coordinator, .screen, .guardRule, .guardTarget, .resumeOptions: screenKeys
        case .route, .pattern, .target, .variant, .condition, .exclusion, .unsupported, .constant: routeKeys
        case .fallbackRule: ["on", "outcome", "to"]
        case .example: ["link", "request", "device"] + Self.expectations
        case .exampleRequest: ["link", "path", "mode", "route", "params", "payload"]
        // An id has no effect here. Devices of events have one.
        case .deviceFacts:
            [
                "platform", "app", "os", "locale", "region", "capabilities", "claims", "attributes", "coordinator",
                "id",
            ]
        }
    }

    /// The keys of the objects that describe screens and what they require.
    private var screenKeys: [String] {
        switch self {
        case .capability: ["minApp", "minOS", "platforms", "listed"]
        case .coordinator: ["screens", "initial", "parent", "guard", "slot"]
        case .screen: ["needs", "present", "nav", "identity", "view", "since", "until", "requires"]
        case .guardRule: ["claim", "else"]
        case .guardTarget: ["to", "resume"]
        case .resumeOptions: ["ttl", "once"]
        default: []
        }
    }

    /// The keys of a route and of the objects in it.
    private var routeKeys: [String] {
        switch self {
        case .route:
            [
                "id", "match", "alias", "query", "priority", "overlaps", "to", "variants", "redirect", "exclude",
                "bind", "onInvalid", "requireAll", "unknownScreen", "unsupported", "notice", "status", "sunset",
            ]
        case .pattern: ["path", "anySegment", "scheme", "host"]
        case .target: ["path", "root", "external", "mode", "parents", "present", "dismissModals"]
        case .variant: ["when", "to", "notice"]
        case .condition:
            ["app", "os", "capability", "claim", "platform", "region", "locale", "attributes", "query"]
        case .exclusion: ["outcome"]
        case .unsupported: ["to"]
        case .constant: ["const"]
        default: []
        }
    }

    private var requiredKeys: [String] {
        switch self {
        case .file: ["schemaVersion", "table", "link", "routes"]
        case .table: ["id", "version"]
        case .linkBlock: ["schemes", "host"]
        case .rewrite: ["stripPrefix"]
        case .coordinator: ["screens"]
        case .guardRule: ["claim", "else"]
        case .guardTarget, .variant, .unsupported: ["to"]
        case .resumeOptions: ["ttl"]
        case .route: ["id"]
        case .exclusion, .fallbackRule: ["outcome"]
        case .constant: ["const"]
        case .canary, .pathOptions, .queryOptions, .payloadPointers, .linkLimits, .capability, .screen, .externals,
            .pattern, .target, .condition, .example, .exampleRequest, .deviceFacts:
            []
        }
    }
}
