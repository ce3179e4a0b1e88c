internal import LinkCoordinator

/// A link of a set with the values to try with it.
struct ProbeSet {
    /// The link without values.
    var witness: Witness
    /// A Boolean value that indicates whether to try the link without its leading slash too, which matters for
    /// coordinator paths.
    var triesRelative = false
    /// The inputs on which the link's decision can depend.
    let dependencies: Dependencies
    /// The values to try.
    let probes: ValueProbes

    private let source: TableSource
    private let blocks: [TableSource.LinkBlock?]
    private let linkPointers: [JSONPath]

    /// Creates the values for a link.
    ///
    /// - Parameters:
    ///   - reading: The block of each table that reads the link.
    ///   - source: The table in whose dialect the query is written.
    init(
        _ witness: Witness, _ dependencies: Dependencies, _ tables: [ProofTable], _ reading: [Int?],
        _ source: TableSource
    ) {
        self.witness = witness
        self.dependencies = dependencies
        self.source = source
        probes = ValueProbes(dependencies, beside: witness.query)
        blocks = zip(tables, reading).map { table, block in block.map { table.source.blocks[$0] } }
        let pointers = tables.map { $0.source.payload.link.map(\.value) }
        let common = pointers[0].first { pointers[1].contains($0) }
        linkPointers = common.map { [$0] } ?? pointers.compactMap(\.first)
    }

    /// Returns the request with some values in a context, or nil if they are incompatible.
    func request(_ values: RequestValues, _ context: EvaluationContext, head: String? = nil) -> LinkRequest? {
        frame(head).request(merged(values, context))
    }

    /// Returns the request with fitting values and a longer link, or nil if it cannot be made that long, or already is.
    func request(paddedBy padding: LinkPadding, _ context: EvaluationContext) -> LinkRequest? {
        let frame = frame(nil)
        return padding.pad(merged(probes.fitting, context), in: frame).flatMap { frame.request($0) }
    }

    private func frame(_ head: String?) -> RequestFrame {
        RequestFrame(
            head: head ?? witness.head, dialect: source.blocks[witness.origin.block].query, linkPointers: linkPointers)
    }

    /// Returns the values with the query parameters of a context.
    private func merged(_ values: RequestValues, _ context: EvaluationContext) -> RequestValues {
        var values = values
        for (name, value) in context.query.sorted(by: { $0.key < $1.key })
        where values.isSame(as: probes.fitting, name) {
            values.set(name, value.map { [$0] } ?? [])
        }
        return values
    }

    /// All lists of values except the fitting one.
    var others: [RequestValues] {
        var others = probes.others
        if Set(dependencies.order).count > 1 { others += probes.pairs }
        guard let old = blocks[0], let new = blocks[1] else { return others }
        for query in DialectProbes.queries(probes.fitting, old, new) {
            var written = probes.fitting
            written.writtenQuery = query
            others.append(written)
        }
        return others
    }

    /// Other spellings of the path that the tables can read differently.
    var heads: [String] {
        var heads: [String] = []
        if let old = blocks[0], let new = blocks[1], old.emptySegments != new.emptySegments {
            heads += [witness.authority + "/" + witness.path, witness.head + "/"]
        }
        if triesRelative && !witness.origin.isAuthoritySegment && witness.origin.host.isEmpty
            && witness.origin.port == nil
        {
            heads.append(witness.origin.scheme + ":" + witness.path.dropFirst())
        }
        return heads
    }
}

extension RequestValues {
    /// Returns a Boolean value that indicates whether a name has the same values in both.
    fileprivate func isSame(as other: RequestValues, _ name: String) -> Bool {
        query.first { $0.name == name }?.values == other.query.first { $0.name == name }?.values
    }
}
