// The consumer's rule for corrections of `linkd recall`.
//
// Reads records from the standard input in their order, as JSON, one a line. It prints the records whose decisions are
// to be applied. A record without a value erases the device or user. A service keeps `last` where it keeps the state of
// its devices, and changes both in one transaction.
//
//     swiftc config/samples/Corrections.swift -parse-as-library -o corrections
//     linkd inspect -b localhost:9092 --json | ./corrections

import Foundation

/// A record of the topic.
struct Record: Decodable {
    var key: String?
    /// The decision, or nil for a null record.
    var value: Decision?

    enum CodingKeys: CodingKey { case key, value }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        key = try members.decodeIfPresent(String.self, forKey: .key)
        value = try members.decodeNil(forKey: .value) ? nil : members.decode(Decision.self, forKey: .value)
    }
}

/// The members of a decision that the rule needs.
struct Decision: Decodable {
    var decision: String
    var supersedes: String?
    var device: String?
    var user: String?
}

/// The id of the last applied decision of each device.
struct LastDecisions {
    /// The ids, by the bytes of the devices' ids: strings are equal if they look the same, devices are not.
    private var last: [[UInt8]: String] = [:]

    /// Returns a Boolean value that indicates whether a decision is to be applied, and remembers it as the last one of
    /// its device.
    ///
    /// A decision without `supersedes` is always applied. A correction is applied only if the decision that it corrects
    /// is the last one of the device.
    mutating func apply(_ decision: Decision) -> Bool {
        let device = Array((decision.device.map { "device " + $0 } ?? "user " + (decision.user ?? "")).utf8)
        if let superseded = decision.supersedes, last[device] != superseded { return false }
        last[device] = decision.decision
        return true
    }

    /// Forgets a device or user, so that a correction of an earlier decision does not bring it back.
    mutating func erase(_ key: String) {
        for kind in ["device ", "user "] { last[Array((kind + key).utf8)] = nil }
    }
}

@main
enum Corrections {
    static func main() {
        var last = LastDecisions()
        let decoder = JSONDecoder()
        while let line = readLine() {
            guard let record = try? decoder.decode(Record.self, from: Data(line.utf8)) else {
                let text = "expected a record with a decision in each line, as `linkd inspect --json` prints them\n"
                FileHandle.standardError.write(Data(text.utf8))
                exit(1)
            }
            if let decision = record.value {
                if last.apply(decision) { print(line) }
            } else {
                last.erase(record.key ?? "")
            }
        }
    }
}
