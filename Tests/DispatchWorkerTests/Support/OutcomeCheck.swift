/// A comparison of outcomes with the input: no loss (I1), no duplicates (I2), and order per device (I4).
struct OutcomeCheck: Equatable {
    var lost: [String] = []
    var duplicated: [String] = []
    var disordered: [String] = []

    /// Checks decisions (`topic-partition-offset value`, as `EchoProcessing` writes them) and dead letters.
    ///
    /// `sources` are the positions of all input records, as `topic-partition-offset`.
    init(sources: [String], decisions: [ReadRecord], deadLetters: [ReadRecord]) {
        var counts: [String: Int] = [:]
        var last: [String: Int64] = [:]
        for record in decisions {
            let source = String((record.valueText ?? "").prefix { $0 != " " })
            let key = record.keyText ?? ""
            // One decision per device: with several devices, the key ends with the device's index.
            counts[source + (key.contains("/") ? "/" + key.split(separator: "/")[1] : ""), default: 0] += 1
            let offset = Int64(source.split(separator: "-").last ?? "") ?? -1
            let sequence = key + String(source.prefix { _ in true }.dropLast(String(offset).count))
            if let before = last[sequence], before >= offset { disordered.append("\(source) after \(before)") }
            last[sequence] = offset
        }
        for record in deadLetters {
            let source = ["topic", "partition", "offset"].map { record.header("dlq.source.\($0)") ?? "?" }
            counts[source.joined(separator: "-"), default: 0] += 1
        }
        lost = sources.filter { counts[$0] == nil && counts[$0 + "/0"] == nil }
        duplicated = counts.filter { $0.value > 1 }.map { "\($0.key): \($0.value)" }.sorted()
    }

    var isGood: Bool { lost.isEmpty && duplicated.isEmpty && disordered.isEmpty }

    /// The first failures of each kind.
    var summary: String {
        "lost \(lost.count) \(lost.prefix(3)), duplicated \(duplicated.count) \(duplicated.prefix(3)), "
            + "disordered \(disordered.count) \(disordered.prefix(3))"
    }
}

extension OutcomeCheck {
    /// A check without failures.
    static let good = OutcomeCheck(sources: [], decisions: [], deadLetters: [])
}
