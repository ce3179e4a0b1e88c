internal import DispatchWorker

/// The format of the log before the settings are known, for an error in the settings.
enum EarlyLogFormat {
    /// Returns the format of the flag or the environment, or nil if neither is valid.
    ///
    /// The configuration file is not read, because the error may be in it.
    static func of(_ call: Invocation) -> LogFormat? {
        let row = SettingsTable.row("log.format")
        let text = call.arguments.settings["log.format"]?.texts.last ?? row.flatMap { call.environment[$0.variable] }
        return text.flatMap(LogFormat.init)
    }
}
