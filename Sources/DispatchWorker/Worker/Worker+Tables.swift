package import LinkDecider

extension Worker {
    /// The requests of an operator.
    ///
    /// The caller of the worker answers the request to load the tables again.
    package var requests: SignalRequests { shared.requests }

    /// Runs until the worker ends.
    ///
    /// Every lane decides with these tables instead of the tables in the configuration, and takes newer ones between
    /// two batches. With `crashes`, records that end the process are isolated.
    ///
    /// This function uses a concrete type of processor, so that the compiler specializes the generic lane.
    package func run(
        tables: ServedTables, _ configuration: DeciderConfiguration, crashes: CrashIsolation? = nil
    ) -> WorkerOutcome {
        status.show(tables)
        return run(crashes: crashes) { [shared] _ in
            RecordProcessor(tables, configuration, devices: shared.devices?.devices())
        }
    }

    /// Runs until the worker ends, with tables that never change.
    package func run(_ configuration: DeciderConfiguration) -> WorkerOutcome {
        run(tables: ServedTables(ServedTables.Version(configuration.tables)), configuration)
    }
}
