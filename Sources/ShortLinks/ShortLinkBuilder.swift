package import ByteStorage
internal import LinkCoordinator

/// The writer of a file of short links, which keeps a small part of them in memory.
///
/// The links are first written into 256 parts by the beginning of the hash, in a file without a name beside the output.
/// Each part is then sorted in memory. The file is written under another name, and renamed at the end.
package final class ShortLinkBuilder {
    /// A row of an export.
    package struct Place: Equatable, Comparable, Sendable {
        /// The number of the export.
        package var file: Int
        /// The line, from 1.
        package var line: Int

        /// Creates a place.
        package init(file: Int, line: Int) {
            self.file = file
            self.line = line
        }

        /// Returns a Boolean value that indicates whether a place is before another one.
        package static func < (a: Place, b: Place) -> Bool { (a.file, a.line) < (b.file, b.line) }
    }

    /// A problem of the rows, which keeps the file from being written.
    package struct Problem {
        /// The kinds of problems.
        package enum Kind: String, Sendable {
            /// One short link has two destinations.
            case conflict
            /// The destination of a short link leads back to it.
            case loop
            /// The destination is a short link, its destination too, and so on, more than `maxChain` times.
            case chain
        }

        /// The kind.
        package let kind: Kind
        /// The short link without its scheme.
        package let link: String
        /// The place of the row, and the place of the row before it in a conflict.
        package let places: [Place]
    }

    /// The choice among rows with one short link and different destinations.
    package enum Conflicts: String, CaseIterable, Sendable {
        case refuse, first, last
    }

    /// The written file, or the reason for which nothing was written.
    package struct Result {
        /// The number of short links.
        package var links = 0
        /// The rows that repeat another row.
        package var duplicates = 0
        /// The rows that were dropped because of a conflict.
        package var dropped = 0
        /// The short links whose destination was another one of the file.
        package var chained = 0
        /// The number of problems.
        package var problemCount = 0
        /// The first problems, at most `maxProblems`.
        package var problems: [Problem] = []

        mutating func add(_ problem: Problem) {
            problemCount += 1
            if problems.count < ShortLinkBuilder.maxProblems { problems.append(problem) }
        }
    }

    /// The limit of short links that lead to each other.
    package static let maxChain = 8
    /// The limit of problems that are described.
    package static let maxProblems = 100
    /// The limit of rows.
    package static let maxRows = 1 << 30
    /// The limit of short links whose destination is on a host of the file.
    package static let maxChained = 1 << 20
    private static let partCount = 256
    private static let chunkBytes = 1 << 16
    /// The size limit of a part, which is sorted in memory.
    private static let maxPartBytes = 256 << 20
    /// The size of a row in a part without its texts: the hash, the line, the number of the file, and two sizes.
    private static let rowBytes = 20

    private let path: String
    private let conflicts: Conflicts
    private let spill: StagedFile
    /// The rows of each part that are not in a chunk yet, and the positions and sizes of its chunks.
    private var parts = [[UInt8]](repeating: [], count: partCount)
    private var chunks = [[(position: Int, count: Int)]](repeating: [], count: partCount)
    private var key = [UInt8](repeating: 0, count: ShortLinkKey.maxBytes)
    private var hosts: Set<[UInt8]> = []
    private var lastHost: [UInt8] = []
    private var seed: UInt64 = 0
    /// The number of rows that were added.
    package private(set) var rows = 0

    /// Creates the writer of a file.
    package init(path: String, conflicts: Conflicts = .refuse) throws(ShortLinkError) {
        self.path = path
        self.conflicts = conflicts
        spill = try StagedFile(beside: path, ".rows", isHidden: true)
    }

    /// Adds a short link.
    ///
    /// Returns false if it or its destination is too long, or if there are too many rows or hosts.
    ///
    /// - Parameters:
    ///   - host: The host without a port.
    ///   - tail: The path, the query, and the fragment.
    ///   - destination: The destination.
    ///   - place: The row.
    package func add(
        host: ByteView, tail: ByteView, destination: ByteView, at place: Place
    ) throws(ShortLinkError) -> Bool {
        let count = key.withUnsafeMutableBufferPointer { memory in
            memory.baseAddress.flatMap { ShortLinkKey.write(host: host, tail: tail, to: $0) }
        }
        guard let count, destination.count <= ShortLinkKey.maxDestinationBytes, rows < Self.maxRows,
            let line = UInt32(exactly: place.line), let file = UInt16(exactly: place.file)
        else { return false }
        if !key[..<host.count].elementsEqual(lastHost) {
            lastHost = Array(key[..<host.count])
            hosts.insert(lastHost)
            guard hosts.count <= ShortLinkFormat.maxHosts, host.count < 256 else { return false }
        }
        rows += 1
        let hash = key.withUnsafeBufferPointer {
            LinkHash.hash(ByteView(UnsafeBufferPointer(rebasing: $0[..<count])), seed: seed)
        }
        let part = Int(hash >> 56)
        ShortLinkFormat.append(hash, to: &parts[part])
        ShortLinkFormat.append(line, to: &parts[part])
        ShortLinkFormat.append(UInt32(file), to: &parts[part])
        ShortLinkFormat.append(UInt16(count), to: &parts[part])
        ShortLinkFormat.append(UInt16(destination.count), to: &parts[part])
        parts[part] += key[..<count]
        parts[part] += destination.buffer
        if parts[part].count >= Self.chunkBytes { try spillPart(part) }
        return true
    }

    private func spillPart(_ part: Int) throws(ShortLinkError) {
        guard !parts[part].isEmpty else { return }
        chunks[part].append((spill.count, parts[part].count))
        try spill.append(parts[part])
        parts[part].removeAll(keepingCapacity: true)
    }

    /// Writes the file, unless there are problems.
    ///
    /// - Parameters:
    ///   - isPublished: A Boolean value that indicates whether the file is written if there are no problems.
    ///   - answer: A function that looks up a link in a file, as deciders do.
    ///   - progress: A function that is called with the parts of 256 that are done, and returns whether to go on.
    package func finish(
        isPublished publishes: Bool = true, answer: (ShortLinkFile, ByteView) -> ShortLinkFile.Answer?,
        progress: (Int) -> Bool = { _ in true }
    ) throws(ShortLinkError) -> Result? {
        for part in 0..<Self.partCount { try spillPart(part) }
        try spill.flush()
        parts = []
        var result = Result()
        let output = try EntryOutput(path: path, ".entries", rows: rows, seed: seed)
        var isPublished = false
        defer { if !isPublished { output.file.remove() } }
        var chained: [Chained] = []
        for part in 0..<Self.partCount {
            try write(part, to: output, &chained, &result)
            guard progress(part + 1) else { return nil }
        }
        result.links = output.links
        guard result.problems.isEmpty else { return result }
        try output.finish(hosts: hosts)
        guard !chained.isEmpty else {
            guard publishes else { return result }
            try output.file.publish(as: path)
            isPublished = true
            return result
        }
        let resolved = try EntryOutput(path: path, ".chains", rows: rows, seed: seed)
        defer { if !isPublished { resolved.file.remove() } }
        try follow(chained, in: output, to: resolved, answer, &result)
        guard result.problems.isEmpty, publishes else { return result }
        try resolved.finish(hosts: hosts)
        try resolved.file.publish(as: path)
        isPublished = true
        output.file.remove()
        return result
    }

    // MARK: Parts

    /// A row of a part in memory.
    private struct Row {
        var hash: UInt64
        var place: Place
        var key: ByteView
        var destination: ByteView
    }

    /// A short link whose destination is on a host of the file.
    private struct Chained {
        /// The number of entries before it.
        var index: Int
        var place: Place
    }

    /// Sorts a part, and writes its entries.
    private func write(
        _ part: Int, to output: EntryOutput, _ chained: inout [Chained], _ result: inout Result
    ) throws(ShortLinkError) {
        let size = chunks[part].reduce(0) { $0 + $1.count }
        guard size <= Self.maxPartBytes else {
            throw ShortLinkError(
                .format("expected at most \(Self.maxPartBytes >> 20) MiB of links with one beginning of their hash"),
                path)
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size)
        for chunk in chunks[part] { try spill.read(chunk.count, at: chunk.position, into: &bytes) }
        try bytes.withUnsafeBufferPointer { memory throws(ShortLinkError) in
            try writeGroups(Self.rows(in: ByteView(memory)), to: output, &chained, &result)
        }
    }

    private static func rows(in view: ByteView) -> [Row] {
        let bytes = UnsafeRawPointer(view.start)
        func number<Number: FixedWidthInteger>(_ offset: Int, _ type: Number.Type) -> Number {
            Number(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: type))
        }
        var rows: [Row] = []
        var position = 0
        while position < view.count {
            let keyStart = position + rowBytes
            let keyEnd = keyStart + Int(number(position + 16, UInt16.self))
            let end = keyEnd + Int(number(position + 18, UInt16.self))
            rows.append(
                Row(
                    hash: number(position, UInt64.self),
                    place: Place(
                        file: Int(number(position + 12, UInt32.self)), line: Int(number(position + 8, UInt32.self))),
                    key: view.slice(keyStart, keyEnd), destination: view.slice(keyEnd, end)))
            position = end
        }
        rows.sort { a, b in
            if a.hash != b.hash { return a.hash < b.hash }
            return a.key == b.key ? a.place < b.place : a.key < b.key
        }
        return rows
    }

    /// Writes an entry for each key.
    private func writeGroups(
        _ rows: [Row], to output: EntryOutput, _ chained: inout [Chained], _ result: inout Result
    ) throws(ShortLinkError) {
        var start = 0
        while start < rows.count {
            var chosen = rows[start]
            var next = start + 1
            while next < rows.count, rows[next].key == chosen.key {
                if rows[next].destination == chosen.destination {
                    result.duplicates += 1
                } else if conflicts == .refuse {
                    result.add(
                        Problem(
                            kind: .conflict, link: chosen.key.string, places: [chosen.place, rows[next].place]))
                } else {
                    result.dropped += 1
                    if conflicts == .last { chosen = rows[next] }
                }
                next += 1
            }
            start = next
            if hasHost(chosen.destination) {
                guard chained.count < Self.maxChained else {
                    throw ShortLinkError(
                        .format("expected at most \(Self.maxChained) destinations on hosts of the short links"), path)
                }
                chained.append(Chained(index: output.links, place: chosen.place))
            }
            try output.append(chosen.hash, chosen.key, chosen.destination)
        }
    }

    /// Returns a Boolean value that indicates whether a destination may be on one of the hosts.
    private func hasHost(_ destination: ByteView) -> Bool {
        guard let colon = destination.firstIndex(of: UInt8(ascii: ":")), colon <= 5, colon + 3 < destination.count
        else { return false }
        let rest = destination.dropFirst(colon + 3)
        let end = rest.buffer.firstIndex { "/?#".utf8.contains($0) } ?? rest.count
        let host = rest.slice(0, end).buffer.prefix { $0 != UInt8(ascii: ":") }.map(ShortLinkKey.lowercase)
        return hosts.contains(host) || host.last == UInt8(ascii: ".") && hosts.contains(Array(host.dropLast()))
    }

    // MARK: Chains

    /// Writes all entries again, with the last destination of each chain.
    private func follow(
        _ chained: [Chained], in output: EntryOutput, to resolved: EntryOutput,
        _ answer: (ShortLinkFile, ByteView) -> ShortLinkFile.Answer?, _ result: inout Result
    ) throws(ShortLinkError) {
        let file = try ShortLinkFile(path: output.file.path)
        var next = 0
        var problems = Result()
        var count = 0
        try output.forEach { (index, hash, key, destination) throws(ShortLinkError) in
            guard next < chained.count, chained[next].index == index else {
                return try resolved.append(hash, key, destination)
            }
            let place = chained[next].place
            next += 1
            var last = destination
            // The links on the way whose query counts for the context of decisions.
            var queries: [ByteView] = []
            var links = [key.array]
            while let found = answer(file, last) {
                let kind: Problem.Kind? =
                    links.contains { $0.elementsEqual(found.link.buffer) }
                    ? .loop : links.count > Self.maxChain ? .chain : nil
                if let kind {
                    problems.add(Problem(kind: kind, link: key.string, places: [place]))
                    return
                }
                if Self.hasQuery(last) { queries.append(last) }
                links.append(found.link.array)
                last = found.destination
            }
            if links.count > 1 { count += 1 }
            // A decision follows one more short link by itself. With several, the queries are lost and not the link.
            try resolved.append(hash, key, queries.count == 1 ? queries[0] : last)
        }
        result.chained = count
        for problem in problems.problems { result.add(problem) }
        result.problemCount = max(result.problemCount, problems.problemCount)
    }

    private static func hasQuery(_ link: ByteView) -> Bool {
        let mark = ByteScan.first(UInt8(ascii: "?"), or: UInt8(ascii: "#"), in: link, from: 0)
        return mark + 1 < link.count && link[mark] == UInt8(ascii: "?") && link[mark + 1] != UInt8(ascii: "#")
    }
}

