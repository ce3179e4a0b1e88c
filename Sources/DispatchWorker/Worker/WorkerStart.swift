internal import KafkaClient

/// The part of the start that comes before the lanes: reach a broker, find the topics.
struct WorkerStart {
    let configuration: WorkerConfiguration
    let shared: WorkerShared
    let identity: LaneIdentity

    /// What the lanes must know, an exit, or nil when a stop was asked for meanwhile.
    func facts(_ heedsSignals: Bool) -> Result<TopicFacts?, WorkerExit> {
        let admin: KafkaAdmin
        do {
            admin = try KafkaAdmin(clientConfiguration)
        } catch {
            return .failure(
                WorkerExit(.configuration, error.text, advice: "correct the setting that the message names"))
        }
        defer { admin.close() }
        let preflight = TopicPreflight(configuration: configuration, admin: admin)
        let signals = StopSignals.count
        let began = SystemClock.monotonicNanoseconds()
        var last = KafkaError(code: .allBrokersDown)
        while SystemClock.monotonicNanoseconds() &- began < UInt64(configuration.startTimeoutMilliseconds) * 1_000_000 {
            if shared.isDraining || (heedsSignals && StopSignals.count > signals) { return .success(nil) }
            do {
                return try preflight.look().map { $0 }
            } catch {
                last = error
                if let exit = fatal(error, admin.takeEvents()) { return .failure(exit) }
                SystemClock.sleep(milliseconds: 100)
            }
        }
        return .failure(
            WorkerExit(
                .unavailable, "no broker answered within start.timeout: \(last.name)",
                advice: "check --bootstrap (\(configuration.bootstrap.joined(separator: ","))) and that the brokers run"
            ))
    }

    private func fatal(_ error: KafkaError, _ events: [ClientEvent]) -> WorkerExit? {
        let errors = [error] + events.compactMap { if case .error(let error) = $0 { error } else { nil } }
        for error in errors {
            switch KafkaErrorClass(error) {
            case .authentication:
                return Scram.isAsked(configuration) && !LibraryInfo.supportsSCRAM
                    ? Scram.exit(LibraryInfo.versionText, error.text) : LaneMachine.authenticationExit(error)
            case .authorization(let resource):
                return WorkerExit(
                    .denied, "not authorized for this \(resource.rawValue): \(error.text)",
                    advice: "grant the worker's principal the missing right")
            default: continue
            }
        }
        return nil
    }

    /// The connection's settings without what only producers and consumers of a lane may have.
    private var clientConfiguration: ClientConfiguration {
        var result = ClientConfiguration()
        for property in ClientSettings.connection(configuration, identity) {
            if KnownProperties.named(property.key)?.scope != .consumer { result[property.key] = property.value }
        }
        result["client.id"] = identity.clientID
        return result
    }
}
