// The answers of devices in words.
extension DeviceQuestion {
    /// Returns words for the answers of some devices as opposed to the answers of others, such as `app before 4.0.0`.
    ///
    /// - Parameters:
    ///   - answers: The answers of the devices.
    ///   - others: The answers of all other devices, which need not differ.
    package func words(_ answers: Set<UInt16>, among others: Set<UInt16>) -> String {
        switch fact {
        case .app, .os: return "\(name) " + versions(answers, others).joined(separator: " or ")
        case .claim, .listed: return answers == [0] ? "no \(name)" : name
        case .platform, .region, .locale, .attribute, .coordinator, .query:
            let (isLong, rest) = (answers.count > 2 && answers.isDisjoint(with: others), others.count)
            if isLong, rest < answers.count, rest > 0 { return "\(name) not \(list(others))" }
            return "\(name) \(list(answers))"
        }
    }

    private func list(_ answers: Set<UInt16>) -> String { answers.sorted().map(text).joined(separator: " or ") }

    private func text(_ answer: UInt16) -> String {
        if (1...named.count).contains(Int(answer)) { return named[Int(answer) - 1] }
        if answer > 0 { return "other" }
        if case .attribute = fact { return "other" }
        return "unknown"
    }

    /// Returns the ranges of versions that have the answers and none of the others.
    private func versions(_ answers: Set<UInt16>, _ others: Set<UInt16>) -> [String] {
        var texts = answers.contains(0) ? ["unknown"] : []
        var known = answers.filter { $0 > 0 }.sorted()[...]
        while let low = known.popFirst() {
            var high = low
            while let next = known.first, !others.contains(where: { high < $0 && $0 < next }) {
                high = next
                known.removeFirst()
            }
            texts.append(range(Int(low), Int(high), others))
        }
        return texts
    }

    /// Returns a range in words that reaches to the next answers of others.
    ///
    /// A number is even for a named version, and odd for the versions between two named ones.
    private func range(_ low: Int, _ high: Int, _ others: Set<UInt16>) -> String {
        let last = 2 * named.count + 1
        var (first, end) = (low, high)
        while first > 1, !others.contains(UInt16(first - 1)) { first -= 1 }
        while end < last, !others.contains(UInt16(end + 1)) { end += 1 }
        // A named version that no device has is on the side on which most conditions have it.
        if first > 1, first < low, !first.isMultiple(of: 2) { first += 1 }
        if end > high, end.isMultiple(of: 2) { end -= 1 }
        if first == end, first.isMultiple(of: 2) { return named[first / 2 - 1] }
        var parts: [String] = []
        if first > 1 {
            parts.append(first.isMultiple(of: 2) ? "from \(named[first / 2 - 1])" : "after \(named[first / 2 - 1])")
        }
        if end < last {
            parts.append(end.isMultiple(of: 2) ? "up to \(named[end / 2 - 1])" : "before \(named[end / 2])")
        }
        return parts.isEmpty ? "known" : parts.joined(separator: " ")
    }
}
