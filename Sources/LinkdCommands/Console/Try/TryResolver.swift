internal import ByteStorage
internal import DispatchWorker
internal import LinkCoordinator
internal import LinkIngest
internal import StrictJSON
internal import SystemThreads

/// The resolver behind the endpoints that try links, which decides as a worker with the same settings does.
final class TryResolver: Sendable {
    /// The answer to one record.
    struct Answer {
        /// The decisions, device by device, without the members that a worker adds.
        var decisions: [(device: String, json: [UInt8])] = []
        /// The explanations of the decisions, or an empty array if they were not requested.
        var explanations: [Explainer.DeviceExplanation] = []
        /// The decisions if the event had not expired, or an empty array if it has not.
        var unexpired: [[UInt8]] = []
        /// The reason why the record would become a dead letter, or nil.
        var cause: DeadLetterCause?
        /// The explanations of each table for an event that no table claims.
        var unclaimed = Explainer.UnclaimedEvent()
    }

    /// The processor and explainer, which are used by one thread at a time.
    fileprivate final class Tools {
        var processor: RecordProcessor
        let explainer: Explainer
        var arena = OutputArena()

        init(_ site: ConsoleSite, _ tables: [RouteTable]) {
            let set = TableSet(tables)
            processor = RecordProcessor(
                tables: set, limits: IngestLimits(site.settings), vendors: site.vendors.table,
                platforms: site.vendors.platforms)
            explainer = Explainer(set, limits: IngestLimits(site.settings), site.vendors)
        }
    }

    private let site: ConsoleSite
    /// The tools for all tables, under the empty text, and for each table alone, by its id.
    private let tools = Monitor<[String: Tools]>([:])

    /// Creates a resolver for the tables of a console.
    init(_ site: ConsoleSite) { self.site = site }

    /// Resolves a record with one table, or with all of them, and explains its decisions on request.
    ///
    /// - Parameters:
    ///   - value: The value of the record.
    ///   - table: The only table, or nil for all of them.
    ///   - explains: A Boolean value that indicates whether the decisions are explained, as if no event expired.
    ///   - time: The time that an expiry is compared with, in milliseconds since 1970, or -1 for no expiry.
    func resolve(_ value: [UInt8], table: RouteTable?, explains: Bool, time: Int64 = -1) -> Answer {
        tools.withLock { known in
            let id = table?.id ?? ""
            let tools = known[id] ?? Tools(site, table.map { [$0] } ?? site.tables.map(\.table))
            known[id] = tools
            return value.withUnsafeBufferPointer { tools.resolve(ByteView($0), explains: explains, time: time) }
        }
    }
}

extension TryResolver.Tools {
    private static let key = ByteView("device" as StaticString)

    fileprivate func resolve(_ value: ByteView, explains: Bool, time: Int64) -> TryResolver.Answer {
        var answer = TryResolver.Answer()
        let headers = EnvelopeHeaders()
        if explains { answer.explanations = explainer.explain(value: value, key: Self.key, headers: headers) }
        answer.cause = process(value, time: time) { device, decision in
            answer.decisions.append((device.string, decision.array))
        }
        if answer.cause == nil, processor.hasExpired(at: time) {
            _ = process(value, time: -1) { _, decision in answer.unexpired.append(decision.array) }
        }
        if answer.cause?.reason == .applicationUnknown, explains {
            answer.unclaimed = explainer.unclaimed(value: value, key: Self.key, headers: headers)
        }
        return answer
    }

    private func process(
        _ value: ByteView, time: Int64, _ body: (_ device: ByteView, _ decision: ByteView) -> Void
    ) -> DeadLetterCause? {
        arena.reset()
        return processor.process(
            value: value, key: Self.key, hasContext: true, time: time, into: &arena
        ) { device, decision, _ in body(device, decision) }
    }
}
