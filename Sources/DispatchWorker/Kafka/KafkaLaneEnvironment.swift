internal import KafkaClient

/// The production environment of a lane: librdkafka clients and the system clocks.
final class KafkaLaneEnvironment: LaneEnvironment {
    private let configuration: WorkerConfiguration
    private let identity: LaneIdentity
    private let limits: [String: Int]
    private let watch: CallWatch

    /// Creates an environment.
    ///
    /// - Parameters:
    ///   - configuration: The worker's configuration.
    ///   - identity: The lane's names.
    ///   - limits: `max.message.bytes` of the topics for which it is known.
    ///   - watch: The watch that records the clients' calls.
    init(
        configuration: WorkerConfiguration, identity: LaneIdentity, limits: [String: Int], watch: CallWatch
    ) {
        self.watch = watch
        self.configuration = configuration
        self.identity = identity
        self.limits = limits
    }

    func makeConsumer(rebalance: @escaping (RebalanceEvent) -> Void) throws(KafkaError) -> KafkaLaneConsumer {
        let subscription: [String] =
            switch configuration.input {
            case .topics(let topics): topics
            case .pattern(let pattern): [pattern]
            }
        do {
            return try KafkaLaneConsumer(
                properties(of: .consumer), subscription: subscription, watch: watch, rebalance: rebalance)
        } catch {
            throw KafkaError(code: .invalidArgument, text: error.text)
        }
    }

    func makeProducer() throws(KafkaError) -> KafkaLaneProducer {
        do {
            return try KafkaLaneProducer(properties(of: .producer), watch: watch)
        } catch {
            throw KafkaError(code: .invalidArgument, text: error.text)
        }
    }

    private func properties(of client: ClientKind) -> ClientConfiguration {
        ClientSettings.clientConfiguration(
            of: client, configuration: configuration, identity: identity, messageLimit: limits.values.min())
    }

    var isMock: Bool { configuration.isMockBroker }

    func messageLimit(of topic: String) -> Int { limits[topic] ?? TopicFacts.assumedMessageLimit }

    func setUnmetNeeds(_ needs: [ClientNeed]) { watch.setUnmetNeeds(needs) }

    func now() -> UInt64 { SystemClock.monotonicNanoseconds() }

    func wallMilliseconds() -> Int64 { SystemClock.wallMilliseconds() }

    func sleep(milliseconds: Int) { SystemClock.sleep(milliseconds: milliseconds) }
}
