internal import DispatchWorker
internal import KafkaClient
internal import LinkCoordinator

/// Rules for the properties of librdkafka: those that linkd sets itself, and those that hold secrets.
enum LibrdkafkaKeys {
    /// Returns the alternative to a property that linkd sets itself, or nil for a property that a user can set.
    static func alternative(to key: String) -> String? {
        guard ClientSettings.refused.contains(key) else { return nil }
        return switch key {
        case "bootstrap.servers", "metadata.broker.list": "use --bootstrap"
        case "group.id": "use --group"
        case "group.instance.id", "client.id": "use --instance, which determines it"
        case "transactional.id": "use --group and --instance, which determine it"
        case "auto.offset.reset": "use --from and --data-loss"
        case "partition.assignment.strategy": "use --assignor"
        case "enable.idempotence": "use --guarantee"
        case "isolation.level": "remove it, because linkd reads only committed records"
        case "partitioner": "remove it, because linkd assigns devices to partitions as the Java client does"
        default: "remove it, because the guarantees of linkd depend on it"
        }
    }

    /// The properties that linkd sets itself, sorted by name, with the alternative to each.
    static var reserved: [(key: String, instead: String)] {
        ClientSettings.refused.sorted().compactMap { key in alternative(to: key).map { (key, $0) } }
    }

    /// Returns the known property with the most similar name, or nil.
    static func nearest(_ key: String) -> String? { NearestName.of(key, among: KnownProperties.all.map(\.name)) }

    /// Returns a Boolean value that indicates whether the value of a property is a secret.
    static func isSecret(_ key: String) -> Bool { KnownProperties.isSecret(bare(key)) }

    /// Returns a Boolean value that indicates whether a property is refused as a flag.
    ///
    /// Secrets are refused, because other processes can read flags.
    static func isForbiddenAsFlag(_ key: String) -> Bool { isSecret(key) && bare(key) != "sasl.username" }

    /// Returns the property without the prefix `consumer.` or `producer.`.
    static func bare(_ key: String) -> String { ClientSettings.split(key).key }
}
