internal import ByteStorage
package import LinkCoordinator

/// What a program that reads the decisions of a table can rely on.
///
/// It is the one description from which the contracts in JSON Schema, TypeScript, and Kotlin are written. It is strict
/// about what the table declares, and open where a later version can add members or reasons.
///
/// See Contracts.
package struct DecisionContract {
    /// The id of the table, and the table as `ID@VERSION+HASH`.
    let table: (id: String, identity: String)
    /// The members that decisions of every outcome have.
    let about: ContractObject
    /// The objects with the members of an outcome, which the member `outcome` tells apart.
    let outcomes: [ContractObject]
    /// The entries of each screen, which the members `coordinator` and `screen` tell apart.
    let screens: [ContractObject]
    /// The models of the table.
    let models: [ContractObject]
    /// The other objects to which a member refers.
    let others: [ContractObject]
    /// The routes that list variants, by the number of the variants.
    let variants: [Int: [String]]
    /// The reasons that this version knows.
    static let reasons =
        ReasonCode.allCases.filter { $0 != .internalError }.map(\.rawValue)
        + Decision.Reason.beforeResolution.map(\.rawValue)

    /// Creates the contract of a table.
    package init(_ table: RouteTable) {
        let source = table.source
        self.table = (table.id, table.identity)
        let paths = Self.paths(source)
        models = source.models.map { model in
            ContractObject(
                model.name.value, "The model `\(model.name.value)`.",
                model.fields.map { field in
                    ContractMember(
                        field.name.value, .field(field.type, isNullable: field.absence == .null),
                        "The field `\(field.name.value)`.", isRequired: true)
                }, isClosed: true)
        }
        screens = source.coordinators.flatMap { coordinator in
            coordinator.screens.map { Self.entry(of: $0, in: coordinator.name.value) }
        }
        let redirects = source.routes.filter { if case .redirect = $0.action { true } else { false } }.map(\.id.value)
        // A route request for a redirecting route that lacks a parameter fails at that route.
        let routes = source.routes.map(\.id.value)
        about = Self.about(table.id, routes: routes, redirects: redirects)
        outcomes = Self.outcomes(table.id, paths: paths, guards: source.guards.map(\.name.value))
        let claims = source.guards.filter { $0.resume != nil }.map(\.claim)
        others = [
            Self.resume(claims: claims.unique, routes: routes), Self.context, Self.push,
            Self.facts,
        ]
        variants = Dictionary(grouping: source.routes.filter(\.listsVariants)) { $0.variants.count }
            .mapValues { $0.map(\.id.value) }
    }

    /// Returns a pattern of the coordinator paths with names of the table.
    private static func paths(_ source: TableSource) -> String {
        let names = source.coordinators.flatMap { [$0.name.value] + $0.screens.map(\.name.value) }.unique
        if names.isEmpty { return "^/$" }
        return "^(/|(/(\(names.map { $0.replacing(".", with: "\\.") }.joined(separator: "|"))))+)$"
    }

    private static func entry(of screen: TableSource.Screen, in coordinator: String) -> ContractObject {
        let path = coordinator + "/" + screen.name.value
        var members = [
            ContractMember("coordinator", .words([coordinator]), "The coordinator.", isRequired: true),
            ContractMember("screen", .words([screen.name.value]), "The screen.", isRequired: true),
        ]
        if let view = screen.view?.value {
            members.append(ContractMember("view", .words([view]), "The screen whose view draws it.", isRequired: true))
        }
        let presentations = screen.present.isEmpty ? [.push] : screen.present.map(\.value)
        members.append(
            ContractMember(
                "present", .words(presentations.map(\.rawValue), of: "Presentation"), "The presentation.",
                isRequired: true))
        if screen.nav { members.append(ContractMember("nav", .flag, "Whether screens can be pushed onto it.")) }
        if screen.identity != nil {
            members.append(ContractMember("identity", .text(), "A text that tells entries of the screen apart."))
        }
        if !screen.needs.isEmpty {
            let models = screen.needs.map(\.value)
            members.append(ContractMember("data", .models(models), "The models of the screen.", isRequired: true))
        }
        return ContractObject(path, "The screen `\(path)`.", members)
    }
}

// MARK: - The members of all tables

