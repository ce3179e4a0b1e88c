/// Finds the known name that a misspelled name most likely means.
package enum NearestName {
    /// The length of the longest name that is compared.
    private static let maxLength = 64

    /// Returns the known name with the smallest edit distance, or nil if none is close.
    ///
    /// Swapping neighboring characters counts as one edit, and case is ignored. A name is close if it needs at most one
    /// edit for each three characters, or a single edit. Among equally close names, the first in byte order is
    /// returned, so that the result does not depend on the order of the list.
    package static func of(_ name: String, among known: some Sequence<String>) -> String? {
        let target = Array(name.lowercased().utf8)
        guard target.count <= maxLength else { return nil }
        let limit = max(1, target.count / 3)
        var best: (name: String, distance: Int)?
        for candidate in known {
            let bytes = Array(candidate.lowercased().utf8)
            guard bytes.count <= maxLength, abs(bytes.count - target.count) <= limit else { continue }
            let distance = edits(target, bytes)
            guard distance <= limit, distance < bytes.count || bytes.count == 1 else { continue }
            if let nearest = best, (nearest.distance, nearest.name) <= (distance, candidate) { continue }
            best = (candidate, distance)
        }
        return best?.name
    }

    /// Returns the number of insertions, deletions, replacements, and swaps of neighbors that turn one text into the
    /// other.
    package static func edits(_ a: [UInt8], _ b: [UInt8]) -> Int {
        var beforeLast = [Int](repeating: 0, count: b.count + 1)
        var last = Array(0...b.count)
        var current = last
        for i in 0..<a.count {
            current[0] = i + 1
            for j in 0..<b.count {
                let replaced = last[j] + (a[i] == b[j] ? 0 : 1)
                current[j + 1] = min(last[j + 1] + 1, current[j] + 1, replaced)
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
                    current[j + 1] = min(current[j + 1], beforeLast[j - 1] + 1)
                }
            }
            (beforeLast, last, current) = (last, current, beforeLast)
        }
        return last[b.count]
    }
}
