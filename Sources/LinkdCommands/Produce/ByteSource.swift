internal import ByteStorage
internal import DispatchWorker
internal import RouteTools
internal import StrictJSON

/// A file or standard input, read in chunks.
final class ByteSource {
    /// The size of a chunk in bytes.
    private static let chunkBytes = 1 << 18

    /// The name of standard input in messages.
    static let standardInput = "standard input"

    /// The name of the input in messages.
    let name: String
    private let descriptor: Int32
    private let owned: Bool
    private let chunk: UnsafeMutablePointer<UInt8>
    private let lender = ViewLender()
    private var position = 0
    private var end = 0
    private var isAtEnd = false
    private var received: Int64 = 0
    /// The memory of a line that crosses chunks.
    private var crossing = OutputArena(chunkBytes: 1 << 16)
    /// A Boolean value that indicates whether the input ends before its real end because a read failed.
    private(set) var hasFailed = false
    /// A Boolean value that indicates whether a signal ended the input before its real end.
    private(set) var isInterrupted = false

    /// Opens the file, or standard input for `-`.
    init(path: String) throws(CommandFailure) {
        if path == "-" {
            name = Self.standardInput
            descriptor = 0
            owned = false
        } else {
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
        chunk = .allocate(capacity: Self.chunkBytes)
    }

    /// Creates an input with these bytes.
    init(contents: [UInt8], name: String) {
        self.name = name
        descriptor = -1
        owned = false
        chunk = .allocate(capacity: max(1, contents.count))
        chunk.initialize(from: contents, count: contents.count)
        end = contents.count
        received = Int64(contents.count)
        isAtEnd = true
    }

    deinit {
        lender.revoke()
        chunk.deallocate()
        if owned { Platform.close(descriptor) }
    }

    /// A Boolean value that indicates whether the input is a terminal.
    var isTerminal: Bool { descriptor >= 0 && Platform.isTerminal(descriptor) }

    /// The number of bytes that were consumed.
    var consumed: Int64 { received - Int64(end - position) }

    /// A Boolean value that indicates whether the input ended before its real end, with an incomplete last line.
    var isCut: Bool { hasFailed || isInterrupted }

    /// Returns the next byte without consuming it, or nil at the end.
    func peek() -> UInt8? {
        if position < end { return chunk[position] }
        return fill() ? chunk[position] : nil
    }

    /// Skips the byte order mark of UTF-8, and throws a failure for an input that must be converted.
    func skipMark() throws(CommandFailure) {
        try InputEncoding.check(firstLine(), of: name)
        skipByteOrderMark()
    }

    /// Skips the mark that some programs write before UTF-8.
    func skipByteOrderMark() {
        guard peek() == 0xEF else { return }
        let line = firstLine()
        if line.count >= 3, line[1] == 0xBB, line[2] == 0xBF { position += 3 }
    }

    /// Returns the bytes before the next line feed without consuming them.
    ///
    /// If the line does not fit into a chunk, only the bytes that fit are returned. The view is valid until the next
    /// call.
    func firstLine() -> ByteView {
        var stop = Platform.firstIndex(of: UInt8(ascii: "\n"), in: unread)
        while stop == nil, end < Self.chunkBytes, more() {
            stop = Platform.firstIndex(of: UInt8(ascii: "\n"), in: unread)
        }
        return unread.slice(0, stop ?? unread.count)
    }

    /// Consumes lines that are blank, and returns their number.
    func skipBlankLines() -> Int {
        var count = 0
        while peek() != nil {
            let first = firstLine()
            guard first.count < unread.count, Self.trimmed(first).isEmpty else { break }
            _ = line(limit: 0)
            count += 1
        }
        return count
    }

    /// Returns the bytes that are read and not consumed, if any.
    ///
    /// The view is valid until the next call.
    func lookahead() -> ByteView { unread }

    /// Reads up to the next line feed, which is consumed but not returned.
    ///
    /// Returns nil at the end of the input, and for a last line that is not complete because the input was cut. Bytes
    /// above `limit` are dropped, so a line that is too long has `limit` + 1 bytes. The view is valid until the next
    /// call.
    func line(limit: Int) -> ByteView? {
        guard peek() != nil else { return nil }
        let rest = unread
        guard let stop = Platform.firstIndex(of: UInt8(ascii: "\n"), in: rest) else { return crossingLine(limit) }
        position += stop + 1
        return rest.slice(0, min(stop, limit + 1))
    }

    /// Reads a line that ends in a later chunk, or with the input.
    private func crossingLine(_ limit: Int) -> ByteView? {
        crossing.reset()
        crossing.begin()
        while peek() != nil {
            let rest = unread
            let stop = Platform.firstIndex(of: UInt8(ascii: "\n"), in: rest)
            let room = max(0, limit + 1 - crossing.recordBytes)
            crossing.append(rest.slice(0, min(stop ?? rest.count, room)))
            position = stop.map { position + $0 + 1 } ?? end
            if stop != nil { return crossing.finish() }
        }
        return isCut ? nil : crossing.finish()
    }

    /// Reads all lines, without white space at their ends, without blank lines, and without a byte order mark.
    ///
    /// An input that cannot be read to its end ends with exit code 65.
    ///
    /// - Parameters:
    ///   - limit: The size limit of a line, in bytes.
    ///   - request: The object and the form of the lines, for a note on a terminal, such as `Type links`.
    ///   - console: The console for the note.
    ///   - keepsMark: A Boolean value that indicates whether a byte order mark is a part of the first line.
    ///   - body: A closure that handles a line.
    func forEachLine(
        limit: Int, request: String, on console: Console, keepsMark: Bool = false, _ body: ([UInt8]) -> Void
    ) throws(CommandFailure) {
        if isTerminal { console.note("\(request), one per line. End with Ctrl-D.") }
        if !keepsMark { try skipMark() }
        while let line = line(limit: limit) {
            let trimmed = Self.trimmed(line)
            if !trimmed.isEmpty { body(trimmed.array) }
        }
        if hasFailed { throw failure }
    }

    /// The failure for an input that cannot be read to its end.
    var failure: CommandFailure {
        CommandFailure(
            .badData, "\(Escaping.visible(name)) cannot be read to its end",
            advice: "specify a file that this user can read")
    }

    /// Returns the bytes without ASCII white space at both ends.
    static func trimmed(_ bytes: ByteView) -> ByteView {
        var first = 0
        var last = bytes.count
        while first < last, bytes[first].isASCIISpace { first += 1 }
        while first < last, bytes[last - 1].isASCIISpace { last -= 1 }
        return bytes.slice(first, last)
    }

    /// The bytes that are buffered and not consumed.
    private var unread: ByteView { lender.lend(UnsafePointer(chunk) + position, count: end - position) }

    private func fill() -> Bool {
        guard !isAtEnd, !isCut else { return false }
        lender.revoke()
        position = 0
        end = 0
        return more()
    }

    /// Reads more bytes behind the buffered ones.
    private func more() -> Bool {
        guard !isAtEnd, !isCut else { return false }
        repeat {
            if StopSignals.number != nil {
                isInterrupted = true
                return false
            }
        } while !Platform.canRead(descriptor, milliseconds: 200)
        let free = UnsafeMutableRawBufferPointer(start: chunk + end, count: Self.chunkBytes - end)
        let count = Platform.read(descriptor, into: free)
        hasFailed = count < 0
        isAtEnd = count == 0
        end += max(0, count)
        received += Int64(max(0, count))
        return count > 0
    }
}

/// The encoding or compression of an input that is not UTF-8, by its first bytes.
enum InputEncoding {
    private static let signatures: [(bytes: [UInt8], name: String, command: String)] = [
        ([0x1F, 0x8B], "is compressed with gzip", "gunzip -c"),
        ([0x28, 0xB5, 0x2F, 0xFD], "is compressed with Zstandard", "zstd -dc"),
        (Array("BZh".utf8), "is compressed with bzip2", "bunzip2 -c"),
        ([0xFD] + Array("7zXZ".utf8), "is compressed with xz", "xz -dc"),
        ([0xFF, 0xFE, 0, 0], "is UTF-32", "iconv -f UTF-32 -t UTF-8"),
        ([0, 0, 0xFE, 0xFF], "is UTF-32", "iconv -f UTF-32 -t UTF-8"),
        ([0xFF, 0xFE], "is UTF-16", "iconv -f UTF-16 -t UTF-8"),
        ([0xFE, 0xFF], "is UTF-16", "iconv -f UTF-16 -t UTF-8"),
    ]