extension DecisionContract {
    private static let decisionID = "^[A-Za-z0-9._-]{1,249}-[0-9]+-[0-9]+([.][0-9]{1,2})?-[0-9]+(~[1-9][0-9]{0,2})?$"
    private static let modes = ContractType.words(["replace", "append", "reuse"], of: "Mode")

    private static func about(_ table: String, routes: [String], redirects: [String]) -> ContractObject {
        ContractObject(
            "About", "The members that decisions of every outcome have.",
            [
                ContractMember("decision", .text(pattern: decisionID), "The id of the decision."),
                ContractMember("supersedes", .text(pattern: decisionID), "The id of the decision that it corrects."),
                ContractMember("event", .text(), "The id of the event."),
                ContractMember("device", .text(max: 256), "The id of the device."),
                ContractMember("user", .text(max: 256), "The user without a known device, in place of `device`."),
                ContractMember("application", .text(), "The application that the event states."),
                ContractMember("table", .table(table), "The table as ID@VERSION+HASH. Absent if none was chosen."),
                ContractMember("route", .words(routes), "The id of the route."),
                ContractMember("variant", .integer(min: 0), "The index of the variant, from 0."),
                ContractMember("via", .list(.words(redirects), min: 1), "The ids of the routes that redirected."),
                ContractMember("context", .object("Context"), "Members of the event, and the ids of its message."),
                ContractMember("facts", .object("Facts"), "What the registry knows of the device."),
                ContractMember("notes", .list(.text(), min: 1), "Remarks on how the decision was made."),
            ])
    }

    private static func outcomes(_ table: String, paths: String, guards: [String]) -> [ContractObject] {
        let path = ContractMember("path", .text(pattern: paths), "The stack as a coordinator path.", isRequired: true)
        let stack = [
            ContractMember("mode", modes, "The way the device applies the stack.", isRequired: true),
            ContractMember("dismissModals", .flag, "Whether the device first closes sheets, covers, and alerts."), path,
            ContractMember("stack", .list(.entry, max: 64), "The entries, the lowest first.", isRequired: true),
        ]
        let notice = ContractMember("notice", .text(pattern: paths), "The path of a screen to show beside the result.")
        let detail = ContractMember("detail", .text(max: 64), "More about the reason.")
        let failure = [ContractMember("reason", .reason, "The reason of the fallback that decided."), detail]
        let reason = [ContractMember("reason", .reason, "The reason.", isRequired: true), detail]
        func outcome(_ name: String, _ about: String, hasTable: Bool = true, _ members: [ContractMember])
            -> ContractObject
        {
            ContractObject(
                name, about,
                [
                    ContractMember("outcome", .words([name]), "The outcome.", isRequired: true),
                    ContractMember("table", .table(table), "The table as ID@VERSION+HASH.", isRequired: hasTable),
                ] + members)
        }
        return [
            outcome("navigate", "Apply the stack.", stack + [notice] + failure),
            outcome(
                "external", "Open the URL outside the app.",
                [
                    ContractMember(
                        "url", .text(pattern: "^[A-Za-z][A-Za-z0-9+.-]*:"), "The URL.", isRequired: true), notice,
                ] + failure),
            outcome(
                "deferred", "Show the stack now, and send `resume` as an event when the device has the claim.",
                stack + [
                    ContractMember("guard", .words(guards), "The guard that is not satisfied.", isRequired: true),
                    ContractMember("resume", .object("Resume"), "The request to send."),
                ]),
            outcome("none", "Do nothing.", hasTable: false, reason),
            outcome("reject", "The request is not valid for this device.", reason),
        ]
    }

    private static func resume(claims: [String], routes: [String]) -> ContractObject {
        ContractObject(
            "Resume", "The request to send as an event when the device has the claim.",
            [
                ContractMember("claim", .words(claims), "The claim.", isRequired: true),
                ContractMember("link", .text(min: 0), "The link."),
                ContractMember("path", .text(min: 0), "The coordinator path."),
                ContractMember("mode", modes, "The mode of the path."),
                ContractMember("route", .words(routes), "The id of the route."),
                ContractMember("params", .map(.any), "The parameters of the route."),
                ContractMember("payload", .map(.any), "The push payload."),
                ContractMember("action", .text(), "The id of the tapped button."),
                ContractMember("payloadType", .text(), "The declared format of the payload."),
                ContractMember(
                    "ttl", .integer(min: 1), "The time that the request may wait, in seconds.", isRequired: true),
                ContractMember("once", .flag, "Whether the request may be sent only once."),
            ], oneOf: ["link", "path", "route", "payload"])
    }

