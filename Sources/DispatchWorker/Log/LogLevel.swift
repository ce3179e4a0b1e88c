/// How severe a log line is; the most severe first.
package enum LogLevel: UInt8, Sendable, CaseIterable, Comparable {
    case error, warning, info, debug

    /// The word that stands for the level in settings and lines.
    package var name: String {
        switch self {
        case .error: "error"
        case .warning: "warning"
        case .info: "info"
        case .debug: "debug"
        }
    }

    /// Whether `a` is more severe than `b`.
    package static func < (a: LogLevel, b: LogLevel) -> Bool { a.rawValue < b.rawValue }
}

/// How log lines are written (`log.format`).
package enum LogFormat: String, Sendable, CaseIterable {
    /// For people.
    case text
    /// One JSON object per line.
    case json
}
