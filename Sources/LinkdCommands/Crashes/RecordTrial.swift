internal import ByteStorage
internal import CLibrary
internal import DispatchWorker
internal import LinkIngest
internal import Synchronization

/// The resolution of a record in a child process, which runs this executable with the command line of the worker.
struct RecordTrial: Sendable {
    /// The command that the child process runs.
    static let command = "try-record"
    /// The time after which the child process ends itself, in seconds.
    static let seconds: UInt32 = 30
    /// The signals that a record can cause: a defect in the program, or a failed allocation of memory.
    static let ownSignals = [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP]
    /// The time limit of the worker, which is longer than the child process's own limit.
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

    /// Returns the memory that a record may use in addition to the tables, in bytes.
    ///
    /// It is more than the largest record needs, and so little that a worker has it too.
    static func memoryBytes(recordBytes: Int, outputBytes: Int) -> UInt64 {
        (256 << 20) + 16 * UInt64(recordBytes + outputBytes)
    }

    /// Resolves a record with the tables that have these hashes, and with the candidate, if any.
    ///
    /// - Parameters:
    ///   - record: The record.
    ///   - tables: The hashes of the tables.
    ///   - candidate: The hash of the candidate, or nil for none.
    ///   - devices: What the lane of the record knows about devices, or nil without a registry.
    func run(
        _ record: TriedRecord, tables: [String], candidate: String? = nil, devices: (any KnownDevices)? = nil
    ) -> CrashTrial {
        guard let program else { return .failed("the path of this program is unknown") }
        let bytes = record.bytes(tables: tables, candidate: candidate, asksDevices: devices != nil)
        // A child process must not inherit the pipes of another one.
        return Self.running.withLock { _ in run(program, TrialPipe.field(bytes), devices) }
    }

    private func run(_ program: String, _ bytes: [UInt8], _ devices: (any KnownDevices)?) -> CrashTrial {
        guard let input = ChildProgram.makePipe() else { return .failed(SystemError.last.text) }
        guard let output = ChildProgram.makePipe() else {
            let error = SystemError.last
            for end in [input.read, input.write] { Platform.close(end) }
            return .failed(error.text)
        }
        defer { Platform.close(output.read) }
        let started = ChildProgram.start(
            [program, Self.command] + words, environment: environment, input: input.read, output: output.write)
        Platform.close(input.read)
        Platform.close(output.write)
        let deadline = Platform.monotonicSeconds + Double(Self.milliseconds) / 1_000
        defer { Platform.close(input.write) }
        let child: ChildProgram
        switch started {
        case .success(let program): child = program
        case .failure(let error): return .failed("this program cannot be started: \(error.text)")
        }
        Self.write(bytes, to: input.write, until: deadline)
        // A child process that did not reach the record says nothing about it.
        let isReached = TrialPipe.read(output.read, 1, until: deadline) != nil
        AskedDevices.answer(with: devices, from: output.read, until: deadline) {
            Self.write($0, to: input.write, until: deadline)
        }
        let result = Self.result(of: child, until: deadline)
        if case .crashed(let signal) = result, !isReached {
            return .failed("signal \(signal) has ended the child process before it resolved the record")
        }
        return result
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
            let count = bytes.withUnsafeBytes {
                systemWrite(descriptor, $0.baseAddress! + done, bytes.count - done)
            }
            if count < 0 && errno != EAGAIN && errno != EINTR { return }
            done += max(0, count)
        }
    }

    private static func result(of child: ChildProgram, until deadline: Double) -> CrashTrial {
        switch child.wait(until: deadline) {
        case .exit(code: 0): return .passed
        case .exit(let code): return .failed("the child process ended with code \(code)")
        case .signal(SIGALRM): return .failed("the child process took too long")
        case .signal(let signal) where ownSignals.contains(signal): return .crashed(signal: signal)
        case .signal(let signal): return .failed("signal \(signal) has ended the child process")
        case .unknown(let error): return .failed(error.text)
        case nil:
            child.end()
            return .failed("the child process took too long")
        }
    }
}

/// The fields of a record on its way to a child process.
extension TriedRecord {
    /// The input of a child process.
    struct Received {
        var record: TriedRecord
        /// The hashes of the tables that resolve the record.
        var tables: [String]
        /// The hash of the candidate, or nil.
        var candidate: String?
        /// A Boolean value that indicates whether the worker answers questions about devices.
        var asksDevices: Bool
    }

    /// Returns the fields of the record, with the hashes of the tables that resolve it and of the candidate, if any.
    func bytes(tables: [String], candidate: String? = nil, asksDevices: Bool = false) -> [UInt8] {
        var fields: [[UInt8]?] = [
            Array("\(mark.partition) \(mark.offset) \(timestamp) \(asksDevices)".utf8), Array(mark.topic.utf8),
            Array(tables.joined(separator: " ").utf8), candidate.map { Array($0.utf8) }, key, value,
        ]
        for header in headers { fields += [header.name, header.value] }
        return fields.flatMap(TrialPipe.field)
    }

    /// Reads the fields of a record and the hashes, or returns nil if they are not complete.
    static func read(_ bytes: [UInt8]) -> Received? {
        var fields: [[UInt8]?] = []
        var index = 0
        while index < bytes.count {
            guard bytes.count - index >= 8 else { return nil }
            let length = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: index, as: Int64.self) }.littleEndian
            index += 8
            guard length >= -1, length <= bytes.count - index else { return nil }
            fields.append(length < 0 ? nil : Array(bytes[index..<index + Int(length)]))
            index += max(0, Int(length))
        }
        guard fields.count >= 6, fields.count % 2 == 0, let numbers = fields[0], let topic = fields[1],
            let tables = fields[2]
        else { return nil }
        let words = String(decoding: numbers, as: UTF8.self).split(separator: " ")
        guard words.count == 4, let partition = Int32(words[0]), let offset = Int64(words[1]),
            let timestamp = Int64(words[2]), let asksDevices = Bool(String(words[3]))
        else { return nil }
        var headers: [RecordHeader] = []
        for number in stride(from: 6, to: fields.count, by: 2) {
            guard let name = fields[number] else { return nil }
            headers.append(RecordHeader(name: name, value: fields[number + 1]))
        }
        let mark = CrashMark(topic: String(decoding: topic, as: UTF8.self), partition: partition, offset: offset)
        let record = TriedRecord(
            mark: mark, timestamp: timestamp, key: fields[4], value: fields[5], headers: headers)
        return Received(
            record: record, tables: String(decoding: tables, as: UTF8.self).split(separator: " ").map(String.init),
            candidate: fields[3].map { String(decoding: $0, as: UTF8.self) }, asksDevices: asksDevices)
    }
}
