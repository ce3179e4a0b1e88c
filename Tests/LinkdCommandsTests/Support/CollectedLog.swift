internal import DispatchWorker
internal import StrictJSON
internal import Synchronization

/// A log whose lines a test reads.
final class CollectedLog: Sendable {
    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
    }

    /// The log.
    let log: Log
    private let lines: Lines

    init() {
        let lines = Lines()
        self.lines = lines
        log = Log(level: .debug, format: .json) { line in lines.all.withLock { $0.append(line) } }
    }

    /// Returns the lines so far that have been written.
    func written() throws -> [JSONValue] {
        try lines.all.withLock { $0 }.map { try JSONValue.parse(Array($0.utf8)) }
    }

    /// Closes the log and returns all lines.
    func close() throws -> [JSONValue] {
        log.close()
        return try written()
    }
}