    /// The fault of a row that is not UTF-8, with the command that converts it.
    static let rowAdvice = "the row is not UTF-8; `iconv -f WINDOWS-1252 -t UTF-8` converts text of Windows"

    /// Throws a failure for an input that must be converted, with the command that does it.
    ///
    /// - Parameters:
    ///   - start: The first bytes of the input.
    ///   - name: The name of the input.
    ///   - reader: The command that reads the converted input, or nil.
    static func check(_ start: ByteView, of name: String, for reader: String? = nil) throws(CommandFailure) {
        if start.hasPrefix(ByteView("PK\u{3}\u{4}")) {
            throw CommandFailure(
                .badData, "\(Escaping.visible(name)) is a ZIP archive, such as a workbook of a spreadsheet",
                advice: "export the sheet as CSV in UTF-8, or extract the archive")
        }
        if let found = signatures.first(where: { start.buffer.starts(with: $0.bytes) }) {
            throw failure(name, found.name, found.command, reader)
        }
        // Text of ASCII characters in UTF-16 has a zero in every second byte.
        guard start.count >= 4 else { return }
        if start[0] == 0, start[1] != 0, start[2] == 0, start[3] != 0 {
            throw failure(name, "is UTF-16", "iconv -f UTF-16BE -t UTF-8", reader)
        }
        if start[0] != 0, start[1] == 0, start[2] != 0, start[3] == 0 {
            throw failure(name, "is UTF-16", "iconv -f UTF-16LE -t UTF-8", reader)
        }
    }

