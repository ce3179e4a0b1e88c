/// The target `sequences`. An input is a line with the letter of the world, followed by a line for each record.
///
/// - A tab separates the key of a record from its value. A line without a tab is a value.
/// - An empty line ends a batch.
/// - `@N` and a space before a record repeat it N times. Each `#` in it is the number of the repetition.
extension FuzzRunner {
    /// The limits of the records in one input: their number and their bytes.
    static let mostRecords = 3_000
    static let mostRecordBytes = 1 << 20
    /// The limit of records in a batch.
    static let batch = 100

    func runSequence(_ input: [UInt8]) -> String? {
        let (world, batches) = sequence(input)
        var lane = RecordLane(world)
        var seen = 0
        for batch in batches {
            let digests = lane.digests(batch)
            for (record, digest) in zip(batch, digests) {
                seen += 1
                if digest == freshDigest(record, world) { continue }
                return "record \(seen) has a different result after other records than alone\n"
                    + Self.describe(batches, upTo: seen, world)
            }
        }
        return nil
    }

    /// Returns the result of a record after the others, and its result alone.
    private static func describe(_ batches: [[FuzzRecord]], upTo count: Int, _ world: World) -> String {
        var lane = RecordLane(world)
        var left = count
        for batch in batches {
            let results = lane.results(batch)
            if left <= batch.count {
                let record = batch[left - 1]
                return "\(record.text)\nafter others:\n\(results[left - 1])\nalone:\n\(RecordLane.fresh(record, world))"
            }
            left -= batch.count
        }
        return ""
    }

    /// Returns the world and the batches of an input.
    func sequence(_ input: [UInt8]) -> (World, [[FuzzRecord]]) {
        let lines = input.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let world = World.named(lines.first?.first ?? UInt8(ascii: "a"), of: worlds)
        var batches: [[FuzzRecord]] = [[]]
        var offset: Int64 = 0
        var bytes = 0
        for line in lines.dropFirst() {
            if line.isEmpty, batches[batches.count - 1].isEmpty == false {
                batches.append([])
                offset += 3
            }
            for value in Self.repeated(line) where !value.isEmpty {
                bytes += value.count
                if offset >= Self.mostRecords || bytes > Self.mostRecordBytes { return (world, batches) }
                if batches[batches.count - 1].count >= Self.batch { batches.append([]) }
                batches[batches.count - 1].append(Self.record(value, offset: offset))
                offset += 1
            }
        }
        return (world, batches)
    }

    private static func record(_ line: ArraySlice<UInt8>, offset: Int64) -> FuzzRecord {
        guard let tab = line.firstIndex(of: UInt8(ascii: "\t")) else {
            return FuzzRecord(value: Array(line), offset: offset)
        }
        let key = tab == line.startIndex ? nil : Array(line[..<tab])
        return FuzzRecord(key: key, value: Array(line[(tab + 1)...]), offset: offset)
    }

    /// Returns the records of a line.
    private static func repeated(_ line: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        guard line.first == UInt8(ascii: "@"), let blank = line.firstIndex(of: UInt8(ascii: " ")),
            let count = Int(String(decoding: line[(line.startIndex + 1)..<blank], as: UTF8.self)), count >= 0
        else { return [line] }
        // Splits the line at the numbers, so that little work is done for each byte.
        let pieces = line[(blank + 1)...].split(separator: UInt8(ascii: "#"), omittingEmptySubsequences: false)
        return (0..<min(count, mostRecords)).map { index in
            ArraySlice(pieces.joined(separator: Array(String(index).utf8)))
        }
    }
}
