internal import DispatchWorker
internal import KafkaClient
internal import RouteTools

/// The topics of a replay, as they are in the cluster.
struct ReplaySite {
    /// The input, the dead-letter topic, and the ledger.
    let topics: DeadLetterTopics
    /// The topic for dead letters that are not replayed.
    let parking: String
    /// A Boolean value that indicates whether the ledger exists.
    let hasLedger: Bool
    /// The rules for the dead letters.
    let rules: ReplayRules
    /// The failure if dead letters must be parked, or nil if the parking topic can be used.
    private let parkingFailure: CommandFailure?
    private let messageLimit: Int

    /// Finds the topics.
    ///
    /// A missing input, or a missing ledger unless for a dry run, ends with exit code 78.
    init(
        _ call: Invocation, _ settings: Settings, _ connection: Connection, _ admin: KafkaAdmin
    ) throws(CommandFailure) {
        let all = try DeadLetterTopics.all(call, settings, admin)
        guard all.count == 1, let topics = all.first else {
            let names = all.prefix(5).map(\.input).joined(separator: ", ") + (all.count > 5 ? ", …" : "")
            throw CommandFailure(
                .usage, "a replay needs one input, and there are \(all.count)" + (all.isEmpty ? "" : ": \(names)"),
                advice: "select the input with --topic")
        }
        self.topics = topics
        parking = call.text("parking") ?? Settings.parked(of: topics.deadLetters)
        let output = settings.text("output") ?? "link-decisions"
        guard ![topics.input, topics.deadLetters, topics.ledger, output].contains(parking),
            !Self.isInput(parking, settings, output)
        else {
            throw CommandFailure(
                .usage, "--parking \(parking) is a topic with another purpose", advice: "select another topic")
        }
        let names = [topics.input, topics.ledger, parking]
        let found = try DeadLetterTopics.describe(names + [topics.deadLetters], admin)
        for name in [topics.input, topics.deadLetters] {
            guard let error = found[name]?.error else { continue }
            throw CommandFailure(
                error, while: "replaying \(topics.deadLetters)",
                needing: AccessRight(name == topics.input ? "Write" : "Read", on: .topic, name),
                as: connection.principal)
        }
        hasLedger = try Self.exists(topics.ledger, found, connection)
        parkingFailure = Self.failure(
            ofParking: parking, isOwn: call.text("parking") == nil, found[parking], connection)
        guard hasLedger || call.isOn("dry-run") else { throw Self.missing(topics.ledger) }
        let limits = admin.messageLimits(of: names.filter { found[$0]?.error == nil })
        messageLimit = limits.values.min() ?? .max
        rules = ReplayRules(
            input: topics.input, partitions: Int32(clamping: found[topics.input]?.partitions.count ?? 0),
            messageLimit: limits[topics.input] ?? .max, cap: call.number("cap") ?? 3)
    }

    /// Returns a Boolean value that indicates whether workers with these settings read a topic.
    private static func isInput(_ name: String, _ settings: Settings, _ output: String) -> Bool {
        let inputs = settings.list("input")
        guard let first = inputs.first, first.hasPrefix("^"), let pattern = PosixPattern(first) else {
            return inputs.contains(name)
        }
        let topics = LaneTopics(output: output, deadLetterTemplate: settings.text("dlq.topic") ?? "{input}.dlq")
        return !topics.inputs(matching: pattern, among: [name]).isEmpty
    }

    private static func exists(
        _ name: String, _ found: [String: TopicDescription], _ connection: Connection
    ) throws(CommandFailure) -> Bool {
        guard let error = found[name]?.error else { return true }
        if found[name]?.exists == false { return false }
        throw CommandFailure(
            error, while: "describing \(name)", needing: AccessRight(["Read", "Write"], on: .topic, [name]),
            as: connection.principal)
    }

    private static func failure(
        ofParking name: String, isOwn: Bool, _ description: TopicDescription?, _ connection: Connection
    ) -> CommandFailure? {
        guard let description, let error = description.error else { return nil }
        guard description.exists else {
            guard isOwn else {
                return CommandFailure(
                    .configuration, "topic \(name) does not exist",
                    advice: "create it, or leave out --parking and use `linkd topics create --replay`")
            }
            return missing(name)
        }
        return CommandFailure(
            error, while: "describing \(name)", needing: AccessRight("Write", on: .topic, name),
            as: connection.principal)
    }

    private static func missing(_ name: String) -> CommandFailure {
        CommandFailure(
            .configuration, "topic \(name) does not exist",
            advice: "create the topics for replays with `linkd topics create --replay`")
    }

    /// Returns the topics to write to.
    ///
    /// A parking topic that is missing, or that this user is not allowed to write, ends the replay only if there are
    /// dead letters to park, and never a dry run.
    func targets(parking isNeeded: Bool, isDryRun: Bool) throws(CommandFailure) -> ReplayTargets {
        if isNeeded, !isDryRun, let parkingFailure { throw parkingFailure }
        return ReplayTargets(
            input: topics.input, ledger: topics.ledger, parking: isNeeded ? parking : nil, messageLimit: messageLimit)
    }
}
