internal import DispatchWorker

/// Handling of Ctrl-C for commands that print a summary before they end.
///
/// The first signal is recorded. The second one ends the process at once.
enum Interruption {
    /// Installs handlers for SIGINT and SIGTERM.
    static func installHandlers() { StopSignals.installEndingOnSecond() }

    /// The number of the first signal, or nil.
    static var signalNumber: Int32? { StopSignals.number }
}
