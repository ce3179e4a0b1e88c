// The consumer's rule for corrections of `linkd recall`.
//
// Reads records from the standard input in their order, one a line: the key, a tab, and the decision as JSON, or
// nothing for a null record, which erases the device or user. It prints the decisions to apply. A service keeps `last`
// where it keeps the state of its devices, and changes both in one transaction.
//
//     swiftc config/samples/Corrections.swift -parse-as-library -o corrections
//     linkd inspect -b localhost:9092 -f '%k\t%s\n' | ./corrections

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

    /// Forgets a device or user, so that a correction of an earlier decision does not bring it back.
    mutating func erase(_ key: String) {
        last["device " + key] = nil
        last["user " + key] = nil
    }
}

@main
enum Corrections {
    static func main() throws {
        var last = LastDecisions()
        let decoder = JSONDecoder()
        while let line = readLine() {
            let parts = line.split(separator: "\t", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else {
                FileHandle.standardError.write(Data("expected a key, a tab, and a decision in each line\n".utf8))
                exit(1)
            }
            if parts[1].isEmpty {
                last.erase(String(parts[0]))
            } else if last.apply(try decoder.decode(Decision.self, from: Data(parts[1].utf8))) {
                print(parts[1])
            }
        }
    }
}
