#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif
internal import Synchronization
internal import DispatchWorker

/// The resolution of a record in a child process, which runs this executable with the command line of the worker.
struct RecordTrial: Sendable {
    /// The time after which the child process ends itself, in seconds.
    static let seconds: UInt32 = 30
    /// The signals that a record can cause: a defect in the program, or a failed allocation of memory.
    static let ownSignals = [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP]
    /// The time limit of the worker, which is longer than that of the child process itself.
    private static let milliseconds = (Int(seconds) + 5) * 1_000

    private static let running = Mutex(())

    private let program: String?
    private let words: [String]
    private let environment: [String: String]

    /// Creates the trials of a worker with these words after its command.
    init(program: String? = Platform.executablePath, words: [String], environment: [String: String]) {
        self.program = program
        self.words = words
        // A report of a crash takes time, and the worker has already written two.
        self.environment = environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
    }

    /// Returns the memory that a record may use besides that of the tables, in bytes.
    ///
    /// It is more than the largest record needs, and so little that a worker has it too.
    static func memoryBytes(recordBytes: Int, outputBytes: Int) -> UInt64 {
        (256 << 20) + 16 * UInt64(recordBytes + outputBytes)
    }

    /// Resolves a record with the tables that have these hashes, and with the candidate, if any.
    func run(_ record: TriedRecord, tables: [String], candidate: String? = nil) -> CrashTrial {
        guard let program else { return .failed("the path of this program is unknown") }
        // A child process must not inherit the pipes of another one.
        return Self.running.withLock { _ in run(program, record.bytes(tables: tables, candidate: candidate)) }
    }

    private func run(_ program: String, _ bytes: [UInt8]) -> CrashTrial {
        guard let input = Self.makePipe() else { return .failed(SystemError.last.text) }
        guard let output = Self.makePipe() else {
            let error = SystemError.last
            for end in [input.read, input.write] { Platform.close(end) }
            return .failed(error.text)
        }
        defer { Platform.close(output.read) }
        let child = spawn(program, input: input.read, output: output.write)
        let error = SystemError.last
        Platform.close(input.read)
        Platform.close(output.write)
        let deadline = Platform.monotonicSeconds + Double(Self.milliseconds) / 1_000
        if child != nil { Self.write(bytes, to: input.write, until: deadline) }
        // The child process reads to the end of its input.
        Platform.close(input.write)
        guard let child else { return .failed("this program cannot be started: \(error.text)") }
        let result = Self.result(of: child, until: deadline)
        // A child process that did not reach the record says nothing about it.
        var byte: UInt8 = 0
        let isReached = withUnsafeMutableBytes(of: &byte) { Platform.read(output.read, into: $0) } == 1
        if case .crashed(let signal) = result, !isReached {
            return .failed("signal \(signal) has ended the child process before it resolved the record")
        }
        return result
    }

    /// Creates a pipe that no child process inherits.
    private static func makePipe() -> (read: Int32, write: Int32)? {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    private func spawn(_ program: String, input: Int32, output: Int32) -> pid_t? {
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        #else
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        // The threads of a worker may block signals.
        var mask = sigset_t()
        sigemptyset(&mask)
        posix_spawnattr_setsigmask(&attributes, &mask)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var arguments = ([program, TryRecordCommand.name] + words).map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var child: pid_t = 0
        let code = posix_spawn(&child, program, &actions, &attributes, &arguments, &variables)
        errno = code
        return code == 0 ? child : nil
    }

    /// Writes as much as the child process reads until the deadline.
    private static func write(_ bytes: [UInt8], to descriptor: Int32, until deadline: Double) {
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        var done = 0
        while done < bytes.count {
            let left = (deadline - Platform.monotonicSeconds) * 1_000
            guard left > 0 else { return }
            var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            guard poll(&request, 1, Int32(left) + 1) > 0 else { continue }
            let count = bytes.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress! + done, bytes.count - done) }
            if count < 0 && errno != EAGAIN && errno != EINTR { return }
            done += max(0, count)
        }
    }

    private static func systemWrite(_ descriptor: Int32, _ start: UnsafeRawPointer, _ count: Int) -> Int {
        #if canImport(Glibc)
        Glibc.write(descriptor, start, count)
        #elseif canImport(Musl)
        Musl.write(descriptor, start, count)
        #else
        Darwin.write(descriptor, start, count)
        #endif
    }

    private static func result(of child: pid_t, until deadline: Double) -> CrashTrial {
        var status: Int32 = 0
        while true {
            let ended = waitpid(child, &status, WNOHANG)
            if ended == child { break }
            if ended < 0 && errno != EINTR { return .failed(SystemError.last.text) }
            guard Platform.monotonicSeconds < deadline else {
                kill(child, SIGKILL)
                while waitpid(child, &status, 0) < 0 && errno == EINTR {}
                return .failed("the child process took too long")
            }
            Platform.sleep(milliseconds: 2)
        }
        let signal = status & 0x7f
        if signal == 0 {
            let code = status >> 8 & 0xff
            return code == 0 ? .passed : .failed("the child process ended with code \(code)")
        }
        if ownSignals.contains(signal) { return .crashed(signal: signal) }
        return .failed(
            signal == SIGALRM ? "the child process took too long" : "signal \(signal) has ended the child process")
    }
}