/// The entries of a file of short links, which are written in the order of their hashes.
private final class EntryOutput {
    let file: StagedFile
    private let directory: StagedFile
    private let bucketCount: UInt64
    private let seed: UInt64
    /// The bucket that is being written, and its number.
    private var bucket = ShortLinkFormat.Bucket()
    private var bucketNumber: UInt64 = 0
    /// The size of all entries, when they are written.
    private var entriesBytes = 0
    private var computation = SHA256()
    /// The number of entries.
    private(set) var links = 0

    init(path: String, _ suffix: String, rows: Int, seed: UInt64) throws(ShortLinkError) {
        file = try StagedFile(beside: path, suffix, isHidden: false)
        directory = try StagedFile(beside: path, ".directory", isHidden: true)
        bucketCount = ShortLinkFormat.bucketCount(rows: rows)
        self.seed = seed
        try file.append([UInt8](repeating: 0, count: ShortLinkFormat.headerBytes))
    }

    /// The size of the buckets that were written.
    private var position: Int { file.count - ShortLinkFormat.headerBytes }

    /// Appends an entry, whose hash is not less than the one before.
    func append(_ hash: UInt64, _ key: ByteView, _ destination: ByteView) throws(ShortLinkError) {
        try writeBuckets(before: hash.multipliedFullWidth(by: bucketCount).high)
        bucket.add(hash, key, destination, seed: seed)
        links += 1
        guard bucket.count <= ShortLinkFormat.maxBucketEntries else {
            throw ShortLinkError(.format("too many short links have one hash, so they were made for it"), file.path)
        }
    }

