internal import ByteStorage
internal import ShortLinks
internal import StrictJSON

/// The target `shortlinks`. An input is a letter, a line feed, and a file of short links:
///
/// - `d`: the damage of a whole file, which makes a link unknown and never changes its destination. Each four bytes are
///   a place (two bytes), what is done there, and a number.
/// - `f`: the contents of a forged file. The check of the header is made to fit.
/// - `r`: rows of a forged file, one per line, with a tab between a link and its destination.
extension FuzzRunner {
    private static let whole = ShortLinkFile(ShortLinkRows.plain).contents
    private static let headerBytes = 128
    private static let maxRows = 64

    func runShortLinks(_ input: [UInt8]) -> String? {
        let body = input.dropFirst(2)
        switch input.first {
        case UInt8(ascii: "r"): return rowsViolation(body)
        case UInt8(ascii: "f"):
            var contents = Array(body)
            guard contents.count >= Self.headerBytes else { return nil }
            let check = contents.withUnsafeBufferPointer {
                LinkHash.hash(ByteView($0).slice(0, Self.headerBytes - 8), seed: 0)
            }
            for index in 0..<8 {
                contents[Self.headerBytes - 8 + index] = UInt8(truncatingIfNeeded: check >> (8 * index))
            }
            guard let file = ShortLinkFile(contents: contents) else { return nil }
            _ = file.verify()
            return decisionViolation(file, ShortLinkRows.plain)
        default: return damageViolation(Array(body))
        }
    }

    private func damageViolation(_ edits: [UInt8]) -> String? {
        var contents = Self.whole
        // A few edits cannot forge the check of an entry.
        for at in stride(from: 0, to: min(edits.count - 3, 24), by: 4) {
            let room = contents.count - Self.headerBytes
            let place = Self.headerBytes + (Int(edits[at]) << 8 | Int(edits[at + 1])) % room
            let end = min(contents.count, place + Int(edits[at + 3]))
            switch edits[at + 2] % 3 {
            case 0: contents[place] ^= edits[at + 3]
            case 1: contents.replaceSubrange(place..<end, with: repeatElement(0, count: end - place))
            default: contents.replaceSubrange(place..<end, with: Self.whole.suffix(end).prefix(end - place))
            }
        }
        guard let file = ShortLinkFile(contents: contents) else { return "a file with a whole header is refused" }
        let isWhole = contents == Self.whole
        if file.verify() != isWhole { return "damage is not found" }
        for row in ShortLinkRows.plain {
            let found = Self.destination(of: row.key, in: file)
            if found == row.destination || found == nil && !isWhole { continue }
            return "\(String(decoding: row.key, as: UTF8.self)) leads to: "
                + String(decoding: found ?? [], as: UTF8.self)
        }
        return nil
    }

    private static func destination(of key: [UInt8], in file: ShortLinkFile) -> [UInt8]? {
        key.withUnsafeBufferPointer { file.find(ByteView($0))?.destination.array }
    }

    private func rowsViolation(_ body: ArraySlice<UInt8>) -> String? {
        var rows: [ShortLinkRows.Row] = []
        for line in body.split(separator: UInt8(ascii: "\n")).prefix(Self.maxRows) {
            let key = Array(line.prefix { $0 != UInt8(ascii: "\t") })
            if key.isEmpty || rows.contains(where: { $0.key == key }) { continue }
            rows.append((key, Array(line.dropFirst(key.count + 1))))
        }
        let file = ShortLinkFile(rows)
        if !file.verify() { return "a file does not fit its own hash" }
        for row in rows where Self.destination(of: row.key, in: file) != row.destination {
            return "a file does not have the destination of \(String(decoding: row.key, as: UTF8.self))"
        }
        return decisionViolation(file, rows)
    }

    /// Decides about the links of some rows, and returns a violation of the rules of a decision, or nil.
    private func decisionViolation(_ file: ShortLinkFile, _ rows: [ShortLinkRows.Row]) -> String? {
        for base in [ingestEnvironments[1], ingestEnvironments[4]] {
            let environment = base.with(file)
            var lane = RecordLane(environment)
            for (row, expires) in rows.prefix(2).flatMap({ [($0, ""), ($0, #","expires":"2020-01-01T00:00:00Z""#)] }) {
                var text = TextWriter()
                text.string("https://" + String(decoding: row.key, as: UTF8.self))
                let devices = #","devices":[{"id":"a","platform":"ios"},{"id":"b","platform":"web"},{"id":"c"}]}"#
                let record = FuzzRecord(
                    value: Array(#"{"link":"#.utf8) + text.bytes + Array((expires + devices).utf8))
                let result = lane.results(CollectionOfOne(record))[0]
                if let wrong = wrong(result, of: record, environment) { return wrong }
                let alone = RecordLane.fresh(record, environment)
                if alone != result { return "a different result after others\nalone:\n\(alone)\nafter:\n\(result)" }
                for (index, decision) in result.decisions.enumerated() {
                    let noted = ShortLinkFile(Self.noted(in: decision), hash: file.hash.string)
                    let again = RecordLane.fresh(record, base.with(noted))
                    if index < again.decisions.count, again.decisions[index] == decision { continue }
                    return "decision \(index) is different from its notes\n\(result)\nagain:\n\(again)"
                }
                if let wrong = ingestCostViolation(record, environment) { return wrong }
            }
        }
        return nil
    }

    /// Returns the short links in the notes of a decision, from which it can be made again.
    private static func noted(in decision: RecordResult.Decision) -> [ShortLinkRows.Row] {
        var rows: [[UInt8]: [UInt8]] = [:]
        for note in (try? JSONValue.parse(decision.value))?["notes"]?.array ?? [] {
            guard let text = note.string, text.hasPrefix("short_link:") else { continue }
            let parts = text.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
            if parts.count == 3 { rows[Array(parts[1])] = Array(parts[2]) }
        }
        return rows.map { ($0.key, $0.value) }
    }
}
