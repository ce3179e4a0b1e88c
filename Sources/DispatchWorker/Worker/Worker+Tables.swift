package import LinkCoordinator
package import LinkIngest

extension Worker {
    /// The requests of an operator, of which loading the tables again is answered outside of the worker.
    package var requests: SignalRequests { shared.requests }

    /// Runs until the worker ends.
    ///
    /// Every lane resolves records with these tables, and takes newer ones between two batches. With `crashes`, records
    /// that end the process are isolated.
    ///
    /// This function uses a concrete type of processor, so that the compiler specializes the generic lane.
    package func run(
        tables: ServedTables, limits: IngestLimits, passthrough: [String], vendors: VendorTable? = nil,
        platforms: LinkPlatforms? = nil, crashes: CrashIsolation? = nil
    ) -> WorkerOutcome {
        status.show(tables)
        let outputs = OutputLimits(
            decisionBytes: configuration.decisionBytesLimit, recordBytes: configuration.outputBytesLimit)
        return run(crashes: crashes) { _ in
            RecordProcessor(
                tables: tables, limits: limits, passthrough: passthrough, outputs: outputs, vendors: vendors,
                platforms: platforms)
        }
    }

    /// Runs until the worker ends, with tables that never change.
    package func run(
        tables: TableSet, limits: IngestLimits, passthrough: [String], vendors: VendorTable? = nil,
        platforms: LinkPlatforms? = nil
    ) -> WorkerOutcome {
        run(
            tables: ServedTables(ServedTables.Version(tables)), limits: limits, passthrough: passthrough,
            vendors: vendors, platforms: platforms)
    }
}
