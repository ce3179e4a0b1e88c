internal import LinkCoordinator

/// Bounds on the segments of a set's links in one table: as they came, and for the redirects behind them.
struct SegmentBounds {
    /// Most segments of a link as it came.
    var written: Int
    /// Most segments of a link that no redirect makes too long.
    var redirected: Int

    /// The bound that so many segments pass first: 0 for none.
    private func passed(by count: Int) -> Int { count > written ? 2 : count > redirected ? 1 : 0 }

    /// Numbers of segments that two tables treat in different ways: in each range all are treated alike.
    static func ranges(_ a: SegmentBounds, _ b: SegmentBounds) -> [ClosedRange<Int>] {
        let cuts = Set([a.written, a.redirected, b.written, b.redirected].map { max($0, 0) }).sorted()
        return zip(cuts, cuts.dropFirst()).compactMap { low, high in
            a.passed(by: high) != b.passed(by: high) ? low + 1...high : nil
        }
    }
}
