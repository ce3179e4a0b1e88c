internal import Foundation
internal import LinkdFuzz

/// `LinkdBenchmarks adversarial`: records that teach and betray, through long-lived processors and fresh ones.
enum AdversarialRecords {
    static func run(_ options: BenchmarkOptions) throws -> Int32 {
        let worlds = try World.all()
        var run = AdversarialRun(worlds: worlds, seed: options.seed)
        var differences = 0
        let clock = ContinuousClock()
        let start = clock.now
        var told = start
        while run.compared < options.records {
            for difference in run.next() {
                differences += 1
                if differences <= 5 { tell(difference) }
            }
            if clock.now - told > .seconds(30) {
                told = clock.now
                FileHandle.standardError.write(Data("\(run.compared) records, \(differences) differences\n".utf8))
            }
        }
        let seconds = Double((clock.now - start).components.seconds) + 0.5
        if options.json {
            print(
                "{\"records\":\(run.compared),\"differences\":\(differences),\"seed\":\(options.seed),"
                    + "\"seconds\":\(Int(seconds))}")
        } else {
            print("\(run.compared) records, \(differences) differences, seed \(options.seed), \(Int(seconds)) s")
            let counts = run.outcomes.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            print("what became of them: " + counts.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
        }
        return differences == 0 ? 0 : 1
    }

    private static func tell(_ difference: AdversarialRun.Difference) {
        print("DIFFERENCE in round \(difference.round), world \(difference.world), sent \(difference.pass):")
        print(difference.record.text.prefix(1_000))
        if let input = difference.input {
            print(
                "as a line for Corpus/sequences.finds.txt of LinkdFuzzTests:\n\(CorpusFile.line(input).prefix(8_000))"
            )
        } else {
            print("the round alone does not show it: the rounds before it with the same seed do")
        }
    }
}