    /// Writes the current bucket and the empty ones after it, up to another one.
    private func writeBuckets(before number: UInt64) throws(ShortLinkError) {
        var positions: [UInt8] = []
        while bucketNumber < number {
            ShortLinkFormat.append(UInt32(position / ShortLinkFormat.unit), to: &positions)
            let bytes = bucket.take()
            guard position + bytes.count <= ShortLinkFormat.maxEntriesBytes else {
                throw ShortLinkError(
                    .format("expected at most \(ShortLinkFormat.maxEntriesBytes >> 30) GiB of links"), file.path)
            }
            try add(bytes)
            bucketNumber += 1
        }
        try directory.append(positions)
    }

    private func add(_ bytes: [UInt8]) throws(ShortLinkError) {
        bytes.withUnsafeBufferPointer { computation.add(ByteView($0)) }
        try file.append(bytes)
    }

    /// Writes the directory, the hosts, and the header.
    func finish(hosts: Set<[UInt8]>) throws(ShortLinkError) {
        try writeBuckets(before: bucketCount)
        entriesBytes = position
        var end: [UInt8] = []
        ShortLinkFormat.append(UInt32(position / ShortLinkFormat.unit), to: &end)
        try directory.append(end)
        try directory.flush()
        var done = 0
        while done < directory.count {
            let count = min(1 << 20, directory.count - done)
            var bytes: [UInt8] = []
            try directory.read(count, at: done, into: &bytes)
            try add(bytes)
            done += count
        }
        let list = hosts.sorted { $0.lexicographicallyPrecedes($1) }.flatMap { $0 + [UInt8(ascii: "\n")] }
        try add(list)
        let layout = ShortLinkFormat.Layout(
            count: UInt64(links), bucketCount: bucketCount, entriesBytes: UInt64(entriesBytes),
            hostsBytes: UInt64(list.count), seed: seed)
        layout.head.withUnsafeBufferPointer { computation.add(ByteView($0)) }
        try file.flush()
        try file.write(ShortLinkFormat.header(layout, hash: computation.finish()), at: 0)
    }

