internal import DispatchWorker
internal import LinkDecider
internal import RouteTools

/// A right that an access rule (ACL) of Kafka grants.
struct AccessRight: Equatable {
    /// The kind of a resource, as in Kafka's tools.
    enum Resource: String {
        case topic = "Topic"
        case group = "Group"
        case transactionalID = "TransactionalId"
        case cluster = "Cluster"
    }

    /// The operations.
    ///
    /// Read and Write include Describe.
    var operations: [String]
    /// The kind of the resources.
    var resource: Resource
    /// The names of the resources, or their prefixes.
    var names: [String]
    /// A Boolean value that indicates whether the names are prefixes.
    var isPrefixed = false

    /// Creates a right for one operation on one resource.
    init(_ operation: String, on resource: Resource, _ name: String) {
        operations = [operation]
        self.resource = resource
        names = [name]
    }

    /// Creates a right for several operations or resources.
    init(_ operations: [String], on resource: Resource, _ names: [String], isPrefixed: Bool = false) {
        self.operations = operations
        self.resource = resource
        self.names = names
        self.isPrefixed = isPrefixed
    }

    /// The right in messages, such as `Read on Topic link-events`.
    var description: String {
        "\(operations.joined(separator: ", ")) on \(resource.rawValue) \(names.joined(separator: ", "))"
            + (isPrefixed ? " (prefixed)" : "")
    }

    /// The flags of `kafka-acls.sh` for this right.
    var flags: String {
        let operation = operations.map { "--operation " + $0 }.joined(separator: " ")
        let flag =
            switch resource {
            case .topic: "--topic"
            case .group: "--group"
            case .transactionalID: "--transactional-id"
            case .cluster: "--cluster"
            }
        let resources = resource == .cluster ? [flag] : names.map { "\(flag) \(Self.shellWord($0))" }
        return operation + " " + resources.joined(separator: " ")
            + (isPrefixed ? " --resource-pattern-type prefixed" : "")
    }

    /// The principal in messages if the settings do not name it.
    static let unknownPrincipal = RightsText.unknownPrincipal

    /// The next step if the missing right is not known.
    static let generalAdvice =
        "run `linkd doctor`, which names the missing rights, or `linkd doctor --print-acls` for all rules"

    /// Returns the next step for missing rights.
    static func advice(_ rights: [AccessRight], _ principal: String) -> String {
        guard rights.count == 1, let right = rights.first else {
            return "run the commands of `linkd doctor --print-acls` as an administrator"
        }
        let name = principal == unknownPrincipal ? "User:PRINCIPAL" : shellWord(principal)
        return "run kafka-acls.sh --bootstrap-server BROKER --add --allow-principal \(name) \(right.flags)"
    }

    /// Returns a word of a shell's command line, in quotation marks if it has special characters.
    static func shellWord(_ text: String) -> String {
        let isPlain = text.unicodeScalars.allSatisfy { scalar in
            scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
                || "._-:=@/,".unicodeScalars.contains(scalar)
        }
        if isPlain, !text.isEmpty { return text }
        return "'" + Escaping.visible(text).replacing("'", with: "'\\''") + "'"
    }
}

/// The access rules that a worker with certain settings, or a replay of its dead letters, needs.
struct AccessRules {
    /// The rights, in the order of the worker's reference.
    let rights: [AccessRight]
    private let principal: String
    private let bootstrap: String

    /// The program that needs rights.
    enum Program {
        case worker, replay, recall
    }

    /// Creates the rules of a worker, of a replay, or of a recall with corrections in the output.
    ///
    /// With a regular expression as input, TOPIC stands for each input topic.
    init(_ settings: Settings, bootstrap: [String], of program: Program = .worker) {
        let inputs = settings.list("input").first?.hasPrefix("^") == true ? ["TOPIC"] : settings.list("input")
        let outputs = settings.outputs
        let deadLetters = inputs.map(settings.deadLetterTopic)
        rights =
            switch program {
            case .worker: Self.worker(settings, inputs, outputs.names + deadLetters)
            case .replay: Self.replay(inputs, outputs.names, deadLetters)
            case .recall: Self.recall(inputs, outputs, settings.text("tables.topic"))
            }
        principal = settings.principal.map(AccessRight.shellWord) ?? "User:PRINCIPAL"
        self.bootstrap = bootstrap.joined(separator: ",")
    }

    private static func worker(_ settings: Settings, _ inputs: [String], _ outputs: [String]) -> [AccessRight] {
        let group = settings.text("group") ?? "linkd"
        let isAtLeastOnce = settings.text("guarantee") == "at-least-once"
        // Without DescribeConfigs, a worker cannot see a `cleanup.policy` by which a topic loses records.
        let devices = settings.text("devices.topic").map {
            AccessRight(["Read", "Describe", "DescribeConfigs"], on: .topic, [$0])
        }
        let archive = settings.text("tables.topic").map {
            AccessRight(["Read", "Write", "DescribeConfigs"], on: .topic, [$0])
        }
        return [
            AccessRight(["Read", "DescribeConfigs"], on: .topic, inputs),
            AccessRight(["Write", "DescribeConfigs"], on: .topic, outputs),
        ] + [devices, archive].compactMap(\.self) + [
            AccessRight("Read", on: .group, group),
            isAtLeastOnce
                ? AccessRight("IdempotentWrite", on: .cluster, "kafka-cluster")
                : AccessRight(["Write"], on: .transactionalID, ["linkd.\(group)."], isPrefixed: true),
        ]
    }

    private static func replay(_ inputs: [String], _ outputs: [String], _ deadLetters: [String]) -> [AccessRight] {
        let ledgers = deadLetters.map(Settings.replayed)
        let written = inputs + ledgers + deadLetters.map(Settings.parked)
        return [
            AccessRight(["Read"], on: .topic, deadLetters + ledgers + outputs),
            AccessRight(["Write", "DescribeConfigs"], on: .topic, written),
            AccessRight(["Write", "Describe"], on: .transactionalID, ["linkd-replay."], isPrefixed: true),
        ]
    }

    private static func recall(_ inputs: [String], _ outputs: OutputTopics, _ archive: String?) -> [AccessRight] {
        let decisions = outputs.names + [Settings.recalled(of: outputs.main)]
        let archives = [archive].compactMap(\.self)
        return [
            AccessRight(["Read"], on: .topic, inputs + decisions + archives),
            AccessRight(["Write", "DescribeConfigs"], on: .topic, decisions + archives),
            AccessRight(["Write", "Describe"], on: .transactionalID, ["linkd-recall."], isPrefixed: true),
        ]
    }

    /// The command lines of Kafka's tool that add the rules.
    var commands: [String] {
        let start = "kafka-acls.sh --bootstrap-server \(AccessRight.shellWord(bootstrap)) --add"
        return rights.map { "\(start) --allow-principal \(principal) \\\n  \($0.flags)" }
    }
}

extension Settings {
    /// The presumed principal, or nil if the settings do not name it.
    var principal: String? { RightsText.principal { property($0, client: "consumer")?.value } }
}
