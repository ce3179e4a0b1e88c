#if DEBUG
package import ByteStorage
internal import CLibrary

/// Records that end the process when they are resolved, for tests of debug builds.
///
/// `LINKD_TEST_CRASH_AT` is a list of `topic-partition-offset`, separated by commas. `=N` after a position is the
/// number of another signal than SIGSEGV. `=memory` stands for a record that needs more memory than there is. SIGKILL
/// ends the process, as the system would, unless the process reaches a limit of its own before. `=candidate` ends it
/// only when the candidate of a canary resolves the record.
package enum TestCrash {
    private static let points: [[UInt8]: String] = {
        guard let text = getenv("LINKD_TEST_CRASH_AT") else { return [:] }
        let pairs = String(cString: text).split(separator: ",").map { $0.split(separator: "=") }
        return Dictionary(pairs.map { (Array($0[0].utf8), $0.count > 1 ? String($0[1]) : "") }) { first, _ in first }
    }()

    /// Ends the process if the candidate resolves a record of the list.
    static func crashInCandidate(at position: ByteView) {
        guard !points.isEmpty, points[position.array] == "candidate" else { return }
        kill(getpid(), SIGSEGV)
        while true { pause() }
    }

    /// Ends the process if the record is one of the list.
    package static func crash(at topic: ByteView, _ record: ConsumedRecord) {
        guard !points.isEmpty else { return }
        let position = Array("\(topic.string)-\(record.partition)-\(record.offset)".utf8)
        guard let kind = points[position], kind != "candidate" else { return }
        if kind == "memory" {
            _ = UnsafeMutableRawPointer.allocate(byteCount: 2 << 30, alignment: 16)
            kill(getpid(), SIGKILL)
        } else if let number = Int32(kind) {
            kill(getpid(), number)
        } else {
            UnsafeMutablePointer<UInt8>(bitPattern: 8)?.pointee = 1
        }
        // A signal for the process may reach another thread.
        while true { pause() }
    }
}
#endif
