internal import Foundation
internal import LinkdFuzz

/// The benchmark `adversarial`, which compares long-lived processors with fresh ones.
///
/// Some of the records deviate from the form that their producer uses.
enum AdversarialRecords {
    static func run(_ options: BenchmarkOptions) throws -> Int32 {
        let environments = try FuzzEnvironment.all()
        var run = AdversarialRun(environments: environments, seed: options.seed)
        var differences = 0
        let clock = ContinuousClock()
        let start = clock.now
        var reported = start
        while run.compared < options.records {
            for difference in run.next() {
                differences += 1
                if differences <= 5 { report(difference) }
            }
            if clock.now - reported > .seconds(30) {
                reported = clock.now
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
            print("outcomes: " + counts.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
        }
        return differences == 0 ? 0 : 1
    }

    private static func report(_ difference: AdversarialRun.Difference) {
        print(
            "DIFFERENCE in round \(difference.round), environment \(difference.environment), pass \(difference.pass):")
        print(difference.record.text.prefix(1_000))
        if let input = difference.input {
            print(
                "line for Corpus/sequences.finds.txt of LinkdFuzzTests:\n\(CorpusFile.line(input).prefix(8_000))"
            )
        } else {
            print("this round alone does not reproduce the difference: run all rounds with the same seed")
        }
    }
}
