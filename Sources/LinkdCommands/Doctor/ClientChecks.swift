internal import DispatchWorker
internal import LinkCoordinator
internal import RouteTools
internal import ShortLinks

/// The checks of `linkd doctor` that need no broker.
enum ClientChecks {
    /// Checks the version of librdkafka.
    ///
    /// - Parameter isFixed: A Boolean value that indicates whether the version is 2.6.1 or later.
    static func library(_ version: String, isFixed: Bool, mechanism: String?) -> DoctorCheck {
        if isFixed { return .ok("library", "librdkafka \(version)") }
        if let mechanism, mechanism.hasPrefix("SCRAM") {
            return .warn(
                "library",
                "librdkafka \(version) implements \(mechanism) incorrectly for Kafka 3.7.2 and later (issue 4895)",
                next: "install librdkafka 2.6.1 or later, or use PLAIN over TLS or client certificates")
        }
        // The watchdog ends such a worker, and a supervisor restarts it.
        return .ok(
            "library",
            "librdkafka \(version), without SCRAM for Kafka 3.7.2 and later (since 2.6.1), and with known "
                + "hangs when a consumer closes")
    }

    /// Checks the security settings.
    static func security(_ settings: Settings) -> DoctorCheck {
        let used = settings.property("security.protocol", client: "consumer")?.value.lowercased() ?? "plaintext"
        let name = used.uppercased()
        guard used.hasPrefix("sasl") else {
            let given = settings.properties.contains { LibrdkafkaKeys.bare($0.key).hasPrefix("sasl.") }
            if given {
                return .warn(
                    "security", "\(name), so that the SASL settings have no effect",
                    next: "set KAFKA_SECURITY_PROTOCOL to SASL_SSL, or remove the SASL settings")
            }
            return used == "ssl"
                ? .ok("security", "\(name), encrypted")
                : .ok("security", "\(name), not encrypted, as \(settings.principal ?? "User:ANONYMOUS")")
        }
        let chosen = mechanism(settings) ?? "GSSAPI"
        let who = settings.principal.map { ", presumably as \($0)" } ?? ""
        if used == "sasl_plaintext", chosen == "PLAIN" {
            return .warn(
                "security", "\(name) sends the password of PLAIN unencrypted\(who)",
                next: "use SASL_SSL, or SCRAM-SHA-512")
        }
        return .ok("security", "\(name) with \(chosen)\(who)")
    }

    /// Checks the limit on open files.
    static func descriptors(
        lanes: Int, brokers: Int, limit: Int = ProcessFigures.maxFiles
    ) -> [DoctorCheck] {
        let needed = ProcessFigures.neededFiles(lanes: lanes, brokers: brokers)
        guard limit > 0, limit < needed else { return [] }
        return [
            .warn(
                "descriptors",
                "this process may open \(limit) files, and a worker with \(Counts.text(lanes, "lane")) and "
                    + "\(Counts.text(brokers, "broker")) needs up to \(needed)",
                next: "raise the limit (LimitNOFILE= of systemd, `ulimit -n`), or use fewer lanes")
        ]
    }

    /// Returns the SASL mechanism of the settings, or nil.
    static func mechanism(_ settings: Settings) -> String? {
        let keys = ["sasl.mechanisms", "sasl.mechanism"]
        return keys.compactMap { settings.property($0, client: "consumer")?.value }.first
    }
}

/// The checks of `linkd doctor` that read the files of a worker.
///
/// The checks are left out if the settings name no file, because the brokers can be checked before there is one.
enum FileChecks {
    /// The free space of the state directory below which a table may not fit, in bytes.
    private static let leastFree: Int64 = 64 << 20

    /// Checks the route tables as the start of a worker does.
    static func tables(_ settings: Settings) -> [DoctorCheck] {
        let files = TableFiles(named: settings.list("tables"), directory: settings.text("table.directory"))
        do throws(CommandFailure) {
            let paths = try files.paths()
            if paths.isEmpty { return [] }
            var names: [String] = []
            for path in paths {
                let table = try CheckedTable.validTable(at: path)
                names.append("\(table.id)@\(table.version)")
            }
            return [.ok("tables", names.joined(separator: ", "))]
        } catch {
            return [.fail("tables", error)]
        }
    }

    /// Reads the file of short links as the start of a worker does.
    static func shortLinks(_ settings: Settings) -> [DoctorCheck] {
        guard let path = settings.text("short.links") else { return [] }
        do throws(CommandFailure) {
            let file = try ShortLinkFile.ofSetting(path)
            return [.ok("short links", "\(path) has \(Counts.text(file.count, "short link"))")]
        } catch {
            return [.fail("short links", error)]
        }
    }

    /// Checks the state directory without taking it from a worker that runs.
    static func state(_ settings: Settings) -> [DoctorCheck] {
        guard let path = settings.text("state.dir") else { return [] }
        if let problem = StateDirectory.problem(at: path) {
            return [.fail("state", problem.reason, next: problem.advice)]
        }
        guard let free = StateDirectory.freeBytes(at: path) else {
            return [.ok("state", "\(path) does not exist yet, and can be created")]
        }
        return [judge(path, free: free)]
    }

    /// Judges the free space of a state directory.
    static func judge(_ path: String, free: Int64) -> DoctorCheck {
        guard free < leastFree else { return .ok("state", "\(path) can be written") }
        return .warn(
            "state", "\(path) has \(free) free bytes, so that the tables that are served may not be kept",
            next: "free space on its file system, at least \(leastFree >> 20) MiB")
    }
}
