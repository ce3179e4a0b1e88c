/// The source of a setting's value.
enum SettingSource: Equatable, Sendable {
    case `default`
    /// A file, and the line in it.
    case file(String, line: Int)
    /// An environment variable.
    case environment(String)
    /// A command-line flag.
    case flag(String)

    /// The description of the source in messages.
    var description: String {
        switch self {
        case .default: "default"
        case .file(let path, let line): "\(path):\(line)"
        case .environment(let name): "environment \(name)"
        case .flag(let name): "flag \(name)"
        }
    }

    /// The exit code for a wrong value: 64 from a flag, 78 from the environment or a file.
    var code: ExitCode {
        if case .flag = self { return .usage }
        return .configuration
    }
}

/// The unparsed texts of a setting from one source.
struct SettingTexts: Sendable {
    /// The repetitions of a flag, the elements of an array, or a single text.
    var texts: [String]
    /// A Boolean value that indicates whether commas separate the items of a list.
    var splitting: Bool
    /// The source of the texts.
    var source: SettingSource
}

/// A property of librdkafka with its source.
struct LibrdkafkaPair: Equatable, Sendable {
    /// The key, optionally with the prefix `consumer.` or `producer.`.
    var key: String
    /// The value.
    ///
    /// It is never printed if the key is a secret.
    var value: String
    /// The source of the property.
    var source: SettingSource

    /// The value for output, or asterisks for a secret.
    var shown: String { LibrdkafkaKeys.isSecret(key) ? "****" : value }
}
