package import ByteStorage

/// The header `traceparent` of W3C Trace Context: the version, the trace id, the parent id, and the flags.
package struct TraceParent: Sendable, Equatable {
    /// The length of version 00 in bytes, and of the part of later versions that is read.
    private static let length = 55

    /// The trace id: 32 lowercase hexadecimal digits that are not all zero.
    package let traceID: String
    /// A Boolean value that indicates whether the sender has recorded the trace.
    package let isSampled: Bool

    /// Reads a header, or returns nil if it is not valid.
    ///
    /// A later version may have more after another hyphen.
    package init?(_ value: ByteView) {
        let hyphen = UInt8(ascii: "-")
        guard value.count >= Self.length, value[2] == hyphen, value[35] == hyphen, value[52] == hyphen,
            let version = Self.digits(value, 0..<2), version != 0xff, let trace = Self.digits(value, 3..<35),
            trace != 0, let parent = Self.digits(value, 36..<52), parent != 0,
            let flags = Self.digits(value, 53..<55)
        else { return nil }
        guard value.count == Self.length || (version > 0 && value[Self.length] == hyphen) else { return nil }
        traceID = value.slice(3, 35).string
        isSampled = flags & 1 == 1
    }

    /// Returns the value of lowercase hexadecimal digits, in which the bits of more than 16 digits overlap, or nil.
    private static func digits(_ value: ByteView, _ range: Range<Int>) -> UInt64? {
        var result: UInt64 = 0
        for index in range {
            let byte = value[index]
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            default: return nil
            }
            // A rotation keeps the bits of more than 16 digits, so that only zeros yield zero.
            result = (result << 4 | result >> 60) | UInt64(digit)
        }
        return result
    }
}

/// The times of a record with a sampled trace, in milliseconds since 1970.
package struct TraceSample: Sendable, Equatable {
    package var traceID: String
    /// The record's topic.
    package var topic: String
    /// The record's partition.
    package var partition: Int32
    /// The record's offset.
    package var offset: Int64
    /// The time at which the batch was fetched.
    package var received: Int64
    /// The time at which the record was resolved, or nil before.
    package var resolved: Int64?
    /// The time at which the client library had the outputs, or nil before.
    package var produced: Int64?
}

/// The samples of a transaction.
package struct TraceSamples: Sendable {
    /// The maximum number of samples of one transaction.
    package static let limit = 16

    /// The samples, in the order of the records.
    package private(set) var samples: [TraceSample] = []
    /// The number of further records with sampled traces.
    package private(set) var more = 0

    /// A Boolean value that indicates whether the list is empty.
    package var isEmpty: Bool { samples.isEmpty }

    /// Adds a sample, or counts it if the list is full.
    package mutating func add(_ sample: TraceSample) {
        if samples.count < Self.limit { samples.append(sample) } else { more += 1 }
    }

    /// Sets the time at which the outputs of the records so far were produced.
    package mutating func produced(at milliseconds: Int64) {
        for index in samples.indices where samples[index].produced == nil { samples[index].produced = milliseconds }
    }

    /// Removes all samples.
    package mutating func removeAll() {
        samples.removeAll(keepingCapacity: true)
        more = 0
    }
}
