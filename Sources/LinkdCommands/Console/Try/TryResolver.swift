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
        /// A Boolean value that indicates whether the event has expired, which its decisions do not regard.
        var isExpired = false
        /// The reason why the record would become a dead letter, or nil.
        var cause: DeadLetterCause?
        /// The explanations of each table for an event that no table claims.
        var unclaimed = Explainer.UnclaimedEvent()
    }

    /// The processor and explainer, which are used by one thread at a time.
    private final class Tools {
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
    func resolve(_ value: [UInt8], table: RouteTable?, explains: Bool) -> Answer {
        tools.withLock { known in
            let id = table?.id ?? ""
            let tools = known[id] ?? Tools(site, table.map { [$0] } ?? site.tables.map(\.table))
            known[id] = tools
            return Self.resolve(value, explains: explains, tools)
        }
    }

    private static func resolve(_ value: [UInt8], explains: Bool, _ tools: Tools) -> Answer {
        var answer = Answer()
        tools.arena.reset()
        let headers = EnvelopeHeaders()
        let key = ByteView("device" as StaticString)
        value.withUnsafeBufferPointer { bytes in
            let value = ByteView(bytes)
            if explains { answer.explanations = tools.explainer.explain(value: value, key: key, headers: headers) }
            answer.cause = tools.processor.process(
                value: value, key: key, headers: headers, hasContext: true, into: &tools.arena
            ) { device, decision, _ in answer.decisions.append((device.string, decision.array)) }
            if answer.cause == nil, let expiry = tools.processor.expiry {
                answer.isExpired = Platform.nowMilliseconds > expiry
            }
            if answer.cause?.reason == .applicationUnknown, explains {
                answer.unclaimed = tools.explainer.unclaimed(value: value, key: key, headers: headers)
            }
        }
        return answer
    }
}
