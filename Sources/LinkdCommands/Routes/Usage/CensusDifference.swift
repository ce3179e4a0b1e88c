internal import LinkCoordinator
internal import RouteAnalysis
internal import RouteTools

/// The devices of a census for which two tables decide differently about the requests of a difference.
struct CensusDifference {
    /// The limit of the requests that are tried.
    private static let maxRequests = 1_000

    /// The number of devices.
    let total: Int
    /// The number of devices whose kinds were merged in the census, which are not among the changed ones.
    let merged: Int
    /// The number of devices for which a request is decided differently.
    private(set) var changed = 0
    /// The numbers of devices by group of the difference.
    private(set) var groups: [Int] = []
    /// A Boolean value that indicates whether all requests were tried.
    private(set) var isWhole = true

    /// Tries the requests of each group on a device of each kind.
    init(_ difference: TableDifference, _ old: RouteTable, _ new: RouteTable, _ census: DeviceCensus) {
        total = census.devices + census.merged
        merged = census.merged
        let devices = census.entries.map { census.kinds.facts(of: $0.kind) }
        var found: [String: [Bool]] = [:]
        var all = devices.map { _ in false }
        func count(_ marks: [Bool]) -> Int { zip(marks, census.entries).reduce(0) { $0 + ($1.0 ? $1.1.count : 0) } }
        for group in difference.groups {
            var own = devices.map { _ in false }
            for change in group.changes {
                let request = change.request
                if found[request.text] == nil {
                    guard found.count < Self.maxRequests else {
                        isWhole = false
                        break
                    }
                    found[request.text] = devices.map { device in
                        Self.rest(old.resolve(request, device: device), of: old)
                            != Self.rest(new.resolve(request, device: device), of: new)
                    }
                }
                for (index, isChanged) in (found[request.text] ?? []).enumerated() where isChanged { own[index] = true }
            }
            groups.append(count(own))
            for (index, isChanged) in own.enumerated() where isChanged { all[index] = true }
        }
        changed = count(all)
    }

    /// Returns a decision without the name of its table.
    private static func rest(_ decision: Decision, of table: RouteTable) -> ArraySlice<UInt8> {
        let start = Array(#"{"table":"\#(table.identity)""#.utf8)
        guard decision.json.starts(with: start) else { return Array(decision.comparable.utf8)[...] }
        return decision.json[start.count...]
    }

    /// Returns a number of devices with the number of all, and its share.
    func text(_ count: Int) -> String {
        let share = total == 0 ? 0 : Int((Double(count) * 10_000 / Double(total)).rounded())
        let percent =
            count > 0 && share == 0 ? "less than 0.01" : "\(share / 100).\(share % 100 < 10 ? "0" : "")\(share % 100)"
        return "\(Counts.grouped(Int64(count))) of \(Counts.grouped(Int64(total))) devices, \(percent) %"
    }
}

/// The changes that end `linkd routes diff` with exit code 1.
enum FailureCondition: Equatable {
    case any, breaking, none
    /// More than this many millionths of the devices of a census.
    case devices(millionths: Int)

    /// Reads the value of `--fail-on`, such as `breaking` or `devices:0.1%`, or returns nil for another text.
    init?(_ text: String) {
        switch text {
        case "any": self = .any
        case "breaking": self = .breaking
        case "none": self = .none
        default:
            let prefix = "devices:"
            guard text.hasPrefix(prefix), text.hasSuffix("%") else { return nil }
            let parts = text.dropFirst(prefix.count).dropLast().split(separator: ".", omittingEmptySubsequences: false)
            guard (1...2).contains(parts.count), parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(\.isWholeNumber) }),
                let whole = Int(parts[0]), whole <= 100, (parts.last?.count ?? 0) <= 4
            else { return nil }
            let fraction = parts.count == 2 ? String(parts[1]) : "0"
            guard let digits = Int(fraction + String(repeating: "0", count: 4 - fraction.count)) else { return nil }
            self = .devices(millionths: whole * 10_000 + digits)
        }
    }

    /// Returns a Boolean value that indicates whether so many devices are too many.
    func isExceeded(by census: CensusDifference) -> Bool {
        guard case .devices(let millionths) = self, census.changed > 0 else { return false }
        return Double(census.changed) * 1_000_000 > Double(millionths) * Double(census.total)
    }
}
