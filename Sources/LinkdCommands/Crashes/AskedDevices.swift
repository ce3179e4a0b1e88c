internal import ByteStorage
internal import LinkIngest

/// The devices that a worker knows, which its child process asks for one by one.
///
/// A worker must not read a suspect itself, so it cannot know which devices the record names. The child process asks on
/// its standard output: a byte for the kind of the question, a limit of devices in 8 bytes, and the id of a device or
/// user as a field. The worker answers on the child's standard input from the state of the registry that its lane has:
/// a field with the facts, or the number of devices in 8 bytes and a field for the id of each.
final class AskedDevices: KnownDevices {
    /// The limit of an id, and of the facts of a device, in bytes.
    private static let fieldBytes = 1 << 16

    /// The kinds of questions.
    private enum Question: UInt8 {
        case facts = 0x66
        case user = 0x75
    }

    /// The memory of the answers, which stay until the process ends.
    private var arena = OutputArena(chunkBytes: 16 << 10)

    func facts(of id: ByteView) -> ByteView? {
        ask(.facts, 0, id)
        return field()
    }

    func devices(of user: ByteView, limit: Int, _ body: (ByteView) -> Void) -> Int {
        ask(.user, limit, user)
        guard let count = TrialPipe.number(from: 0) else { Self.endWithoutAnswer() }
        for _ in 0..<min(Int(count), limit) { body(field() ?? .empty) }
        return Int(count)
    }

    private func ask(_ question: Question, _ limit: Int, _ id: ByteView) {
        let bytes = [question.rawValue] + TrialPipe.bytes(of: Int64(limit)) + TrialPipe.field(id.array)
        guard bytes.withUnsafeBytes({ Platform.write(1, $0) }) else { Self.endWithoutAnswer() }
    }

    private func field() -> ByteView? {
        switch TrialPipe.field(from: 0, limit: Self.fieldBytes) {
        case .success(let bytes): bytes.map { arena.copy($0) }
        case .failure: Self.endWithoutAnswer()
        }
    }

    /// Ends the process, because the worker that started it is gone.
    private static func endWithoutAnswer() -> Never { Platform.end(ExitCode.unavailable.rawValue) }

    /// Answers questions until the child process ends, asks something else, or the time is over.
    ///
    /// - Parameters:
    ///   - devices: The devices that the worker knows, or nil for no registry, which is not asked about.
    ///   - output: The output of the child process.
    ///   - deadline: The time on the monotonic clock.
    ///   - send: A function that writes to the input of the child process.
    static func answer(
        with devices: (any KnownDevices)?, from output: Int32, until deadline: Double, _ send: ([UInt8]) -> Void
    ) {
        while let kind = TrialPipe.read(output, 1, until: deadline), let devices {
            guard let question = Question(rawValue: kind[0]),
                let limit = TrialPipe.number(from: output, until: deadline), (0...Int64(Int32.max)).contains(limit),
                case .success(let id?) = TrialPipe.field(from: output, limit: fieldBytes, until: deadline)
            else { return }
            id.withUnsafeBufferPointer { id in
                switch question {
                case .facts: send(TrialPipe.field(devices.facts(of: ByteView(id))?.array))
                case .user:
                    var ids: [UInt8] = []
                    let count = devices.devices(of: ByteView(id), limit: Int(limit)) {
                        ids += TrialPipe.field($0.array)
                    }
                    send(TrialPipe.bytes(of: Int64(count)) + ids)
                }
            }
        }
    }
}

/// The form of texts between a worker and its child process: fields, each a length of 8 bytes and that many bytes.
///
/// A field without a value has the length -1.
enum TrialPipe {
    /// The end of a pipe, or bytes that are no field.
    struct Failure: Error {}

    /// Returns the 8 bytes of a number.
    static func bytes(of number: Int64) -> [UInt8] { withUnsafeBytes(of: number.littleEndian) { Array($0) } }

    /// Returns the bytes of a field.
    static func field(_ value: [UInt8]?) -> [UInt8] { bytes(of: Int64(value?.count ?? -1)) + (value ?? []) }

    /// Reads a number, or returns nil at the end or after the deadline.
    static func number(from descriptor: Int32, until deadline: Double? = nil) -> Int64? {
        read(descriptor, 8, until: deadline).map { bytes in
            bytes.withUnsafeBytes { Int64(littleEndian: $0.loadUnaligned(as: Int64.self)) }
        }
    }

    /// Reads a field of at most `limit` bytes.
    static func field(
        from descriptor: Int32, limit: Int, until deadline: Double? = nil
    ) -> Result<[UInt8]?, Failure> {
        guard let length = number(from: descriptor, until: deadline), (-1...Int64(limit)).contains(length) else {
            return .failure(Failure())
        }
        if length < 0 { return .success(nil) }
        return read(descriptor, Int(length), until: deadline).map { .success($0) } ?? .failure(Failure())
    }

    /// Reads a number of bytes, or returns nil at the end or after the deadline.
    static func read(_ descriptor: Int32, _ count: Int, until deadline: Double? = nil) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            if let deadline {
                let left = (deadline - Platform.monotonicSeconds) * 1_000
                guard left > 0, Platform.canRead(descriptor, milliseconds: Int32(left) + 1) else { return nil }
            }
            let read = bytes.withUnsafeMutableBytes {
                Platform.read(descriptor, into: UnsafeMutableRawBufferPointer(rebasing: $0[done...]))
            }
            guard read > 0 else { return nil }
            done += read
        }
        return bytes
    }
}
