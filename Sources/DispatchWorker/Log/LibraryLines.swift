/// The lines of librdkafka that the log has had in the last 5 minutes, over all lanes and clients.
///
/// A line that differs only in numbers and in quoted names is the same line.
package struct LibraryLines: Sendable {
    /// The time after which the same line is logged again, in nanoseconds.
    package static let interval: UInt64 = 300_000_000_000
    /// The maximum number of different lines.
    ///
    /// Further lines count as one.
    package static let capacity = 256
    /// The length of a text that is compared, in UTF-8 bytes.
    private static let textLimit = 512

    private struct Known {
        var loggedAt: UInt64
        var count = 0
    }

    private var lines: [String: Known] = [:]

    /// Creates a filter without history.
    package init() {}

    /// Returns the number of lines that a line stands for, or nil if it is not logged.
    ///
    /// The number includes the same lines that were not logged before it.
    ///
    /// - Parameters:
    ///   - facility: The part of the library that logs, or the name of an error.
    ///   - text: The text.
    ///   - now: The time, in nanoseconds of the monotonic clock.
    package mutating func admit(facility: String, text: String, now: UInt64) -> Int? {
        var key = Self.key(facility, text)
        if lines[key] == nil, lines.count >= Self.capacity {
            lines = lines.filter { now.saturatingSubtract($0.value.loggedAt) < Self.interval }
            if lines.count >= Self.capacity { key = "" }
        }
        guard var known = lines[key] else {
            lines[key] = Known(loggedAt: now)
            return 1
        }
        defer { lines[key] = known }
        known.count += 1
        guard now.saturatingSubtract(known.loggedAt) >= Self.interval else { return nil }
        let count = known.count
        known = Known(loggedAt: now)
        return count
    }

    /// Returns the parts of a line that are the same in all lines of its kind: without digits and quoted texts.
    private static func key(_ facility: String, _ text: String) -> String {
        var result = Array((facility + " ").utf8)
        var rest = Array(text.utf8.prefix(textLimit))[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): continue
            case UInt8(ascii: "'"), UInt8(ascii: "\""):
                // An apostrophe has no other end.
                guard let end = rest.firstIndex(of: byte) else { continue }
                rest = rest[(end + 1)...]
            default: result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
