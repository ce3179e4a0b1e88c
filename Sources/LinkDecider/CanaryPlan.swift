internal import ByteStorage
package import LinkCoordinator

/// A candidate for a served table, and the shares of devices for which it decides and is compared.
///
/// A hash of the device's id and the table's id decides to which share a device belongs. All workers therefore agree
/// without any state, and a device stays in its share while the percentage grows.
package struct CanaryPlan: Sendable {
    /// The part of a canary for a device.
    package enum Part: Sendable {
        /// The served table decides.
        case served
        /// The served table decides, and its decision is compared with the candidate's.
        case compared
        /// The candidate decides.
        case candidate
    }

    /// The number of buckets, which is 100 percent.
    package static let bucketCount = 10_000

    /// The served table with the candidate's id.
    package let base: RouteTable
    package let candidate: RouteTable
    /// The share of devices for which the candidate decides, in hundredths of a percent.
    package let percent: Int
    /// The share of the other devices that are compared, in hundredths of a percent.
    package let compare: Int

    /// The beginning of the hashed text: the table's id and a zero byte.
    private let prefix: [UInt8]

    /// Creates a plan.
    ///
    /// Both tables must have the same id.
    package init(base: RouteTable, candidate: RouteTable, percent: Int, compare: Int) {
        self.base = base
        self.candidate = candidate
        self.percent = percent
        self.compare = compare
        prefix = Self.prefix(ofTable: candidate.id)
    }

    /// Returns the part of the canary for a device.
    func part(of device: ByteView, using hash: inout SHA256) -> Part {
        if percent >= Self.bucketCount { return .candidate }
        if percent == 0 && compare == 0 { return .served }
        let buckets = Self.buckets(of: device, prefix: prefix, using: &hash)
        if buckets.decision < percent { return .candidate }
        return buckets.comparison < compare ? .compared : .served
    }

    /// Returns the buckets of a device, from 0 to 9,999: one for the decision, and one for the comparison.
    ///
    /// They are the first and the second eight bytes of the SHA-256 of the table's id, a zero byte, and the device's
    /// id.
    package static func buckets(of device: [UInt8], table: String) -> (decision: Int, comparison: Int) {
        var hash = SHA256()
        return device.withUnsafeBufferPointer {
            buckets(of: ByteView($0), prefix: prefix(ofTable: table), using: &hash)
        }
    }

    private static func prefix(ofTable id: String) -> [UInt8] { Array(id.utf8) + [0] }

    private static func buckets(
        of device: ByteView, prefix: [UInt8], using hash: inout SHA256
    ) -> (decision: Int, comparison: Int) {
        prefix.withUnsafeBufferPointer { hash.add(ByteView($0)) }
        hash.add(device)
        let words = hash.finish()
        func bucket(_ high: UInt32, _ low: UInt32) -> Int {
            Int((UInt64(high) << 32 | UInt64(low)) % UInt64(bucketCount))
        }
        return (bucket(words[0], words[1]), bucket(words[2], words[3]))
    }
}
