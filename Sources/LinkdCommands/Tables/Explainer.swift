internal import LinkCoordinator
internal import LinkIngest
internal import StrictJSON

/// Resolves an event once more and tells why, device by device: for `linkd resolve --explain`.
struct Explainer: ~Copyable {
    private var reader: EventReader
    private var resolver = Resolver()
    private let tables: TableSet

    /// Explains with these tables.
    init(_ tables: TableSet, limits: IngestLimits) {
        self.tables = tables
        reader = EventReader(limits: limits)
    }

    /// An explanation for each device of an event, in their order; empty where there is no decision.
    mutating func explain(value: ByteView, key: ByteView?) -> [Explanation] {
        guard reader.readInPlace(value: value, key: key) else { return [] }
        var explanations: [Explanation] = []
        let event = reader.eventPointer
        let device = reader.devicePointer
        for index in 0..<event.pointee.deviceCount {
            reader.selectDevice(at: index)
            guard let request = event.pointer(to: \.request), let facts = device.pointer(to: \.facts) else { return [] }
            let application = event.pointee.hasApplication ? event.pointee.application : nil
            let chosen = tables.table(application: application, request: request, using: &resolver)
            guard let table = tables.tables.first(where: { $0.compiled.handle == chosen }) else { return [] }
            explanations.append(table.explain(request, facts))
        }
        return explanations
    }
}
