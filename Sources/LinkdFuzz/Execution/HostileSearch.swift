/// A search for records that are more expensive than the known ones.
///
/// It mutates the most expensive records.
package struct HostileSearch {
    private let environments: [FuzzEnvironment]
    private var random: RandomSource
    /// The most expensive records found so far, in descending order.
    package private(set) var worst: [(record: HostileRecord, cost: RecordCost)] = []
    /// The number of measured records.
    package private(set) var measured = 0

    private static let maxCount = 40

    /// Creates a search that starts with measured records.
    package init(
        environments: [FuzzEnvironment], seed: UInt64, from records: [(record: HostileRecord, cost: RecordCost)]
    ) {
        self.environments = environments
        random = RandomSource(seed: seed)
        worst = records
        sort()
    }

    /// Mutates one of the most expensive records, and keeps the result if it is more expensive than the last one.
    package mutating func step() {
        // More expensive records are selected more often.
        guard !worst.isEmpty else { return }
        let parent = worst[min(random.below(worst.count), random.below(worst.count))]
        let record = changed(parent.record)
        let environment = FuzzEnvironment.named(record.letter, of: environments)
        var cost = RecordCost.measure(record, environment, runs: 1)
        measured += 1
        guard cost.share > (worst.last?.cost.share ?? 0) else { return }
        // Measures again, because other processes can affect the first measurement.
        cost = RecordCost.measure(record, environment, runs: 2)
        guard worst.count < Self.maxCount || cost.share > (worst.last?.cost.share ?? 0) else { return }
        worst.append((HostileRecord(name: "found from: " + Self.root(parent.record.name), input: record.input), cost))
        sort()
    }

    private static func root(_ name: String) -> String {
        name.hasPrefix("found from: ") ? String(name.dropFirst("found from: ".count)) : name
    }

    private mutating func changed(_ record: HostileRecord) -> HostileRecord {
        var letter = record.letter
        if random.one(in: 8) { letter = FuzzEnvironment.name(of: random.below(environments.count)) }
        let mutation = JSONMutation(FuzzEnvironment.named(letter, of: environments).words, hasGroups: true)
        var recipe = record.recipe
        for _ in 0...random.below(3) { mutation.change(&recipe, &random) }
        return record.with(recipe: recipe, letter: letter)
    }

    /// Sorts the records by cost.
    ///
    /// Keeps only a few records of each origin, so that others are mutated too.
    private mutating func sort() {
        worst.sort { $0.cost.share > $1.cost.share }
        var counts: [String: Int] = [:]
        worst = worst.filter {
            counts[Self.root($0.record.name), default: 0] += 1
            return counts[Self.root($0.record.name), default: 0] <= 4
        }
        if worst.count > Self.maxCount { worst.removeLast(worst.count - Self.maxCount) }
    }
}