    private static let context = ContractObject(
        "Context", "The members of the event that the worker passes through, and the ids of the push message.",
        [
            ContractMember("campaign", .text(min: 0), "The campaign of the event."),
            ContractMember("push", .object("Push"), "The push message: its vendor, its ids, and what delivery needs."),
            ContractMember("expires", .text(), "The time after which it is not to be delivered, as RFC 3339 in UTC."),
            ContractMember("query", .map(.text(min: 1, max: 1024)), "The items of the link's query, by name."),
        ])

    private static let push = ContractObject(
        "Push", "A push message: its vendor, its ids, and what delivery needs.",
        [
            ContractMember("vendor", .text(pattern: "^[a-z0-9-]{1,32}$"), "The id of the vendor."),
            ContractMember("message", .text(max: 128), "The vendor's id of the message."),
            ContractMember("campaign", .text(max: 128), "The vendor's id of the campaign."),
            ContractMember("collapse", .text(max: 128), "The collapse id: a later message replaces this one."),
            ContractMember("priority", .text(pattern: "^(very-low|low|normal|high)$"), "The priority of the message."),
        ])

    private static let facts: ContractObject = {
        let fact = ContractType.text(min: 0, max: 256)
        return ContractObject(
            "Facts", "The facts that come from the registry of devices.",
            [
                ContractMember("platform", fact, "The platform."),
                ContractMember("app", fact, "The version of the app."),
                ContractMember("os", fact, "The version of the operating system."),
                ContractMember("locale", fact, "The locale."), ContractMember("region", fact, "The region."),
                ContractMember("capabilities", .list(fact), "The capabilities."),
                ContractMember("claims", .list(fact), "The claims."),
                ContractMember("attributes", .map(fact), "The attributes."),
                ContractMember("coordinator", fact, "The coordinator on top of the stack."),
            ])
    }()
}

// MARK: - The parts of a contract

/// The type of a member in a contract.
indirect enum ContractType: Sendable {
    /// A text, with bounds in characters and a regular expression.
    case text(min: Int = 1, max: Int? = nil, pattern: String? = nil)
    /// A table as `ID@VERSION+HASH`, of any version.
    case table(String)
    /// One of the given texts, with the name of their enumeration if it is the same in all tables.
    case words([String], of: String? = nil)
    /// A reason, which can be one that a later version adds.
    case reason
    /// An integer.
    case integer(min: Int)
    /// `true`, where the member is left out in place of `false`.
    case flag
    /// The value of a model's field.
    case field(FieldType, isNullable: Bool)
    /// An object with exactly these models.
    case models([String])
    /// An object of the contract.
    case object(String)
    /// The entry of any screen.
    case entry
    /// A list.
    case list(ContractType, min: Int = 0, max: Int? = nil)
    /// An object with any names.
    case map(ContractType)
    /// Any value.
    case any
}

/// A member of an object in a contract.
struct ContractMember: Sendable {
    let name: String
    let type: ContractType
    /// The meaning as a sentence.
    let about: String
    /// A Boolean value that indicates whether every object has the member.
    let isRequired: Bool

    init(_ name: String, _ type: ContractType, _ about: String, isRequired: Bool = false) {
        self.name = name
        self.type = type
        self.about = about
        self.isRequired = isRequired
    }
}

/// An object in a contract.
struct ContractObject: Sendable {
    let name: String
    /// The meaning as a sentence.
    let about: String
    let members: [ContractMember]
    /// A Boolean value that indicates whether there are no other members, because the table declares all of them.
    let isClosed: Bool
    /// The members that are alternatives: an object has exactly one of them.
    let oneOf: [String]

    init(
        _ name: String, _ about: String, _ members: [ContractMember], isClosed: Bool = false, oneOf: [String] = []
    ) {
        self.name = name
        self.about = about
        self.members = members
        self.isClosed = isClosed
        self.oneOf = oneOf
    }
}
