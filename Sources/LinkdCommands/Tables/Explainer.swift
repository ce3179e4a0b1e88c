internal import RouteAnalysis
internal import LinkCoordinator
internal import LinkIngest
internal import ByteStorage

/// Explanations of an event's decisions, device by device, for `linkd resolve --explain`.
///
/// A class: the compiler needs half a minute to check the moves of a noncopyable structure that contains a resolver.
final class Explainer {
    private var reader: EventReader
    private var resolver = Resolver()
    private let tables: TableSet

    /// Creates an explainer for a set of tables.
    init(_ tables: TableSet, limits: IngestLimits) {
        self.tables = tables
        reader = EventReader(limits: limits)
    }

    /// Returns an explanation for each device of an event, or an empty array if there is no decision.
    func explain(value: ByteView, key: ByteView?) -> [Explanation] {
        guard reader.readInPlace(value: value, key: key) else { return [] }
        var explanations: [Explanation] = []
        let event = reader.eventPointer
        let device = reader.devicePointer
        for index in 0..<event.pointee.deviceCount {
            guard reader.selectDevice(at: index) else { return [] }
            guard let request = event.pointer(to: \.request), let facts = device.pointer(to: \.facts) else { return [] }
            let application = event.pointee.hasApplication ? event.pointee.application : nil
            // An event that cannot be read again is a dead letter `internal`, which has no explanation.
            guard let chosen = try? tables.table(application: application, request: request, using: &resolver),
                let table = tables.tables.first(where: { $0.compiled.handle == chosen })
            else { return [] }
            explanations.append(table.explain(request, facts))
        }
        return explanations
    }

    /// Returns the explanations of each table for an event that no table claims.
    ///
    /// Explanations with suggestions come first.
    func unclaimed(value: ByteView, key: ByteView?) -> [(table: RouteTable, explanation: Explanation)] {
        guard reader.readInPlace(value: value, key: key) else { return [] }
        let event = reader.eventPointer
        guard reader.selectDevice(at: 0), !event.pointee.hasApplication, let request = event.pointer(to: \.request),
            let facts = reader.devicePointer.pointer(to: \.facts),
            request.pointee.form == .link || request.pointee.form == .payload
        else { return [] }
        let all = tables.tables.map { (table: $0, explanation: $0.explain(request, facts)) }
        // Tables with suggestions come first, then those with the scheme of the link.
        func rank(_ explanation: Explanation) -> Int {
            (explanation.suggestions.isEmpty ? 2 : 0) + (explanation.decision.reason == .scheme ? 1 : 0)
        }
        return all.enumerated().sorted { a, b in
            (rank(a.element.explanation), a.offset) < (rank(b.element.explanation), b.offset)
        }.map(\.element)
    }

    /// The applications that the tables list.
    var applications: [String] { tables.tables.flatMap { $0.source.applications.map(\.value) } }
}
