internal import DispatchWorker
internal import KafkaClient
internal import LinkCoordinator

/// What linkd knows about librdkafka's properties: which it keeps for itself and which are secrets.
enum LibrdkafkaKeys {
    /// What to do instead of setting a property that linkd sets itself; nil for a property that may be set.
    static func insteadOf(_ key: String) -> String? {
        guard ClientSettings.refused.contains(key) else { return nil }
        return switch key {
        case "bootstrap.servers", "metadata.broker.list": "use --bootstrap"
        case "group.id": "use --group"
        case "group.instance.id", "client.id": "use --instance, it is made of it"
        case "transactional.id": "use --group and --instance, it is made of them"
        case "auto.offset.reset": "use --from and --data-loss"
        case "partition.assignment.strategy": "use --assignor"
        case "enable.idempotence": "use --guarantee"
        case "isolation.level": "leave it out, linkd reads committed records only"
        case "partitioner": "leave it out, linkd places devices as the Java client does"
        default: "leave it out, what linkd guarantees stands on it"
        }
    }

    /// All properties that linkd sets itself, in order, with what to do instead.
    static var reserved: [(key: String, instead: String)] {
        ClientSettings.refused.sorted().compactMap { key in insteadOf(key).map { (key, $0) } }
    }

    /// The property that was probably meant.
    static func nearest(_ key: String) -> String? { NearestName.of(key, among: KnownProperties.all.map(\.name)) }

    /// Whether a value must not be shown.
    static func isSecret(_ key: String) -> Bool { KnownProperties.isSecret(bare(key)) }

    /// Whether a value must not be given as a flag, where every process of the machine could read it.
    static func isForbiddenAsFlag(_ key: String) -> Bool { isSecret(key) && bare(key) != "sasl.username" }

    /// The key without `consumer.` or `producer.`.
    static func bare(_ key: String) -> String { ClientSettings.split(key).key }
}
