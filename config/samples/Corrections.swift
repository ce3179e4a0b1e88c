// The consumer's rule for corrections of `linkd recall`.
//
// Reads decisions from the standard input, one JSON object a line in the order of their records, and prints those to
// apply. A service keeps `last` where it keeps the state of its devices, and changes both in one transaction.
//
//     swiftc config/samples/Corrections.swift -parse-as-library -o corrections
//     linkd inspect -b localhost:9092 -f '%s\n' | ./corrections

import Foundation

/// The members of a decision that the rule needs.
struct Decision: Decodable {
    var decision: String
    var supersedes: String?
    var device: String?
    var user: String?
}

/// The id of the last applied decision of each device.
struct LastDecisions {
    private var last: [String: String] = [:]

    /// Returns a Boolean value that indicates whether a decision is to be applied, and remembers it as the last one of
    /// its device.
    ///
    /// A decision without `supersedes` is always applied. A correction is applied only if the decision that it corrects
    /// is the last one of the device.
    mutating func apply(_ decision: Decision) -> Bool {
        let device = decision.device.map { "device " + $0 } ?? "user " + (decision.user ?? "")
        if let superseded = decision.supersedes, last[device] != superseded { return false }
        last[device] = decision.decision
        return true
    }
}

@main
enum Corrections {
    static func main() throws {
        var last = LastDecisions()
        let decoder = JSONDecoder()
        while let line = readLine() {
            if last.apply(try decoder.decode(Decision.self, from: Data(line.utf8))) { print(line) }
        }
    }
}
