import Foundation
import LinkCoordinator
import StrictJSON
import TableSupport
import TestSupport
import Testing

/// Compares an article's own code with its table over generated links.
///
/// The app of an article receives a `URL`. The table receives its `absoluteString`, which an app would pass on. A text
/// that is not a URL for Foundation never reaches an app and is not compared.
struct ParityRun<Input, Answer: Equatable> {
    /// The name of the parity table.
    let name: String
    let seed: UInt64
    /// Returns the generated input, or nil for a text that is not a URL.
    let input: (inout SeededGenerator) -> Input?
    /// Returns the link for the table.
    let link: (Input) -> String
    /// Returns the result of the article's code.
    let article: (Input) -> Answer
    /// Returns the result of the table's decision.
    let table: (Decision, Input) -> Answer
    /// Returns the reason for leaving the input out, as in the documentation of the parity tables, or nil.
    let exclusionReason: (Input) -> String?
    /// Returns the kind of a result, for counting.
    let kind: (Answer) -> String

    /// Compares links, prints the counts, and returns the number of each kind.
    ///
    /// A case is a link.
    func run(limit: Int = LawCases.count) throws -> [String: Int] {
        let parity = try RouteTable(json: TableFiles.parity(name))
        var generator = SeededGenerator(seed: seed)
        var kinds: [String: Int] = [:]
        var excluded: [String: Int] = [:]
        var (count, different) = (0, 0)
        while count < limit {
            guard let input = input(&generator) else {
                excluded["not a URL", default: 0] += 1
                continue
            }
            if let reason = exclusionReason(input) {
                excluded[reason, default: 0] += 1
                continue
            }
            count += 1
            let expected = article(input)
            let decision = parity.resolve(link(input))
            kinds[kind(expected), default: 0] += 1
            let given = table(decision, input)
            if given == expected { continue }
            different += 1
            if different <= 5 {
                let json = String(decoding: decision.json, as: UTF8.self)
                Issue.record("\(link(input)): the article gives \(expected), the table \(given)\n\(json)")
            }
        }
        report(count, kinds, excluded)
        return kinds
    }

    private func report(_ count: Int, _ kinds: [String: Int], _ excluded: [String: Int]) {
        func list(_ counts: [String: Int]) -> String {
            counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        }
        print("parity \(name): seed \(seed), \(count) compared: \(list(kinds)); left out: \(list(excluded))")
    }
}

/// A screen of a stack.
struct ParityScreen: Equatable, Sendable {
    var coordinator: String
    var screen: String

    init(_ coordinator: String, _ screen: String) {
        self.coordinator = coordinator
        self.screen = screen
    }

    init(_ entry: StackEntry) { self.init(entry.coordinator, entry.screen) }
}

extension Decision {
    /// Returns a field of the last entry's data as text, or nil if it is null or absent.
    func field(_ model: String, _ field: String) -> String? {
        let entry = value["stack"]?.array?.last
        guard let value = entry?["data"]?[model]?[field], !value.isNull else { return nil }
        return value.string ?? value.text
    }
}

/// The differences between tables and Foundation that no setting of a table removes.
enum ParityLimits {
    /// Returns a reason for leaving out a link that applies to every article, or nil.
    static func exclusionReason(_ url: URL) -> String? {
        let text = url.absoluteString
        let body = text.prefix { $0 != "#" }
        let head = body.prefix { $0 != "?" }
        if head.split(separator: "/").contains(where: isDots) { return "a dot segment" }
        if hasUnreadable(String(body)) { return "escapes of control characters or of bytes that are not UTF-8" }
        return nil
    }

    private static func isDots(_ segment: Substring) -> Bool {
        let plain = segment.lowercased().replacing("%2e", with: ".")
        return plain == "." || plain == ".."
    }

    /// Returns a Boolean value that indicates whether a part decodes to a control character or to bytes that are not
    /// text.
    private static func hasUnreadable(_ text: String) -> Bool {
        let parts = text.split { "/?&=,".contains($0) }
        return parts.contains { part in
            guard let decoded = String(part).removingPercentEncoding else { return true }
            return decoded.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }
        }
    }
}
