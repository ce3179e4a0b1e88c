internal import RouteAnalysis
internal import LinkCoordinator
internal import LinkDecider
internal import LinkIngest
internal import ByteStorage
internal import StrictJSON

/// Explanations of an event's decisions, device by device, for `linkd resolve --explain`.
///
/// A class: the compiler needs half a minute to check the moves of a noncopyable structure that contains a resolver.
final class Explainer {
    private var reader: EventReader
    private var resolver = Resolver()
    private let tables: TableSet

    /// The explanation for one device: the decision of a table, and the envelope in which the request was found.
    struct DeviceExplanation {
        /// The decision, or nil if the request opens nothing and needs no table.
        var decision: Explanation?
        var envelope: EnvelopeTrace

        /// Returns a decision's JSON with the envelope and the trace as its last members.
        func json(of made: [UInt8]) -> [UInt8] {
            let members = JSONText.object { json in
                envelope.write("envelope", to: &json)
                if let decision { json.raw("explain", decision.json) }
            }
            var bytes = made
            bytes[bytes.count - 1] = UInt8(ascii: ",")
            return bytes + Array(members.utf8.dropFirst())
        }
    }

    /// Creates an explainer of the decisions that a decider with the same configuration and devices makes.
    init(_ configuration: DeciderConfiguration, devices: (any KnownDevices)? = nil) {
        tables = configuration.tables
        reader = EventReader(configuration, devices: devices)
    }

    /// Returns an explanation for each device of an event, or of each event in a list, or an empty array if there is no
    /// decision.
    ///
    /// - Parameters:
    ///   - value: The value of the record.
    ///   - key: The key of the record, or nil for none.
    ///   - headers: The headers of the record.
    ///   - only: The index of the only device that is explained, or nil for all devices.
    ///   - isItem: A Boolean value that indicates whether it is an item of a list, which has no items.
    func explain(
        value: ByteView, key: ByteView?, headers: [HeaderView], only: Int? = nil, isItem: Bool = false
    ) -> [DeviceExplanation] {
        guard reader.readInPlace(value: value, key: key, headers: headers) else {
            guard !isItem, let batch = reader.batch(of: value, key: key, headers: headers) else { return [] }
            return batch.items.flatMap { place in
                explain(
                    value: value.slice(place.lowerBound, place.upperBound), key: key,
                    headers: RecordBatch.headers(headers), isItem: true)
            }
        }
        var explanations: [DeviceExplanation] = []
        let event = reader.eventPointer
        let device = reader.devicePointer
        for index in 0..<event.pointee.deviceCount where only ?? index == index {
            guard reader.selectDevice(at: index) else { return [] }
            if event.pointee.hasNoDevice {
                explanations.append(DeviceExplanation(decision: nil, envelope: envelope(nil)))
                continue
            }
            guard let request = event.pointer(to: \.request), let facts = device.pointer(to: \.facts) else { return [] }
            // An event that cannot be read again is a dead letter `internal`, which has no explanation.
            guard let choice = try? reader.chooseTable(in: tables, using: &resolver) else { return [] }
            switch choice {
            case .unknown: return []
            case .opensNothing: explanations.append(DeviceExplanation(decision: nil, envelope: envelope(nil)))
            case .table(let chosen):
                guard let table = tables.tables.first(where: { $0.compiled.handle == chosen }) else { return [] }
                let trace = envelope(EnvelopeTrace.tablePointer(in: request.pointee, of: table))
                let isRead = try? reader.openPointerLink(of: chosen, keepsReadings: false, using: &resolver)
                guard isRead != nil else { return [] }
                explanations.append(DeviceExplanation(decision: table.explain(request, facts), envelope: trace))
            }
        }
        return explanations
    }

    /// Returns the envelope of the record for the selected device.
    private func envelope(_ tablePointer: String?) -> EnvelopeTrace {
        EnvelopeTrace(
            kind: reader.envelope, cloudEvents: reader.cloudEventsMode, message: reader.explainMessage(),
            tablePointer: tablePointer)
    }

    /// The explanations of each table for an event that no table claims, and the envelope of the event.
    struct UnclaimedEvent {
        /// The envelope, or nil if there is no explanation.
        var envelope: EnvelopeTrace?
        /// The tables: first the tables that read the link's scheme and host, then the tables with suggestions.
        var tables: [Claim] = []
    }

    /// The explanation of one table for an event that no single table claims.
    struct Claim {
        var table: RouteTable
        /// A Boolean value that indicates whether the table reads the scheme and host of the link.
        var isClaimed: Bool
        var explanation: Explanation
    }

    /// Returns the explanations of each table for an event that no table claims, or more than one.
    func unclaimed(value: ByteView, key: ByteView?, headers: [HeaderView]) -> UnclaimedEvent {
        guard reader.readInPlace(value: value, key: key, headers: headers) else { return UnclaimedEvent() }
        let event = reader.eventPointer
        guard reader.selectDevice(at: 0), !event.pointee.hasApplication, let request = event.pointer(to: \.request),
            let facts = reader.devicePointer.pointer(to: \.facts),
            request.pointee.form == .link || request.pointee.form == .payload
        else { return UnclaimedEvent() }
        let claimants = (try? tables.claimants(of: request, using: &resolver)) ?? []
        let all = tables.tables.map { table in
            Claim(
                table: table, isClaimed: claimants.contains { $0.compiled.handle == table.compiled.handle },
                explanation: table.explain(request, facts))
        }
        // The tables that claim the link come first, then tables with suggestions, then tables with its scheme.
        func rank(_ claim: Claim) -> Int {
            if claim.isClaimed { return 0 }
            let isOtherScheme = claim.explanation.decision.reason == .scheme
            return 1 + (claim.explanation.suggestions.isEmpty ? 2 : 0) + (isOtherScheme ? 1 : 0)
        }
        let sorted = all.enumerated().sorted { a, b in (rank(a.element), a.offset) < (rank(b.element), b.offset) }
        return UnclaimedEvent(envelope: envelope(nil), tables: sorted.map(\.element))
    }

    /// The applications that the tables list.
    var applications: [String] { tables.tables.flatMap { $0.source.applications.map(\.value) } }
}
