import LinkCoordinator
import StrictJSON
import TestSupport
import Testing

@Suite("Versions")
struct VersionTests {
    private func compare(_ a: String, _ b: String) -> Int? {
        withView(a) { left in
            withView(b) { right in
                guard let x = Version(left), let y = Version(right) else { return nil }
                return Version.compare(x, y).signum()
            }
        }
    }

    @Test(
        "Versions are recognized by their form",
        arguments: [
            ("1", true), ("1.2.3.4.5", true), ("999999999", true), ("01.002", true), ("1-a", true),
            ("1.0-rc.1+7", true),
            ("1+build", true), ("1.2.3.4.5.6", false), ("", false), (".1", false), ("1.", false), ("1..2", false),
            ("1234567890", false), ("v1", false), ("1 ", false), ("1-", false), ("1-a..b", false), ("1+", false),
            ("1.0-é", false), ("-1", false), ("1.x", false), ("1.0+a+b", false),
            (String(repeating: "1", count: 9) + "-" + String(repeating: "a", count: 54), true),
            (String(repeating: "1", count: 9) + "-" + String(repeating: "a", count: 55), false),
        ])
    func reads(text: String, isVersion: Bool) { #expect(withView(text) { Version($0) != nil } == isVersion) }

    /// Versions in ascending order.
    ///
    /// Each is lower than every later one.
    private static let ascending = [
        "0", "0.0.0.0.1-a", "0.0.0.0.1", "1-0", "1.0.0-2", "1-10", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta",
        "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.0.0.1", "1.0.1", "1.2", "1.10",
        "2-a", "2", "10", "999999999",
    ]

    @Test("Versions are ordered, and pre-releases as in Semantic Versioning")
    func order() {
        for (i, a) in Self.ascending.enumerated() {
            for (j, b) in Self.ascending.enumerated() {
                #expect(compare(a, b) == (i - j).signum(), "\(a) and \(b)")
            }
        }
    }

    @Test(
        "Different texts of a version are equal",
        arguments: [
            ("1", "1.0.0.0.0"), ("1.2+a", "1.2+b"), ("1.2", "1.2+b"), ("01.02", "1.2"), ("1-1", "1-01"),
            ("1-a+x", "1.0-a"),
        ])
    func equal(a: String, b: String) { #expect(compare(a, b) == 0) }

    @Test("The order is total: antisymmetric and transitive")
    func laws() {
        var generator = SeededGenerator(seed: 99)
        let parts = ["0", "1", "2", "10", "01"]
        let tails = ["", "-a", "-a.1", "-1", "-1.a", "-a.b", "+x", "-01", "-A"]
        func version() -> String {
            let count = Int.random(in: 1...3, using: &generator)
            let numbers = (0..<count).map { _ in parts[Int.random(in: 0..<parts.count, using: &generator)] }
            return numbers.joined(separator: ".") + tails[Int.random(in: 0..<tails.count, using: &generator)]
        }
        for _ in 0..<20_000 {
            let (a, b, c) = (version(), version(), version())
            guard let ab = compare(a, b), let ba = compare(b, a), let bc = compare(b, c), let ac = compare(a, c) else {
                Issue.record("no version: \(a) \(b) \(c), seed \(generator.seed)")
                return
            }
            #expect(ab == -ba, "\(a) \(b), seed \(generator.seed)")
            if ab <= 0, bc <= 0 { #expect(ac <= 0, "\(a) \(b) \(c), seed \(generator.seed)") }
            if ab == 0, bc == 0 { #expect(ac == 0, "\(a) \(b) \(c), seed \(generator.seed)") }
        }
    }
}
