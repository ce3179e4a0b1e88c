#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The reason why a program has no output, as the end of a sentence that begins with its name.
struct ProgramFailure: Error, Equatable {
    /// A description of the failure, such as `cannot be started`.
    var text: String
}

/// The standard output of a program that runs without a shell.
enum ProgramOutput {
    #if canImport(Darwin)
    private typealias FileActions = posix_spawn_file_actions_t?
    private typealias Attributes = posix_spawnattr_t?
    #else
    private typealias FileActions = posix_spawn_file_actions_t
    private typealias Attributes = posix_spawnattr_t
    #endif

    /// Runs a program and returns its standard output.
    ///
    /// Its standard input and error are `/dev/null`. It has a process group of its own, which is killed if the program
    /// has not ended in time, or prints more than `limit` bytes.
    static func of(_ words: [String], limit: Int, milliseconds: Int) throws(ProgramFailure) -> [UInt8] {
        guard let name = words.first else { throw ProgramFailure(text: "is empty") }
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw ProgramFailure(text: "has no pipe: \(SystemError.last.text)") }
        defer { Platform.close(ends[0]) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let started = spawn(name, words, output: ends[1])
        Platform.close(ends[1])
        let pid: pid_t
        switch started {
        case .success(let process): pid = process
        case .failure(let error): throw ProgramFailure(text: "cannot be started: \(error.text)")
        }
        let deadline = Platform.monotonicSeconds + Double(milliseconds) / 1_000
        do throws(ProgramFailure) {
            let bytes = try read(ends[0], limit: limit, until: deadline)
            guard let status = wait(pid, until: deadline) else { throw timeout }
            // The low bits have the number of the signal that ended it.
            guard status == 0 else {
                let signal = status & 0x7F
                let reason = signal == 0 ? "exit code \(status >> 8 & 0xFF)" : "signal \(signal)"
                throw ProgramFailure(text: "failed with \(reason)")
            }
            return bytes
        } catch {
            kill(-pid, SIGKILL)
            _ = wait(pid, until: .infinity)
            throw error
        }
    }

    private static let timeout = ProgramFailure(text: "took too long")

    private static func spawn(_ name: String, _ words: [String], output: Int32) -> Result<pid_t, SystemError> {
        var actions = FileActions()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        var attributes = Attributes()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Signals that this process ignores or blocks have their usual effect in the program.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigaddset(&signals, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = Int(POSIX_SPAWN_SETPGROUP) | Int(POSIX_SPAWN_SETSIGMASK) | Int(POSIX_SPAWN_SETSIGDEF)
        posix_spawnattr_setflags(&attributes, Int16(flags))
        var arguments = words.map { strdup($0) } + [nil]
        var variables = Platform.environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var pid: pid_t = 0
        let code = posix_spawnp(&pid, name, &actions, &attributes, &arguments, &variables)
        return code == 0 ? .success(pid) : .failure(SystemError(text: String(cString: strerror(code))))
    }

    /// Reads to the end.
    private static func read(
        _ descriptor: Int32, limit: Int, until deadline: Double
    ) throws(ProgramFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let left = (deadline - Platform.monotonicSeconds) * 1_000
            guard left > 0 else { throw timeout }
            guard Platform.canRead(descriptor, milliseconds: Int32(left) + 1) else { continue }
            let count = buffer.withUnsafeMutableBytes { Platform.read(descriptor, into: $0) }
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
            if bytes.count > limit { throw ProgramFailure(text: "printed more than \(limit) bytes") }
        }
    }

    /// Waits for the end of a process and returns its status, or nil if the deadline passes.
    private static func wait(_ pid: pid_t, until deadline: Double) -> Int32? {
        var status: Int32 = 0
        while waitpid(pid, &status, WNOHANG) == 0 {
            guard Platform.monotonicSeconds < deadline else { return nil }
            Platform.sleep(milliseconds: 5)
        }
        return status
    }
}
