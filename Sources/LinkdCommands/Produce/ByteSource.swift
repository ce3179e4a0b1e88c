internal import RouteTools

/// Bytes of a file or of standard input, a chunk at a time.
final class ByteSource {
    /// How the input is named in messages.
    let name: String
    private let descriptor: Int32
    private let owned: Bool
    private var chunk: [UInt8]
    private var position = 0
    private var end = 0
    private var failed = false

    /// Reads standard input for `-`, else the file.
    init(path: String) throws(CommandFailure) {
        chunk = [UInt8](repeating: 0, count: 1 << 16)
        if path == "-" {
            name = "standard input"
            descriptor = 0
            owned = false
            return
        }
        name = path
        owned = true
        switch Platform.open(path) {
        case .success(let opened): descriptor = opened
        case .failure(let error):
            throw CommandFailure(
                .badData, "\(Escaping.visible(path)) cannot be read: \(error.text)",
                advice: "name a file that this user can read, or - for standard input")
        }
    }

    deinit {
        if owned { Platform.close(descriptor) }
    }

    /// Whether a terminal gives the bytes.
    var isTerminal: Bool { Platform.isTerminal(descriptor) }

    /// Whether reading ended with an error (a directory, a broken disk).
    var hasFailed: Bool { failed }

    /// The next byte without taking it, or nil at the end.
    func peek() -> UInt8? {
        if position < end { return chunk[position] }
        return fill() ? chunk[position] : nil
    }

    /// The next byte, or nil at the end.
    func next() -> UInt8? {
        guard let byte = peek() else { return nil }
        position += 1
        return byte
    }

    /// What was read and not taken yet, at least the next byte unless the input is at its end.
    func window() -> [UInt8] { peek() == nil ? [] : Array(chunk[position..<end]) }

    /// Appends everything up to the next line feed, and takes that too; false at the end of the input.
    ///
    /// Bytes above `limit` are dropped; the line is then one byte longer than the limit.
    func line(into line: inout [UInt8], limit: Int) -> Bool {
        line.removeAll(keepingCapacity: true)
        guard peek() != nil else { return false }
        while peek() != nil {
            let stop = chunk[position..<end].firstIndex(of: UInt8(ascii: "\n"))
            let room = max(0, limit + 1 - line.count)
            line += chunk[position..<(stop ?? end)].prefix(room)
            position = stop.map { $0 + 1 } ?? end
            if stop != nil { break }
        }
        return true
    }

    private func fill() -> Bool {
        guard !failed else { return false }
        while !Platform.canRead(descriptor, milliseconds: 200) {
            if Interruption.signalNumber != nil { return false }
        }
        let count = chunk.withUnsafeMutableBytes { Platform.read(descriptor, into: $0) }
        failed = count < 0
        position = 0
        end = max(0, count)
        return end > 0
    }
}
