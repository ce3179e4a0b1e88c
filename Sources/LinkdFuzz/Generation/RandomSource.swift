/// A repeatable source of random choices (SplitMix64).
///
/// The same seed yields the same choices on every machine.
package struct RandomSource: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a source from a seed.
    package init(seed: UInt64) { state = seed }

    /// Returns the next random number.
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// Returns a number from 0 to `bound` - 1, or 0 if `bound` is not positive.
    package mutating func below(_ bound: Int) -> Int {
        bound > 1 ? Int(truncatingIfNeeded: next() % UInt64(bound)) : 0
    }

    /// Returns true with a probability of 1 in `count`.
    package mutating func one(in count: Int) -> Bool { below(count) == 0 }

    /// Returns one of the choices, of which there must be at least one.
    package mutating func pick<Choice>(_ choices: [Choice]) -> Choice { choices[below(choices.count)] }

    /// Returns one of the choices, or `other` if there are none.
    package mutating func pick<Choice>(_ choices: [Choice], else other: Choice) -> Choice {
        choices.isEmpty ? other : pick(choices)
    }
}
