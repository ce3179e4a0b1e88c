package import LinkCoordinator
package import LinkIngest

extension Worker {
    /// Runs until the end, every lane resolving records with these tables.
    ///
    /// The lane is generic over what resolves records; here it meets the real one, so that the compiler specialises it.
    package func run(tables: TableSet, limits: IngestLimits, passthrough: [String]) -> WorkerOutcome {
        let outputs = OutputLimits(
            decisionBytes: configuration.decisionBytesLimit, recordBytes: configuration.outputBytesLimit)
        return run { _ in
            RecordProcessor(tables: tables, limits: limits, passthrough: passthrough, outputs: outputs)
        }
    }
}
