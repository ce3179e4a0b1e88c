/// Finds the name that was probably meant.
enum Nearest {
    /// The known name with the fewest edits from `name`, when these are few enough to be a slip.
    static func name(to name: String, among known: some Sequence<String>) -> String? {
        let typed = Array(name.lowercased().unicodeScalars.prefix(64))
        let allowed = max(1, min(3, typed.count / 3 + 1))
        var best: (name: String, edits: Int)?
        for candidate in known {
            let scalars = Array(candidate.lowercased().unicodeScalars)
            let begins = typed.count >= 3 && scalars.starts(with: typed)
            let edits = begins ? 1 : distance(typed, scalars)
            if edits <= allowed, edits < best?.edits ?? .max { best = (candidate, edits) }
        }
        return best?.name
    }

    /// Insertions, deletions, substitutions and swaps of neighbours between two texts (optimal string alignment).
    private static func distance(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar]) -> Int {
        if abs(a.count - b.count) > 3 { return .max }
        var older = [Int](repeating: 0, count: b.count + 1)
        var previous = Array(0...b.count)
        for i in 0..<a.count {
            var current = [Int](repeating: i + 1, count: b.count + 1)
            for j in 0..<b.count {
                let same = a[i] == b[j] ? 0 : 1
                current[j + 1] = min(previous[j] + same, previous[j + 1] + 1, current[j] + 1)
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
                    current[j + 1] = min(current[j + 1], older[j - 1] + 1)
                }
            }
            (older, previous) = (previous, current)
        }
        return previous[b.count]
    }
}
