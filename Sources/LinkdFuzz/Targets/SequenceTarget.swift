/// The target `sequences`. An input is a line with the letter of the environment, followed by a line for each record.
///
/// - A tab separates the key of a record from its value. A line without a tab is a value.
/// - An empty line ends a batch.
/// - `@N` and a space before a record repeat it N times. Each `#` in it is the number of the repetition.
extension FuzzRunner {
    /// The limits of the records in one input: their number and their bytes.
    static let maxRecords = 3_000
    static let maxRecordBytes = 1 << 20
    /// The limit of records in a batch.
    static let batch = 100

    func runSequence(_ input: [UInt8]) -> String? {
        let (environment, batches) = sequence(input)
        var lane = RecordLane(environment)
        var seen = 0
        for batch in batches {
            let digests = lane.digests(batch)
            for (record, digest) in zip(batch, digests) {
                seen += 1
                if digest == freshDigest(record, environment) { continue }
                return "record \(seen) has a different result after other records than alone\n"
                    + Self.describe(batches, upTo: seen, environment)
            }
        }
        return nil
    }

    /// Returns the result of a record after the others, and its result alone.
    private static func describe(_ batches: [[FuzzRecord]], upTo count: Int, _ environment: FuzzEnvironment) -> String {
        var lane = RecordLane(environment)
        var remaining = count
        for batch in batches {
            let results = lane.results(batch)
            if remaining <= batch.count {
                let record = batch[remaining - 1]
                let alone = RecordLane.fresh(record, environment)
                return "\(record.text)\nafter others:\n\(results[remaining - 1])\nalone:\n\(alone)"
            }
            remaining -= batch.count
        }
        return ""
    }

    /// Returns the environment and the batches of an input.
    func sequence(_ input: [UInt8]) -> (FuzzEnvironment, [[FuzzRecord]]) {
        let lines = input.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let environment = FuzzEnvironment.named(lines.first?.first ?? UInt8(ascii: "a"), of: environments)
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
                if offset >= Self.maxRecords || bytes > Self.maxRecordBytes { return (environment, batches) }
                if batches[batches.count - 1].count >= Self.batch { batches.append([]) }
                batches[batches.count - 1].append(Self.record(value, offset: offset))
                offset += 1
            }
        }
        return (environment, batches)
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
        return (0..<min(count, maxRecords)).map { index in
            ArraySlice(pieces.joined(separator: Array(String(index).utf8)))
        }
    }
}
