internal import Foundation

/// A replacement of the process by one that repeats the current batch alone, after a trap, an invalid memory access, or
/// a hang.
enum CrashReplay {
    // Set before the handlers are installed. A handler only reads them, because it can run at any time.
    nonisolated(unsafe) private static var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    // Set and read like `arguments`.
    nonisolated(unsafe) private static var digits: UnsafeMutablePointer<CChar>?
    private static let width = 19

    /// Installs the handlers.
    ///
    /// - Parameter command: The arguments of the new process, to which the number of the batch is added.
    static func install(_ command: [String]) {
        let list = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: command.count + 2)
        for (index, argument) in command.enumerated() { list[index] = strdup(argument) }
        digits = strdup(String(repeating: "0", count: width))
        list[command.count] = digits
        list[command.count + 1] = nil
        arguments = list
        for number in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGVTALRM] {
            var action = sigaction()
            #if os(Linux)
            action.__sigaction_handler.sa_handler = { _ in CrashReplay.replace() }
            #else
            action.__sigaction_u.__sa_handler = { _ in CrashReplay.replace() }
            #endif
            action.sa_flags = Int32(truncatingIfNeeded: SA_NODEFER) | Int32(truncatingIfNeeded: SA_RESETHAND)
            sigaction(number, &action, nil)
        }
    }

    /// Sets the number of the batch that is repeated after a trap.
    static func begin(_ batch: Int) {
        guard let digits else { return }
        var rest = batch
        for index in (0..<width).reversed() {
            digits[index] = CChar(48 + rest % 10)
            rest /= 10
        }
    }

    /// Starts the limit of 120 s of CPU time until this function is called again, after which the batch is repeated.
    static func expectProgress() {
        var time = itimerval()
        time.it_value.tv_sec = 120
        #if os(Linux)
        setitimer(__itimer_which_t(ITIMER_VIRTUAL.rawValue), &time, nil)
        #else
        setitimer(ITIMER_VIRTUAL, &time, nil)
        #endif
    }

    private static func replace() {
        guard let arguments, let program = arguments[0] else { return }
        execv(program, arguments)
    }
}
