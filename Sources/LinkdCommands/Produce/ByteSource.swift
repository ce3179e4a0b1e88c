internal import RouteTools

/// A file or standard input, read in chunks.
final class ByteSource {
    /// The name of the input in messages.
    let name: String
    private let descriptor: Int32
    private let owned: Bool
    private var chunk: [UInt8]
    private var position = 0
    private var end = 0
    private var failed = false

    /// Opens the file, or standard input for `-`.
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
                advice: "specify a file that this user can read, or - for standard input")
        }
    }

    deinit {
        if owned { Platform.close(descriptor) }
    }

    /// A Boolean value that indicates whether the input is a terminal.
    var isTerminal: Bool { Platform.isTerminal(descriptor) }

    /// A Boolean value that indicates whether a read failed, for example because the path is a directory.
    var hasFailed: Bool { failed }

    /// Returns the next byte without consuming it, or nil at the end.
    func peek() -> UInt8? {
        if position < end { return chunk[position] }
        return fill() ? chunk[position] : nil
    }

    /// Returns the next byte, or nil at the end.
    func next() -> UInt8? {
        guard let byte = peek() else { return nil }
        position += 1
        return byte
    }

    /// Returns the bytes that are buffered and not consumed.
    ///
    /// They are empty only at the end of the input.
    func window() -> [UInt8] { peek() == nil ? [] : Array(chunk[position..<end]) }

    /// Reads up to the next line feed, which is consumed but not returned.
    ///
    /// Returns false at the end of the input.
    ///
    /// Bytes above `limit` are dropped, so that a line that is too long has `limit` + 1 bytes.
    func line(into line: inout [UInt8], limit: Int) -> Bool {
        line.removeAll(keepingCapacity: true)
        guard peek() != nil else { return false }
        while peek() != nil {
            let stop = chunk[position..<end].firstIndex(of: UInt8(ascii: "\n"))
            let remaining = max(0, limit + 1 - line.count)
            line += chunk[position..<(stop ?? end)].prefix(remaining)
            position = stop.map { $0 + 1 } ?? end
            if stop != nil { break }
        }
        return true
    }

    /// Reads all lines, without white space at their ends and without blank lines.
    ///
    /// An input that cannot be read to its end ends with exit code 65.
    ///
    /// - Parameters:
    ///   - limit: The size limit of a line, in bytes.
    ///   - request: The object and the form of the lines, for a note on a terminal, such as `Type links`.
    ///   - console: The console for the note.
    ///   - body: A closure that handles a line.
    func forEachLine(
        limit: Int, request: String, on console: Console, _ body: ([UInt8]) -> Void
    ) throws(CommandFailure) {
        if isTerminal { console.note("\(request), one per line. End with Ctrl-D.") }
        var line: [UInt8] = []
        while self.line(into: &line, limit: limit) {
            let trimmed = Self.trimmed(line)
            if !trimmed.isEmpty { body(Array(trimmed)) }
        }
        if hasFailed {
            throw CommandFailure(
                .badData, "\(Escaping.visible(name)) cannot be read to its end",
                advice: "specify a file that this user can read")
        }
    }

    /// Returns the bytes without ASCII white space at both ends.
    static func trimmed(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
        guard let first = bytes.firstIndex(where: { !isBlank($0) }), let last = bytes.lastIndex(where: { !isBlank($0) })
        else { return [] }
        return bytes[first...last]
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
