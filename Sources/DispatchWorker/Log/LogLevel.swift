/// The severity of a log line, most severe first.
package enum LogLevel: UInt8, Sendable, CaseIterable, Comparable {
    case error, warning, info, debug

    /// The name of the level in settings and log lines.
    package var name: String {
        switch self {
        case .error: "error"
        case .warning: "warning"
        case .info: "info"
        case .debug: "debug"
        }
    }

    /// Returns a Boolean value that indicates whether `a` is more severe than `b`.
    package static func < (a: LogLevel, b: LogLevel) -> Bool { a.rawValue < b.rawValue }
}

/// The format of log lines (`log.format`).
package enum LogFormat: String, Sendable, CaseIterable {
    /// Text for people.
    case text
    /// One JSON object per line.
    case json
}
