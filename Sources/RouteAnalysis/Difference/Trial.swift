internal import LinkCoordinator

/// A link of a set with the values that are tried with it.
struct Trial {
    /// The link without values.
    var witness: Witness
    /// Whether the link is tried without its leading slash too, which counts where it holds a coordinator path.
    var triesRelative = false
    /// What its decision may depend on.
    let concern: Concern
    /// The values.
    let probes: ValueProbes

    private let source: TableSource
    private let blocks: [TableSource.LinkBlock?]
    private let linkPointers: [JSONPath]

    /// Makes the values for a link.
    ///
    /// - Parameters:
    ///   - reading: For each table the block that reads the link.
    ///   - source: The table in whose dialect the query is written.
    init(
        _ witness: Witness, _ concern: Concern, _ tables: [ProofTable], _ reading: [Int?], _ source: TableSource
    ) {
        self.witness = witness
        self.concern = concern
        self.source = source
        probes = ValueProbes(concern, beside: witness.query)
        blocks = zip(tables, reading).map { table, block in block.map { table.source.blocks[$0] } }
        let pointers = tables.map { $0.source.payload.link.map(\.value) }
        let common = pointers[0].first { pointers[1].contains($0) }
        linkPointers = common.map { [$0] } ?? pointers.compactMap(\.first)
    }

    /// The request with some values under some circumstances; nil where they do not go together.
    func request(_ values: RequestValues, _ circumstance: Circumstance, head: String? = nil) -> LinkRequest? {
        frame(head).request(merged(values, circumstance))
    }

    /// The request with fitting values and a larger link; nil where it cannot be made so large, or is so already.
    func request(padded way: LinkPadding, _ circumstance: Circumstance) -> LinkRequest? {
        let frame = frame(nil)
        return way.pad(merged(probes.fitting, circumstance), in: frame).flatMap { frame.request($0) }
    }

    private func frame(_ head: String?) -> RequestFrame {
        RequestFrame(
            head: head ?? witness.head, dialect: source.blocks[witness.origin.block].query, linkPointers: linkPointers)
    }

    /// Values with those of the query that a circumstance has.
    private func merged(_ values: RequestValues, _ circumstance: Circumstance) -> RequestValues {
        var values = values
        for (name, value) in circumstance.query.sorted(by: { $0.key < $1.key })
        where values.isSame(as: probes.fitting, name) {
            values.set(name, value.map { [$0] } ?? [])
        }
        return values
    }

    /// All lists of values but the fitting one.
    var others: [RequestValues] {
        var others = probes.others
        if Set(concern.order).count > 1 { others += probes.pairs }
        guard let old = blocks[0], let new = blocks[1] else { return others }
        for query in DialectProbes.queries(probes.fitting, old, new) {
            var written = probes.fitting
            written.writtenQuery = query
            others.append(written)
        }
        return others
    }

    /// Other ways to write the path, where the tables may read them in different ways.
    var heads: [String] {
        var heads: [String] = []
        if let old = blocks[0], let new = blocks[1], old.emptySegments != new.emptySegments {
            heads += [witness.authority + "/" + witness.path, witness.head + "/"]
        }
        if triesRelative && !witness.origin.leads && witness.origin.host.isEmpty && witness.origin.port == nil {
            heads.append(witness.origin.scheme + ":" + witness.path.dropFirst())
        }
        return heads
    }
}

extension RequestValues {
    /// Whether a name has the same values in both.
    fileprivate func isSame(as other: RequestValues, _ name: String) -> Bool {
        query.first { $0.name == name }?.values == other.query.first { $0.name == name }?.values
    }
}
