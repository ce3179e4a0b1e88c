/// The reason why a program has no output, as the end of a sentence that begins with its name.
struct ProgramFailure: Error, Equatable {
    /// A description of the failure, such as `cannot be started`.
    var text: String
}

/// The standard output of a program that runs without a shell.
enum ProgramOutput {
    /// Runs a program and returns its standard output.
    ///
    /// Its standard input and error are `/dev/null`. It has a process group of its own, which is killed if the program
    /// has not ended in time, or prints more than `limit` bytes.
    static func of(_ words: [String], limit: Int, milliseconds: Int) throws(ProgramFailure) -> [UInt8] {
        if words.isEmpty { throw ProgramFailure(text: "is empty") }
        guard let pipe = ChildProgram.makePipe() else {
            throw ProgramFailure(text: "has no pipe: \(SystemError.last.text)")
        }
        defer { Platform.close(pipe.read) }
        let started = ChildProgram.start(words, environment: Platform.environment, output: pipe.write)
        Platform.close(pipe.write)
        let program: ChildProgram
        switch started {
        case .success(let child): program = child
        case .failure(let error): throw ProgramFailure(text: "cannot be started: \(error.text)")
        }
        let deadline = Platform.monotonicSeconds + Double(milliseconds) / 1_000
        do throws(ProgramFailure) {
            let bytes = try read(pipe.read, limit: limit, until: deadline)
            switch program.wait(until: deadline) {
            case .exit(code: 0): return bytes
            case .exit(let code): throw ProgramFailure(text: "failed with exit code \(code)")
            case .signal(let signal): throw ProgramFailure(text: "failed with signal \(signal)")
            case .unknown(let error): throw ProgramFailure(text: "has no known end: \(error.text)")
            case nil: throw timeout
            }
        } catch {
            program.end()
            throw error
        }
    }

    private static let timeout = ProgramFailure(text: "took too long")

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
}
