/// A repeatable source of random numbers (SplitMix64).
///
/// A failing case can be repeated with its printed seed.
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    /// The seed, to print with a failure.
    package let seed: UInt64

    /// Creates a generator.
    ///
    /// The same seed yields the same numbers on every machine.
    package init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return Self.mixed(state)
    }

    /// Returns a number whose bits all depend on all bits of another number.
    package static func mixed(_ number: UInt64) -> UInt64 {
        var z = number
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

extension SeededGenerator {
    package mutating func pick<Element>(_ choices: [Element]) -> Element {
        choices[Int.random(in: 0..<choices.count, using: &self)]
    }

    package mutating func one(in count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }

    /// Returns random bytes of which a third or more are 0, so that equal prefixes occur.
    package mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in one(in: 3) ? 0 : UInt8.random(in: 0 ... .max, using: &self) }
    }

    /// Returns a number of random choices, joined.
    package mutating func joined(_ range: ClosedRange<Int>, of choices: [String], by separator: String) -> String {
        (0..<Int.random(in: range, using: &self)).map { _ in pick(choices) }.joined(separator: separator)
    }
}
