internal import Foundation
internal import Synchronization

/// A process that ends at the latest when the test process ends, even if that crashes.
///
/// A shell beside it waits for the end of a pipe from the test process. Its directory for temporary files is deleted
/// after its end.
package final class GuardedProcess: Sendable {
    /// The shell: it starts the program, ends it at the end of standard input, and then deletes the directory.
    private static let script = """
        directory=$1; shift
        exec 3<&0
        "$@" < /dev/null 3<&- > "$directory/out" 2> "$directory/err" &
        child=$!
        echo "$child" > "$directory/pid"
        (
            cat <&3 > /dev/null
            [ -e "$directory/status" ] && exit
            kill -TERM "$child" 2> /dev/null
            for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
                kill -0 "$child" 2> /dev/null || exit
                sleep 0.1
            done
            kill -KILL "$child"
        ) &
        wait "$child"
        echo "$?" > "$directory/status"
        cat <&3 > /dev/null
        # Processes that the program has started can still write into it.
        for _ in 1 2 3 4 5; do rm -rf "$directory" 2> /dev/null && exit; sleep 0.2; done
        """

    private let process: Process
    private let pipe = Pipe()
    private let ended = DispatchSemaphore(value: 0)
    private let directory: URL
    private let isStopped = Mutex(false)

    /// Starts a program that is found in `PATH`.
    ///
    /// - Parameters:
    ///   - command: The name or path of the program, and its arguments.
    ///   - environment: The whole environment, to which only `TMPDIR` is added.
    /// - Throws: File errors, and errors of the start.
    package init(
        _ command: [String], environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "guarded-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", Self.script, "guarded", directory.path] + command
        process.environment = environment.merging(["TMPDIR": directory.path]) { $1 }
        process.standardInput = pipe
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        process.terminationHandler = { [ended] _ in ended.signal() }
        // Threads of Swift's pool block signals, and children inherit that. The shell would never see a child's end.
        var none = sigset_t()
        var before = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        try process.start()
    }

    deinit { stop() }

    /// The standard output so far.
    package var output: String { text("out") }

    /// The standard error so far.
    package var errors: String { text("err") }

    /// The exit status of the program in the notation of the shell, or nil while it runs.
    package var status: Int32? { Int32(text("status").trimmingCharacters(in: .newlines)) }

    private func text(_ name: String) -> String {
        let data = (try? Data(contentsOf: directory.appending(path: name))) ?? Data()
        return String(decoding: data, as: UTF8.self)
    }

    /// The process id of the program while it runs.
    package var child: Int32? { status == nil ? Int32(text("pid").trimmingCharacters(in: .newlines)) : nil }

    /// Sends a signal to the program.
    package func signal(_ number: Int32) {
        if let child { Foundation.kill(child, number) }
    }

    /// Ends the program, and waits for its end.
    package func stop() {
        let isFirst = isStopped.withLock { stopped in
            defer { stopped = true }
            return !stopped
        }
        guard isFirst else { return }
        try? pipe.fileHandleForWriting.close()
        // `waitUntilExit` needs the run loop of the thread that started the process.
        _ = ended.wait(timeout: .now() + 10)
    }

    /// Waits until the output contains a text that a function finds.
    ///
    /// - Throws: `ChildProcess.Failure` if the program ends, or the time is over.
    package func awaits<Found>(seconds: Double, _ find: (GuardedProcess) -> Found?) throws -> Found {
        let end = ContinuousClock.now + .seconds(seconds)
        while true {
            if let found = find(self) { return found }
            let isOver = ContinuousClock.now > end
            if status != nil || isOver {
                if let found = find(self) { return found }
                let reason = isOver ? "printed nothing that was expected in \(seconds) s" : "has ended"
                let command = (process.arguments ?? []).dropFirst(4).joined(separator: " ")
                throw ChildProcess.Failure(
                    text: "\(command) \(reason)\n\(output.suffix(1000))\n\(errors.suffix(1000))")
            }
            usleep(5_000)
        }
    }
}
