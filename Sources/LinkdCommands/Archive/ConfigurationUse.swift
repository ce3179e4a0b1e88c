internal import ByteStorage
internal import StrictJSON

/// A time during which workers used a configuration.
struct ConfigurationUse: Sendable, Equatable {
    /// The program that used it.
    enum Program: String, Sendable {
        case worker
        /// A recall, which decides with a table that no worker has served.
        case recall
    }

    /// The time at which the use began, in milliseconds since 1970.
    var first: Int64
    /// The last time at which it was known to go on, in milliseconds since 1970.
    var last: Int64
    var program = Program.worker

    /// The limit of uses of one configuration, beyond which the oldest ones become one.
    static let limit = 100
    /// The greatest time, which is in the year 9999.
    private static let maxTime: Int64 = 253_402_300_799_999
    /// The size limit of the record of a configuration's uses, in bytes.
    static let limitBytes = 16 << 10

    /// Returns uses in the order of their beginnings, in which those without another configuration between them are
    /// one.
    ///
    /// A restart of a worker is no new use, and a configuration that came back after another one is.
    ///
    /// - Parameters:
    ///   - uses: The uses of one configuration.
    ///   - others: The times at which uses of other configurations began, in ascending order.
    static func joined(_ uses: [ConfigurationUse], others: [Int64]) -> [ConfigurationUse] {
        var result: [ConfigurationUse] = []
        for use in uses.sorted(by: { ($0.first, $0.last) < ($1.first, $1.last) }) {
            // A recall between them makes a restart of a worker no new use.
            if let index = result.lastIndex(where: { $0.program == use.program }) {
                let before = result[index]
                let next = others.partitioningIndex { $0 > before.first }
                if use.first == before.first || next == others.count || others[next] > use.first {
                    result[index].last = max(before.last, use.last)
                    continue
                }
            }
            result.append(use)
        }
        while result.count > limit {
            result[0].last = max(result[0].last, result[1].last)
            result.remove(at: 1)
        }
        return result
    }

    /// Returns the record of a configuration's uses.
    static func value(_ uses: [ConfigurationUse]) -> [UInt8] {
        Array(
            JSONText.object { json in
                json.objects("uses", of: uses) { json, use in
                    json.number("first", use.first)
                    json.number("last", use.last)
                    json.text("by", use.program.rawValue)
                }
            }.utf8)
    }

    /// Reads the record of a configuration's uses, or returns nil if it is not valid.
    static func read(_ value: ByteView) -> [ConfigurationUse]? {
        guard value.count <= limitBytes, let list = (try? JSONValue.parse(value))?["uses"]?.array,
            (1...limit).contains(list.count)
        else { return nil }
        let uses = list.compactMap { use -> ConfigurationUse? in
            guard let first = use["first"]?.integer, let last = use["last"]?.integer, 0 <= first, first <= last,
                last <= maxTime, let program = use["by"]?.string.flatMap(Program.init)
            else { return nil }
            return ConfigurationUse(first: first, last: last, program: program)
        }
        return uses.count == list.count ? uses : nil
    }
}
