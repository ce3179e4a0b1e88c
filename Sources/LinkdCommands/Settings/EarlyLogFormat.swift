internal import DispatchWorker

/// The format of the log before the settings are known, for an error in the command line or in the settings.
enum EarlyLogFormat {
    private static let flag = "--log-format"

    /// Returns the format of the flag or the environment, or nil if neither is valid.
    ///
    /// The words of the command line are searched, because they may not follow its declaration. The configuration file
    /// is not read, because the error may be in it.
    static func of(_ words: [String], _ environment: [String: String]) -> LogFormat? {
        let text = flagValue(words) ?? SettingsTable.row("log.format").flatMap { environment[$0.variable] }
        return text.flatMap(LogFormat.init)
    }

    private static func flagValue(_ words: [String]) -> String? {
        guard let index = words.lastIndex(where: { $0 == flag || $0.hasPrefix(flag + "=") }) else { return nil }
        if words[index] != flag { return String(words[index].dropFirst(flag.utf8.count + 1)) }
        return words.dropFirst(index + 1).first
    }
}
