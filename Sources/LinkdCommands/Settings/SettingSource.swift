/// Where a value came from.
enum SettingSource: Equatable, Sendable {
    case `default`
    /// A file and the line in it.
    case file(String, line: Int)
    /// A variable of the environment.
    case environment(String)
    /// A flag of the command line.
    case flag(String)

    /// In words.
    var description: String {
        switch self {
        case .default: "default"
        case .file(let path, let line): "\(path):\(line)"
        case .environment(let name): "environment \(name)"
        case .flag(let name): "flag \(name)"
        }
    }

    /// The code that a wrong value from here ends with: 64 for the command line, 78 for environment and file.
    var code: ExitCode {
        if case .flag = self { return .usage }
        return .configuration
    }
}

/// The texts that one source has for one setting, before they are read.
struct SettingTexts: Sendable {
    /// The repetitions of a flag, the elements of an array, or the one text.
    var texts: [String]
    /// Whether commas part the items of a list in a text.
    var splitting: Bool
    /// Where it came from.
    var source: SettingSource
}

/// A property of librdkafka with its source.
struct LibrdkafkaPair: Equatable, Sendable {
    /// The property, perhaps with `consumer.` or `producer.`.
    var key: String
    /// Its value; never shown when the key is a secret.
    var value: String
    /// Where it came from.
    var source: SettingSource

    /// The value, or stars for a secret.
    var shown: String { LibrdkafkaKeys.isSecret(key) ? "****" : value }
}
