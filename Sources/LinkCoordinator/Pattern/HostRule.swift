/// Which hosts a rule of a table takes (route-table.md, N3).
///
/// Hosts are in lower case.
package enum HostRule: Sendable, Hashable {
    /// `*`: every host, the empty one included.
    case any

    /// `""`: an empty authority, or none.
    case empty

    /// A host by name, on one port or, where that is nil, on any.
    case exact(host: [UInt8], port: UInt16?)

    /// `*.example.com`: hosts with one label or more before the suffix, which is kept without `*.`.
    case suffix([UInt8])
}

extension HostRule {
    /// How the table writes the rule.
    package var text: String {
        switch self {
        case .any: "*"
        case .empty: ""
        case .exact(let host, let port):
            String(decoding: host, as: UTF8.self) + (port.map { ":\($0)" } ?? "")
        case .suffix(let suffix): "*." + String(decoding: suffix, as: UTF8.self)
        }
    }

    /// Whether a link's host and port fall under the rule.
    ///
    /// - Parameters:
    ///   - host: In lower case, without a trailing dot; empty for an empty authority or none.
    ///   - port: The port, after http's 80 and https's 443 were taken for none.
    package func takes(host: [UInt8], port: UInt16?) -> Bool {
        switch self {
        case .any: return true
        case .empty: return host.isEmpty
        case .exact(let own, let ownPort):
            return own == host && (ownPort == nil || ownPort == port)
        case .suffix(let suffix):
            let labels = host.count - suffix.count - 1
            return labels > 0 && host[labels] == UInt8(ascii: ".") && host[(labels + 1)...].elementsEqual(suffix)
        }
    }

    /// A Boolean value that indicates whether some host falls under both rules.
    package func meets(_ other: HostRule) -> Bool {
        switch (self, other) {
        case (.any, _), (_, .any): true
        case (.exact(let host, let port), _): other.takes(host: host, port: port)
        case (_, .exact(let host, let port)): takes(host: host, port: port)
        case (.empty, .empty): true
        case (.suffix(let a), .suffix(let b)):
            a == b || a.reversed().starts(with: (b.reversed() + [UInt8(ascii: ".")]))
                || b.reversed().starts(with: (a.reversed() + [UInt8(ascii: ".")]))
        default: false
        }
    }
}

extension HostRule {
    /// Where the rule stands in step 2 of the order: exact with port, exact, suffix, any.
    private var rank: Int {
        switch self {
        case .exact(_, .some): 0
        case .exact(_, nil), .empty: 1
        case .suffix: 2
        case .any: 3
        }
    }

    /// Negative if the first rule is better, positive if the second is, 0 if they are the same rule.
    ///
    /// Rules of one rank are disjoint unless both are suffixes, of which the longer is better; the bytes then only
    /// make the order total.
    package static func compare(_ a: HostRule, _ b: HostRule) -> Int {
        if a.rank != b.rank { return a.rank - b.rank }
        switch (a, b) {
        case (.suffix(let x), .suffix(let y)):
            return x.count != y.count ? y.count - x.count : compareBytes(x, y)
        case (.exact(let x, let xPort), .exact(let y, let yPort)):
            let hosts = compareBytes(x, y)
            return hosts != 0 ? hosts : Int(xPort ?? 0) - Int(yPort ?? 0)
        case (.exact, .empty): return 1
        case (.empty, .exact): return -1
        default: return 0
        }
    }
}
