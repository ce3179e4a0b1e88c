import LinkdFuzz
import Testing

/// The inputs of `config/run fuzz`, run once each: the corpus, earlier findings, and inputs generated from samples and
/// tables.
@Suite("The inputs of the searches have no findings")
struct CorpusTests {
    static let environments = try? FuzzEnvironment.all()

    @Test("Every input in the corpus passes", arguments: FuzzTarget.allCases)
    func corpusInputs(target: FuzzTarget) throws {
        let runner = FuzzRunner(environments: try #require(Self.environments))
        for input in try Seeds.corpusInputs(of: target) {
            #expect(runner.run(target, input) == nil, "\(CorpusFile.line(input))")
        }
    }

    @Test("Every input generated from samples and tables passes", arguments: FuzzTarget.allCases)
    func generatedInputs(target: FuzzTarget) throws {
        let environments = try #require(Self.environments)
        let runner = FuzzRunner(environments: environments)
        let inputs = try Seeds.generatedInputs(of: target, environments: environments)
        #expect(inputs.count > 8)
        for input in inputs { #expect(runner.run(target, input) == nil, "\(CorpusFile.line(input))") }
    }

    @Test("Mutated inputs pass", arguments: FuzzTarget.allCases)
    func changed(target: FuzzTarget) throws {
        let environments = try #require(Self.environments)
        let runner = FuzzRunner(environments: environments)
        let mutator = Mutator(target, environments: environments)
        let seed: UInt64 = 10
        var random = RandomSource(seed: seed)
        let inputs = try Seeds.generatedInputs(of: target, environments: environments).filter { $0.count < 3_000 }
        for round in 0..<(target == .tables ? 30 : 200) {
            var input = random.pick(inputs)
            mutator.change(&input, &random)
            // Large records and long sequences take too long for a test.
            let isLarge = input.count > 4_000 || input.contains(UInt8(ascii: "@")) || input.starts(with: [0x41])
            let hasGroups = target == .statistics && input.contains(UInt8(ascii: "<"))
            if isLarge || hasGroups || (target == .events && input.first.map { $0 < 0x61 } == true) { continue }
            #expect(runner.run(target, input) == nil, "seed \(seed), round \(round): \(CorpusFile.line(input))")
        }
    }

    @Test("Long-lived processors yield the same results as fresh ones")
    func adversarial() throws {
        let seed: UInt64 = 3
        var run = AdversarialRun(environments: try #require(Self.environments), seed: seed, recordsPerRound: 250)
        for _ in 0..<8 {
            for difference in run.next() {
                let input = difference.input.map(CorpusFile.line) ?? "only after other rounds"
                Issue.record("seed \(seed), round \(difference.round), \(difference.pass): \(input)")
            }
        }
        #expect(run.compared == 8 * 5 * 250)
        // The comparison is meaningful only if all kinds of results occur.
        for outcome in ["navigate", "external", "deferred", "reject", "bad_json"] {
            #expect(run.outcomes[outcome, default: 0] > 0, "\(outcome)")
        }
    }
}

@Suite("Recipes and corpus files are read and written")
struct RecipeTests {
    @Test(
        "A recipe expands its groups",
        arguments: [
            (#"{<<3,:"a#":0>>}"#, #"{"a0":0,"a1":0,"a2":0}"#), ("<<2:ab>>", "abab"), ("<<0:ab>>c", "c"),
            ("<<2,:[<<2,:#>>]>>", "[0,1],[0,1]"), ("<<2:<<1:#>>>>", "01"), ("<<x", "<<x"), ("<<2:a", "<<2:a"),
            ("<<>>", "<<>>"), ("a#<<1:#>>", "a##"),
        ])
    func recipe(text: String, expanded: String) {
        #expect(String(decoding: Recipe.expand(text.utf8, limit: 1_000), as: UTF8.self) == expanded)
    }

    @Test("A recipe stops at its limit", arguments: ["<<900000:ab>>", "<<900:<<900:ab>>>>"])
    func limit(text: String) { #expect(Recipe.expand(text.utf8, limit: 100).count <= 102) }

    @Test(
        "A line of a corpus file is read as written",
        arguments: [[0x23, 0x0A, 0x5C, 0x09], [0xFF, 0xC3, 0xA9, 0x00], [0xC3, 0xA9, 0x20]])
    func lines(input: [UInt8]) {
        let line = CorpusFile.line(input)
        #expect(CorpusFile.inputs(of: "# a comment\n\(line)\n") == [input])
    }
}
