internal import RouteTools
// Rules between settings, and rules for properties of librdkafka.
extension Settings {
    /// Checks that a property is known, is not set by linkd itself, and is not a secret on the command line.
    static func check(_ pair: LibrdkafkaPair, isKnownProperty: (String) -> Bool) throws(CommandFailure) {
        let key = LibrdkafkaKeys.bare(pair.key)
        let source = pair.source.description
        if let instead = LibrdkafkaKeys.alternative(to: key) {
            throw CommandFailure(pair.source.code, "\(source): linkd sets `\(key)` itself", advice: instead)
        }
        guard isKnownProperty(key) else {
            throw CommandFailure(
                pair.source.code, "\(source): librdkafka has no property `\(Escaping.visible(key))`",
                advice: LibrdkafkaKeys.nearest(key).map { "use `\($0)`" }
                    ?? "see librdkafka's CONFIGURATION.md for the names")
        }
        if LibrdkafkaKeys.isForbiddenAsFlag(key), case .flag = pair.source {
            let variable = "KAFKA_" + key.uppercased().replacing(".", with: "_")
            throw CommandFailure(
                .usage, "\(source): the secret `\(key)` is not allowed on the command line, where others can read it",
                advice: "set \(variable), or \(variable)_FILE to the path of a file that contains it")
        }
    }

    /// Checks the rules between settings.
    func checkTogether() throws(CommandFailure) {
        try checkTopics()
        try checkCommit()
        try checkCanary()
        try checkToken()
        if list("passthrough").contains("push") {
            let source = entry("passthrough").source
            throw CommandFailure(
                source.code, "\(source.description): `passthrough` names `push`, the ids of vendors' messages",
                advice: "remove `push`: a decision's `context` has it if a vendor is recognized")
        }
        if text("report") != nil, number("stop.after") == 0 {
            throw CommandFailure(
                entry("report").source.code,
                "\(entry("report").source.description): `report` needs `stop.after`",
                advice: "add --stop-after N, or remove `report`")
        }
    }

    private func checkTopics() throws(CommandFailure) {
        let inputs = list("input")
        let pattern = inputs.first?.hasPrefix("^") == true
        let template = text("dlq.topic") ?? ""
        let source = entry("dlq.topic").source
        if inputs.count > 1 || pattern, !template.contains("{input}") {
            throw CommandFailure(
                source.code, "\(source.description): with several inputs, `dlq.topic` must contain `{input}`",
                advice: "write {input}.dlq")
        }
        guard !pattern else { return }
        if let twice = Self.repeated(inputs) {
            let source = entry("input").source
            throw CommandFailure(
                source.code, "\(source.description): input topic \(twice) is listed twice", advice: "list it once")
        }
        let deadLetters = inputs.map(deadLetterTopic)
        if let long = deadLetters.first(where: { !ValueType.isTopic($0) }) {
            throw CommandFailure(
                source.code, "\(source.description): `\(Escaping.visible(long))` is not a valid topic name",
                advice: "use a shorter template: a topic name has at most 249 characters")
        }
        if let same = deadLetters.first(where: inputs.contains) {
            throw CommandFailure(
                source.code, "\(source.description): dead-letter topic \(same) is an input topic",
                advice: "write {input}.dlq")
        }
        let output = text("output") ?? ""
        if inputs.contains(output) || deadLetters.contains(output) {
            let named = entry("output").source
            let code = named == .default ? entry("input").source.code : named.code
            throw CommandFailure(
                code, "\(named.description): output topic \(output) is also an input or dead-letter topic",
                advice: "set --output to another topic")
        }
    }

    private func checkCommit() throws(CommandFailure) {
        let timeout =
            property("transaction.timeout.ms", client: "producer").flatMap { Int64($0.value) } ?? 30_000
        let interval = number("commit.interval")
        guard interval > timeout / 3 else { return }
        let source = entry("commit.interval").source
        throw CommandFailure(
            source.code,
            "\(source.description): `commit.interval` \(Durations.text(interval)) is more than a third of "
                + "transaction.timeout.ms \(timeout)",
            advice: "set at most \(timeout / 3)ms, or raise -X transaction.timeout.ms")
    }

    private func checkCanary() throws(CommandFailure) {
        guard text("canary.table") == nil else { return }
        for name in ["canary.percent", "canary.compare"] where entry(name).source != .default {
            guard number(name) > 0 else { continue }
            let source = entry(name).source
            throw CommandFailure(
                source.code, "\(source.description): `\(name)` needs `canary.table`",
                advice: "add --canary-table FILE, or remove `\(name)`")
        }
    }

    private func checkToken() throws(CommandFailure) {
        let given = ["sasl.token.file", "sasl.token.command"].filter { text($0) != nil }
        guard let name = given.last else { return }
        let source = entry(name).source
        if given.count > 1 {
            throw CommandFailure(
                source.code, "\(source.description): `sasl.token.file` and `sasl.token.command` are both set",
                advice: "set one of them")
        }
        let mechanisms = ["sasl.mechanisms", "sasl.mechanism"].compactMap { property($0, client: "consumer")?.value }
        guard !mechanisms.contains("OAUTHBEARER") else { return }
        throw CommandFailure(
            source.code, "\(source.description): `\(name)` needs the SASL mechanism OAUTHBEARER",
            advice: "add -X sasl.mechanisms=OAUTHBEARER, or remove `\(name)`")
    }

    private static func repeated(_ names: [String]) -> String? {
        var seen: Set<String> = []
        return names.first { !seen.insert($0).inserted }
    }
}
