/// A runner of inputs, which one thread uses for all of them.
package final class FuzzRunner {
    let environments: [FuzzEnvironment]
    let cost: CostBound
    /// The environments of the target `ingest`, which other targets do not need.
    private(set) lazy var ingestEnvironments = (try? FuzzEnvironment.ingest()) ?? []
    private var known: [UInt64: UInt64] = [:]

    /// Creates a runner.
    ///
    /// - Parameters:
    ///   - environments: The environments that inputs can name.
    ///   - cost: The cost bound of a record.
    package init(environments: [FuzzEnvironment], cost: CostBound = .none) {
        self.environments = environments
        self.cost = cost
    }

    /// Returns the digest of a record's result from a fresh processor.
    ///
    /// Digests are cached.
    func freshDigest(_ record: FuzzRecord, _ environment: FuzzEnvironment) -> UInt64 {
        var key = Digest()
        key.add(Array(environment.name.utf8))
        key.add(UInt64(bitPattern: record.offset))
        key.add(record.key ?? [])
        key.add(record.key == nil ? 0 : 1)
        key.add(record.value)
        if let digest = known[key.value] { return digest }
        if known.count > 100_000 { known.removeAll(keepingCapacity: true) }
        let digest = RecordLane.freshDigest(record, environment)
        known[key.value] = digest
        return digest
    }
}
