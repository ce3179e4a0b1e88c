@testable import LinkCoordinator
import TestSupport
import Testing

@Suite("Laws of patterns") struct PatternLawTests {
    /// A case is a pattern.
    @Test("Patterns are read back from their text")
    func texts() throws {
        var patterns = PatternGenerator(seed: 3)
        for _ in 0..<LawCases.count {
            let pattern = patterns.pattern()
            guard pattern.text.hasPrefix("/") else { continue }
            #expect(try PatternParser.parse(pattern.text, foldsCase: false) == [pattern])
        }
    }

    private func precedence(_ patterns: inout PatternGenerator) -> Precedence {
        let hosts: [HostRule?] = [
            nil, .empty, .exact(host: Array("a.example".utf8), port: nil),
            .exact(host: Array("a.example".utf8), port: 80), .exact(host: Array("b.example".utf8), port: nil),
            .suffix(Array("example".utf8)), .suffix(Array("a.example".utf8)), .suffix(Array("b.example".utf8)),
        ]
        let constraints = Int.random(in: 0...2, using: &patterns.generator)
        return Precedence(
            scheme: patterns.pick([nil, "a", "b"]), host: patterns.pick(hosts), path: patterns.pattern(),
            constraints: constraints,
            valuedConstraints: Int.random(in: 0...constraints, using: &patterns.generator),
            priority: patterns.pick([0, 0, 1, -1]), route: patterns.pick(["r", "s", "t"]))
    }

    /// Returns the rule of an order that three keys break, or nil.
    private func brokenRule(_ a: Precedence, _ b: Precedence, _ c: Precedence) -> String? {
        let (ab, ba) = (Precedence.compare(a, b), Precedence.compare(b, a))
        if ab.signum() != -ba.signum() { return "antisymmetric: \(a) \(b)" }
        let (bc, ac) = (Precedence.compare(b, c), Precedence.compare(a, c))
        if ab <= 0, bc <= 0, ac > 0 { return "transitive: \(a) \(b) \(c)" }
        let isSamePattern = a.path == b.path || a.path.matchers == b.path.matchers && a.path.text == b.path.text
        return ab == 0 && !isSamePattern ? "equal only for the same pattern: \(a) \(b)" : nil
    }

    /// A case is three keys.
    ///
    /// A pattern is compared as a whole, so a case has no parts to remove.
    @Test("The order is total: antisymmetric, transitive, and equal only for the same pattern")
    func order() {
        var patterns = PatternGenerator(seed: 20251121)
        let pool = (0..<400).map { _ in precedence(&patterns) }
        for number in 0..<LawCases.count {
            let (a, b, c) = (patterns.pick(pool), patterns.pick(pool), patterns.pick(pool))
            guard let rule = brokenRule(a, b, c) else { continue }
            Issue.record("seed \(patterns.generator.seed), case \(number): not \(rule)")
            return
        }
    }
}
