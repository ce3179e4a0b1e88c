internal import ByteStorage
internal import LinkCoordinator
internal import LinkDecider
internal import LinkIngest
internal import SystemThreads

/// The resolver behind the endpoints that try links.
///
/// It decides like a worker with the same settings.
final class TryResolver: Sendable {
    /// The answer to one record.
    struct Answer {
        /// The decisions, device by device, without the members that a worker adds.
        var decisions: [(device: String, json: [UInt8])] = []
        /// The explanations of the decisions, or an empty array if they were not requested.
        var explanations: [Explainer.DeviceExplanation] = []
        /// The decisions if the event had not expired, or an empty array if it has not.
        var unexpired: [[UInt8]] = []
        /// The reason why the record, or the first of its items, would become a dead letter, or nil.
        var cause: DeadLetterCause?
        /// The explanations of each table for an event that no table claims.
        var unclaimed = Explainer.UnclaimedEvent()
    }

    /// The decider and explainer, which are used by one thread at a time.
    fileprivate final class Tools {
        var decider: Decider
        let explainer: Explainer
        var arena = OutputArena()

        init(_ configuration: DeciderConfiguration, hasRegistry: Bool) {
            decider = Decider(configuration, devices: hasRegistry ? GivenDevices() : nil)
            explainer = Explainer(configuration, devices: hasRegistry ? GivenDevices() : nil)
        }
    }

    /// The key of a record that is tried.
    static let key = ByteView("device" as StaticString)

    private let configuration: DeciderConfiguration
    /// The tools for all tables, under the empty text, and for each table alone, by its id.
    private let tools = Monitor<[String: Tools]>([:])

    /// A Boolean value that indicates whether the worker has a registry of devices, which is unknown here.
    private let hasRegistry: Bool

    /// Creates a resolver that decides like a worker with this configuration and an empty registry of devices, or none.
    init(_ configuration: DeciderConfiguration, hasRegistry: Bool = false) {
        self.configuration = configuration
        self.hasRegistry = hasRegistry
    }

    /// Resolves a record with one table, or with all of them, and explains its decisions on request.
    ///
    /// - Parameters:
    ///   - value: The value of the record.
    ///   - key: The key of the record, or nil for none.
    ///   - table: The only table, or nil for all of them.
    ///   - explains: A Boolean value that indicates whether to explain the decisions, as if no event expired.
    ///   - time: The time that an expiry is compared with, in milliseconds since 1970, or -1 for no expiry.
    func resolve(
        _ value: [UInt8], key: ByteView? = TryResolver.key, table: RouteTable?, explains: Bool, time: Int64 = -1
    ) -> Answer {
        tools.withLock { known in
            let id = table?.id ?? ""
            var configuration = configuration
            if let table { configuration.tables = TableSet([table]) }
            let tools = known[id] ?? Tools(configuration, hasRegistry: hasRegistry)
            known[id] = tools
            return value.withUnsafeBufferPointer {
                tools.resolve(ByteView($0), key: key, explains: explains, time: time)
            }
        }
    }
}

extension TryResolver.Tools {
    fileprivate func resolve(
        _ value: ByteView, key: ByteView?, explains: Bool, time: Int64
    ) -> TryResolver.Answer {
        var answer = TryResolver.Answer()
        if explains { answer.explanations = explainer.explain(value: value, key: key, headers: []) }
        answer.cause = process(value, key, time: time) { device, decision in
            answer.decisions.append((device.string, decision.array))
        }
        if answer.cause == nil, !value.hasPrefix(ByteView("[" as StaticString)), decider.hasExpired(at: time) {
            _ = process(value, key, time: -1) { _, decision in answer.unexpired.append(decision.array) }
        }
        if answer.cause?.reason == .applicationUnknown, explains {
            answer.unclaimed = explainer.unclaimed(value: value, key: key, headers: [])
        }
        return answer
    }

    private func process(
        _ value: ByteView, _ key: ByteView?, time: Int64, _ body: (_ device: ByteView, _ decision: ByteView) -> Void
    ) -> DeadLetterCause? {
        arena.reset()
        return decider.decide(value: value, key: key, time: time, into: &arena) { device, decision, _ in
            body(device, decision)
        }
    }
}
