internal import Foundation
internal import StrictJSON
internal import TestSupport
internal import Testing

/// The consumer's rule for corrections, in both sample programs.
@Suite struct CorrectionTests {
    private static let samples = Checkout.root.appending(path: "config/samples")

    /// A decision as a consumer sees it.
    private struct Decision {
        var id: String
        var superseded: String?
        var device: String
        /// A null record erases the device.
        var isNull = false

        /// The record, as `linkd inspect --json` prints it.
        var line: String {
            let name = JSONValue(.string(device)).text
            let decision =
                #"{"decision":"\#(id)""# + (superseded.map { #","supersedes":"\#($0)""# } ?? "")
                + #","event":"e","\#(device.hasPrefix("u") ? "user" : "device")":\#(name),"outcome":"none"}"#
            return #"{"topic":"out","key":\#(name),"value":\#(isNull ? "null" : decision)}"#
        }
    }

    /// Returns the positions of the decisions that a consumer applies, by the definition: a correction counts if the
    /// decision before it that was applied for its device is the one that it corrects, and no null record is between.
    private static func applied(_ decisions: [Decision]) -> [Int] {
        var result: [Int] = []
        for (index, decision) in decisions.enumerated() {
            let last = result.last { decisions[$0].device.utf8.elementsEqual(decision.device.utf8) }
            if decision.isNull || decision.superseded == nil || decision.superseded == last.map({ decisions[$0].id }) {
                result.append(index)
            }
        }
        return result.filter { !decisions[$0].isNull }
    }

    /// Returns a topic with decisions, corrections that come at once, late, twice, or for another device.
    ///
    /// The ids of devices have line ends, tabs, and two that only look the same.
    private static func decisions(_ random: inout SeededGenerator) -> [Decision] {
        var all: [Decision] = []
        for offset in 0..<300 {
            let device = random.pick(["d1", "caf\u{E9}", "cafe\u{301}", "u1", "a\tb", "x\nd1\t", "y\u{2028}d1"])
            let former = all.randomElement(using: &random)
            if Int.random(in: 0..<12, using: &random) == 0 {
                all.append(Decision(id: "", superseded: nil, device: device, isNull: true))
            } else if let former, !former.isNull, Int.random(in: 0..<2, using: &random) == 0 {
                let parts = former.id.split(separator: "~")
                let number = (parts.count == 2 ? Int(parts[1]) ?? 0 : 0) + 1
                let isOwn = Int.random(in: 0..<8, using: &random) > 0
                all.append(
                    Decision(
                        id: "\(parts[0])~\(number)", superseded: former.id, device: isOwn ? former.device : device))
            } else {
                all.append(Decision(id: "in-0-\(offset)-0", superseded: nil, device: device))
            }
        }
        return all
    }

    @Test("The programs in Swift and in Python apply a correction only if it corrects the last decision of its device")
    func rule() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let scratch = try TemporaryFolder()
        let folder = scratch.url
        let program = scratch.path("corrections")
        let built = try ChildProcess.run(
            ["swiftc", Self.samples.appending(path: "Corrections.swift").path, "-parse-as-library", "-o", program],
            in: folder, seconds: 120)
        try #require(built.status == 0, "\(built.output)\(built.errors)")
        var ignored = 0
        for _ in 0..<10 {
            let decisions = Self.decisions(&random)
            let expected = Self.applied(decisions).map { decisions[$0].line }
            ignored += decisions.count - expected.count
            let input = decisions.map { $0.line + "\n" }.joined()
            for command in [[program], ["python3", Self.samples.appending(path: "corrections.py").path]] {
                let result = try ChildProcess.run(command, in: folder, input: input, seconds: 60)
                #expect(result.status == 0, "seed \(seed): \(result.errors)")
                let lines = result.output.split(separator: "\n").map(String.init)
                #expect(lines == expected, "seed \(seed), \(command[0])")
            }
        }
        #expect(ignored > 100, "seed \(seed)")
        // A line without a value is no erasure.
        for command in [[program], ["python3", Self.samples.appending(path: "corrections.py").path]] {
            for line in ["{}", #"{"key":"d1"}"#, #"{"key":"d1","value":"text"}"#, #"{"key":"d1","value":{}}"#, "d1\t"] {
                let result = try ChildProcess.run(command, in: folder, input: line + "\n", seconds: 60)
                #expect(result.status == 1 && result.errors.contains("expected a record with a decision"), "\(line)")
            }
        }
    }
}
