internal import LinkCoordinator

/// The limits of one table on the number of segments of a set's links, before and after redirects.
struct SegmentBounds {
    /// The maximum number of segments of a link.
    var written: Int
    /// The maximum number of segments of a link that no redirect makes too long.
    var redirected: Int

    /// Returns a code of the limit that a number of segments exceeds, or 0 for none.
    private func passed(by count: Int) -> Int { count > written ? 2 : count > redirected ? 1 : 0 }

    /// Returns ranges of segment counts that two tables treat differently; each table treats the counts within a range
    /// alike.
    static func ranges(_ a: SegmentBounds, _ b: SegmentBounds) -> [ClosedRange<Int>] {
        let cuts = Set([a.written, a.redirected, b.written, b.redirected].map { max($0, 0) }).sorted()
        return zip(cuts, cuts.dropFirst()).compactMap { low, high in
            a.passed(by: high) != b.passed(by: high) ? low + 1...high : nil
        }
    }
}
