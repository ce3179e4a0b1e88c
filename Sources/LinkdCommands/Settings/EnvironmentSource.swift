internal import LinkCoordinator

/// The settings of the environment: `LINKD_…` variables, and `KAFKA_…` variables as properties of librdkafka.
struct EnvironmentSource {
    /// The texts by the name of the setting.
    var settings: [String: SettingTexts] = [:]
    /// The properties of librdkafka.
    var properties: [LibrdkafkaPair] = []

    /// `LINKD_…` variables that are not settings.
    private static let others: Set<String> = ["LINKD_CONFIG", "LINKD_HOME", "LINKD_FAULTS"]

    /// Reads the variables of an environment.
    ///
    /// - Parameter isKnownProperty: A closure that returns true if librdkafka has a property of that name.
    init(_ environment: [String: String], isKnownProperty: (String) -> Bool) throws(CommandFailure) {
        for (variable, value) in environment.sorted(by: { $0.key < $1.key }) where !value.isEmpty {
            if variable.hasPrefix("LINKD_") {
                try readSetting(variable, value)
            } else if variable.hasPrefix("KAFKA_") {
                try readProperty(variable, value, isKnownProperty: isKnownProperty)
            }
        }
    }

    private mutating func readSetting(_ variable: String, _ value: String) throws(CommandFailure) {
        if Self.others.contains(variable) || variable.hasPrefix("LINKD_TEST_") { return }
        guard let row = SettingsTable.rows.first(where: { $0.variable == variable }) else {
            let nearest = NearestName.of(variable, among: SettingsTable.rows.map(\.variable))
            throw CommandFailure(
                .configuration, "environment variable \(variable) is not a setting",
                advice: nearest.map { "set \($0) instead" }
                    ?? "unset it, or see `linkd config --reference` for all settings")
        }
        settings[row.name] = SettingTexts(texts: [value], splitting: true, source: .environment(variable))
    }

    private mutating func readProperty(
        _ variable: String, _ value: String, isKnownProperty: (String) -> Bool
    ) throws(CommandFailure) {
        let source = SettingSource.environment(variable)
        if variable == "KAFKA_BOOTSTRAP_SERVERS" {
            guard settings["bootstrap"] == nil else { return }
            settings["bootstrap"] = SettingTexts(texts: [value], splitting: true, source: source)
            return
        }
        let key = String(variable.dropFirst(6)).lowercased().replacing("_", with: ".")
        if isKnownProperty(key) {
            properties.append(LibrdkafkaPair(key: key, value: value, source: source))
            return
        }
        guard key.hasSuffix(".file"), isKnownProperty(String(key.dropLast(5))) else { return }
        properties.append(
            LibrdkafkaPair(key: String(key.dropLast(5)), value: try secret(in: value, variable), source: source))
    }

    /// Returns the contents of a secret's file, without the newline that editors append.
    private func secret(in path: String, _ variable: String) throws(CommandFailure) -> String {
        switch Platform.contents(of: path, limit: 65536) {
        case .failure(let error):
            throw CommandFailure(
                .configuration, "environment variable \(variable): file \(path) cannot be read: \(error.text)",
                advice: "specify a file that this user can read")
        case .success(var bytes):
            if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
            if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
            return String(decoding: bytes, as: UTF8.self)
        }
    }
}
