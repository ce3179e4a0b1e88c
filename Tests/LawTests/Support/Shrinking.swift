/// A list of parts of a case that can be removed.
struct RemovableParts<Case> {
    let count: (Case) -> Int
    let remove: (inout Case, Range<Int>) -> Void
}

extension RemovableParts {
    /// Creates a list of the elements of an array.
    init<Part>(_ list: WritableKeyPath<Case, [Part]>) {
        count = { $0[keyPath: list].count }
        remove = { $0[keyPath: list].removeSubrange($1) }
    }

    /// Creates a list of at most one part.
    init(_ isPresent: @escaping (Case) -> Bool, _ remove: @escaping (inout Case) -> Void) {
        count = { isPresent($0) ? 1 : 0 }
        self.remove = { remaining, _ in remove(&remaining) }
    }

    /// Creates a list of the parts of a member of the case.
    init<Member>(_ member: WritableKeyPath<Case, Member>, _ parts: RemovableParts<Member>) {
        count = { parts.count($0[keyPath: member]) }
        remove = { parts.remove(&$0[keyPath: member], $1) }
    }
}

/// A case of a law that consists of parts.
protocol Shrinkable {
    /// The parts that can be removed, those that matter most first.
    static var parts: [RemovableParts<Self>] { get }
}

extension Array: Shrinkable {
    static var parts: [RemovableParts<Self>] { [RemovableParts(\.self)] }
}

/// A counterexample without the parts that it does not need.
struct Counterexample<Case> {
    var smallest: Case
    /// The number of smaller cases that were tried.
    var tries = 0
    /// The number of parts that were removed.
    var removed = 0
}

/// Removes parts of a counterexample as long as the rest is a counterexample.
///
/// Long runs of parts are removed first, then shorter ones, until no single part can be removed.
///
/// - Parameters:
///   - failing: A case for which the law does not hold.
///   - maxTries: The maximum number of smaller cases to try.
///   - fails: Returns a Boolean value that indicates whether a case is a counterexample.
func shrunk<Case: Shrinkable>(
    _ failing: Case, maxTries: Int = 1_000, fails: (Case) -> Bool
) -> Counterexample<Case> {
    var found = Counterexample(smallest: failing)
    var before = -1
    while found.removed != before {
        before = found.removed
        for list in Case.parts {
            var length = list.count(found.smallest)
            while length > 0 {
                var start = 0
                while start < list.count(found.smallest) {
                    if found.tries == maxTries { return found }
                    let run = start..<min(start + length, list.count(found.smallest))
                    var smaller = found.smallest
                    list.remove(&smaller, run)
                    found.tries += 1
                    if fails(smaller) {
                        found.smallest = smaller
                        found.removed += run.count
                    } else {
                        start += length
                    }
                }
                length /= 2
            }
        }
    }
    return found
}