    /// Throws a failure for lines that end with a carriage return only, as old programs for the Mac wrote them.
    static func checkLineEnds(of line: ByteView, in name: String) throws(CommandFailure) {
        guard let index = line.firstIndex(of: UInt8(ascii: "\r")), index + 1 < line.count, line[0] != UInt8(ascii: "{"),
            line.firstIndex(of: UInt8(ascii: "\"")) == nil
        else { return }
        throw failure(name, "has lines that end with a carriage return only", "tr '\\r' '\\n' <", produce)
    }

    /// The command that reads a converted input of events.
    static let produce = "linkd produce -"

    private static func failure(
        _ name: String, _ fault: String, _ command: String, _ reader: String?
    ) -> CommandFailure {
        let isFile = name != ByteSource.standardInput
        let converted =
            isFile
            ? "\(command) \(ShellQuote.posix(Escaping.visible(name)))" : "… | \(command.replacing(" <", with: ""))"
        return CommandFailure(
            .badData, "\(Escaping.visible(name)) \(fault)",
            advice: reader.map { "convert it: `\(converted) | \($0)`, with the flags of this command" }
                ?? "convert it with `\(converted)`, and pass the result")
    }
}

/// The files of a command line, which are checked before anything is sent.
enum InputFiles {
    /// Returns the size of all files together in bytes, or nil if one of them is not a regular file.
    ///
    /// Directories and files that cannot be read end with exit code 65. Named pipes are not opened, because their
    /// writers can start later.
    static func size(of paths: [String]) throws(CommandFailure) -> Int64? {
        var faults: [String] = []
        var size: Int64? = 0
        for path in paths {
            guard path != "-", let stamp = FileStamp(of: path) else {
                if path != "-", case .failure(let error) = Platform.open(path) {
                    faults.append("\(Escaping.visible(path)) cannot be read: \(error.text)")
                }
                size = nil
                continue
            }
            size = stamp.isRegular ? size.map { $0 + stamp.size } : nil
            if stamp.isDirectory {
                faults.append("\(Escaping.visible(path)) is a directory")
            } else if stamp.isRegular {
                switch Platform.open(path) {
                case .success(let descriptor): Platform.close(descriptor)
                case .failure(let error): faults.append("\(Escaping.visible(path)) cannot be read: \(error.text)")
                }
            }
        }
        guard !faults.isEmpty else { return size }
        let rest = faults.count > 20 ? ", and \(faults.count - 20) more" : ""
        throw CommandFailure(
            .badData, faults.prefix(20).joined(separator: "; ") + rest,
            advice: "specify files that this user can read, or - for standard input; nothing was sent")
    }
}

/// The place of an error in an input, for messages.
enum InputPlace {
    /// Returns a text such as ` at /link`, or ` at line 1, column 9` for an error outside of any member.
    ///
    /// - Parameters:
    ///   - pointer: The JSON pointer of the member at fault, or nil if no member is at fault.
    ///   - input: The input.
    static func text(pointer: String?, in input: @autoclosure () -> [UInt8]) -> String {
        guard let pointer else { return "" }
        guard pointer.isEmpty else { return " at " + Escaping.visible(pointer) }
        let bytes = input()
        guard bytes.first == UInt8(ascii: "{") else { return "" }
        do throws(JSONError) {
            _ = try JSONValue.parse(bytes, maxDepth: 512)
            return ""
        } catch {
            let location = JSONLocation.locate(offset: error.offset, in: bytes)
            return " at line \(location.line), column \(location.column)"
        }
    }
}
