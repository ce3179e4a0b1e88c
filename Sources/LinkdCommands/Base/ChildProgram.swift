internal import CLibrary

/// A program that runs as a child process, without a shell.
struct ChildProgram {
    #if canImport(Darwin)
    private typealias FileActions = posix_spawn_file_actions_t?
    private typealias Attributes = posix_spawnattr_t?
    #else
    private typealias FileActions = posix_spawn_file_actions_t
    private typealias Attributes = posix_spawnattr_t
    #endif

    /// The reason why a program has ended.
    enum End {
        case exit(code: Int32)
        case signal(Int32)
        /// The system does not know it.
        case unknown(SystemError)
    }

    /// The number of the process, which is also the number of its group.
    let pid: pid_t

    /// Starts the program that the first word names.
    ///
    /// Its standard error is `/dev/null`, or `output` if `joinsErrors` is true. Its standard input is `/dev/null` if
    /// `input` is nil. It has a process group of its own.
    static func start(
        _ words: [String], environment: [String: String], input: Int32? = nil, output: Int32, joinsErrors: Bool = false
    ) -> Result<ChildProgram, SystemError> {
        var actions = FileActions()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        if joinsErrors {
            posix_spawn_file_actions_adddup2(&actions, output, 2)
        } else {
            posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        }
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
        // This process may have been started with SIGCHLD ignored. The system then forgets how a child process ended.
        signal(SIGCHLD, SIG_DFL)
        var arguments = words.map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var pid: pid_t = 0
        let code = posix_spawnp(&pid, words.first ?? "", &actions, &attributes, &arguments, &variables)
        return code == 0
            ? .success(ChildProgram(pid: pid)) : .failure(SystemError(text: String(cString: strerror(code))))
    }

    /// Creates a pipe that no child process inherits.
    static func makePipe() -> (read: Int32, write: Int32)? {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    /// Waits for the end of the program, or returns nil if the deadline passes.
    func wait(until deadline: Double) -> End? {
        var status: Int32 = 0
        while true {
            let ended = waitpid(pid, &status, WNOHANG)
            if ended == pid { break }
            if ended < 0 && errno != EINTR { return .unknown(SystemError.last) }
            guard Platform.monotonicSeconds < deadline else { return nil }
            Platform.sleep(milliseconds: 2)
        }
        // The low bits have the number of the signal.
        let signal = status & 0x7f
        return signal == 0 ? .exit(code: status >> 8 & 0xff) : .signal(signal)
    }

    /// Kills the program with its process group, and waits for its end.
    func end() {
        kill(-pid, SIGKILL)
        _ = wait(until: .infinity)
    }
}
