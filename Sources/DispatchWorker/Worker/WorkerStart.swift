internal import KafkaClient

/// The start of a worker before its lanes, which connects to a broker and checks the topics.
struct WorkerStart {
    let configuration: WorkerConfiguration
    let shared: WorkerShared
    let identity: LaneIdentity
    let watch: CallWatch

    /// Returns the facts that the lanes need, an exit, or nil if `isStopping` returned true.
    func facts(_ isStopping: () -> Bool) -> Result<TopicFacts?, WorkerExit> {
        if isStopping() { return .success(nil) }
        let admin: KafkaAdmin
        do {
            admin = try KafkaAdmin(ClientSettings.adminConfiguration(configuration, identity), watch: watch)
        } catch {
            return .failure(
                WorkerExit(.configuration, error.text, advice: "correct the setting that the message names"))
        }
        defer { admin.close() }
        let preflight = TopicPreflight(configuration: configuration, admin: admin)
        let began = SystemClock.monotonicNanoseconds()
        var last: ConnectionCause?
        var answer: KafkaError?
        while SystemClock.monotonicNanoseconds() &- began < UInt64(configuration.startTimeoutMilliseconds) * 1_000_000 {
            if isStopping() { return .success(nil) }
            do {
                return try preflight.check(isStopping)
            } catch {
                let events = admin.takeEvents()
                for event in events { shared.brokers?.report(event) }
                if let exit = fatal(error, events) { return .failure(exit) }
                if error.code.rawValue > 0 { answer = error }
                last = events.compactMap(admin.cause).last ?? ConnectionCause(error) ?? last
                SystemClock.sleep(milliseconds: 100)
            }
        }
        if let answer { return .failure(.unready(answer)) }
        let cause = last ?? shared.brokers?.state(now: SystemClock.monotonicNanoseconds()).cause
        return .failure(
            WorkerExit(
                .unavailable,
                "no broker of \(configuration.bootstrap.joined(separator: ",")) answered within start.timeout"
                    + (cause.map { ": " + $0.summary } ?? ""),
                advice: cause?.advice ?? "check --bootstrap and whether the brokers are running"))
    }

    private func fatal(_ error: KafkaError, _ events: [ClientEvent]) -> WorkerExit? {
        let errors = [error] + events.compactMap { if case .error(let error) = $0 { error } else { nil } }
        for error in errors {
            switch KafkaErrorClass(error) {
            case .authentication:
                return Scram.isSelected(configuration) && !LibraryInfo.supportsSCRAM
                    ? Scram.exit(LibraryInfo.versionText, error.text) : LaneMachine.authenticationExit(error)
            case .authorization(let resource):
                return RightsText(configuration).exit(.openTopics, error, resource)
            default: continue
            }
        }
        return nil
    }
}