    /// Calls a function with the index, the hash, the key, and the destination of each entry.
    func forEach(
        _ body: (Int, UInt64, ByteView, ByteView) throws(ShortLinkError) -> Void
    ) throws(ShortLinkError) {
        var position = 0
        var bytes: [UInt8] = []
        var start = 0
        var left = 0
        for index in 0..<links {
            // An entry has at most 12 bytes and two texts of 65,535 bytes, and the beginning of a bucket has 264 bytes.
            if bytes.count - start < 1 << 18, position + bytes.count < entriesBytes {
                bytes.removeFirst(start)
                position += start
                start = 0
                let count = min(1 << 20, entriesBytes - position - bytes.count)
                try file.read(count, at: ShortLinkFormat.headerBytes + position + bytes.count, into: &bytes)
            }
            if left == 0 {
                left = Int(bytes[start])
                start += ShortLinkFormat.bucketHeadBytes(left)
            }
            left -= 1
            let end = start + ShortLinkFormat.entryBytes + Int(bytes[start + 8]) + Int(bytes[start + 9]) << 8
            let next = end + Int(bytes[start + 10]) + Int(bytes[start + 11]) << 8
            try bytes.withUnsafeBufferPointer { memory throws(ShortLinkError) in
                let key = ByteView(UnsafeBufferPointer(rebasing: memory[(start + ShortLinkFormat.entryBytes)..<end]))
                let destination = ByteView(UnsafeBufferPointer(rebasing: memory[end..<next]))
                try body(index, LinkHash.hash(key, seed: seed), key, destination)
            }
            start = (next + ShortLinkFormat.unit - 1) & ~(ShortLinkFormat.unit - 1)
        }
    }
}
