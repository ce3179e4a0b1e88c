package import ByteStorage

/// The versions of one request that a broker supports.
package struct RequestVersions: Sendable, Equatable {
    /// The oldest version.
    package var min: Int32
    /// The newest version.
    package var max: Int32
}

/// The events that interrupted the fetches of a consumer.
///
/// A topic can be deleted and created again in between.
package struct FetchInterruptions: Sendable, Equatable {
    /// A Boolean value that indicates whether a connection to a broker was lost, or an answer to a fetch was late.
    package var isConnectionLost = false
    /// The partitions whose leader refused a fetch, such as for an unknown topic.
    package var refused: Set<TopicPartition> = []
}

/// A parser of librdkafka's debug lines, for information that has no other source.
///
/// It works on bytes and creates no strings.
///
/// `debug=eos` logs when the connection to the transaction coordinator is lost. `debug=feature` logs the supported
/// versions of each request at every new connection. `debug=broker,topic,protocol` logs lost connections, refused
/// fetches, and the time of each answer.
package struct DebugLogWatch: Sendable {
    /// The number of times that the connection to the transaction coordinator was lost.
    ///
    /// The count may be one too high before `initTransactions` returns. Compare it with its value when a transaction
    /// began.
    package private(set) var coordinatorDrops = 0
    private var coordinatorIsUp: Bool?
    private var interruptions = FetchInterruptions()
    /// The time in milliseconds after which the answer to a fetch is late.
    package var maxFetchMilliseconds: Int32 = .max
    /// The versions that *every* broker seen so far supports, by request key (18 is ApiVersions).
    package private(set) var requestVersions: [Int32: RequestVersions] = [:]

    /// Parses one line.
    package mutating func read(facility: ByteView, text: ByteView) {
        if facility.equals("COORD") {
            readCoordinator(text)
        } else if facility.equals("APIVERSION") {
            readVersions(text)
        } else if facility.equals("STATE") {
            // `… Broker changed state UP -> DOWN`. Other changes to `DOWN` are connections that were not established.
            if contains(text, "changed state UP -> DOWN") || contains(text, "changed state UPDATE -> DOWN") {
                interruptions.isConnectionLost = true
            }
        } else if facility.equals("BROKERUA") {
            readRefusedFetch(text)
        } else if facility.equals("RECV") {
            readAnswer(text)
        }
    }

    /// Parses `… Received FetchResponse (v11, 98 bytes, CorrId 12, rtt 101.33ms)`.
    ///
    /// A network that is away for a while delays an answer and closes no connection. A large answer on a slow network
    /// has more time: a millisecond for each kilobyte.
    private mutating func readAnswer(_ text: ByteView) {
        guard maxFetchMilliseconds < .max, let start = index(of: "FetchResponse (v", in: text, from: 0),
            let size = index(of: ", ", in: text, from: start), let time = index(of: ", rtt ", in: text, from: size)
        else { return }
        var sizePosition = size + 2
        var timePosition = time + 6
        // If the size has more digits than are read, the answer is huge.
        guard let bytes = number(text, &sizePosition), let rtt = number(text, &timePosition) else { return }
        let isHuge = sizePosition < text.count && text[sizePosition] != UInt8(ascii: " ")
        if Int(rtt) > Int(maxFetchMilliseconds) + (isHuge ? 60_000 : Int(bytes) / 1_000) {
            interruptions.isConnectionLost = true
        }
    }

    /// Returns and removes the interruptions of fetches.
    package mutating func takeInterruptions() -> FetchInterruptions {
        if !interruptions.isConnectionLost && interruptions.refused.isEmpty { return interruptions }
        defer { interruptions = FetchInterruptions() }
        return interruptions
    }

    /// Parses `[thrd:…]: topic [partition]: broker unavailable: fetch: …`.
    private mutating func readRefusedFetch(_ text: ByteView) {
        guard let end = index(of: "]: broker unavailable", in: text, from: 0) else { return }
        let start = index(of: "]: ", in: text, from: 0).map { $0 < end ? $0 + 3 : 0 } ?? 0
        guard let open = index(of: " [", in: text, from: start), open < end else { return }
        var position = open + 2
        guard let partition = number(text, &position), position == end else { return }
        interruptions.refused.insert(TopicPartition(topic: text.slice(start, open).string, partition: partition))
    }

    /// Parses `… Transaction coordinator is now down`, or `up`.
    ///
    /// librdkafka writes a line after every change, with the state at the time of writing. After a short interruption,
    /// both lines may therefore contain `up`, so a second `up` in a row counts as a drop.
    private mutating func readCoordinator(_ text: ByteView) {
        if contains(text, "coordinator is now down") {
            if coordinatorIsUp != nil { coordinatorDrops += 1 }
            if coordinatorIsUp == true { coordinatorIsUp = false }
        } else if contains(text, "coordinator is now up") {
            if coordinatorIsUp == true { coordinatorDrops += 1 }
            coordinatorIsUp = true
        }
    }

    /// Parses `… ApiKey TxnOffsetCommit (28) Versions 0..5`.
    private mutating func readVersions(_ text: ByteView) {
        guard let start = index(of: "ApiKey ", in: text, from: 0),
            let open = text.dropFirst(start).firstIndex(of: UInt8(ascii: "("))
        else { return }
        var position = start + open + 1
        guard let key = number(text, &position), skip(") Versions ", text, &position),
            let low = number(text, &position),
            skip("..", text, &position), let high = number(text, &position)
        else { return }
        if let known = requestVersions[key] {
            requestVersions[key] = RequestVersions(min: max(known.min, low), max: min(known.max, high))
        } else {
            requestVersions[key] = RequestVersions(min: low, max: high)
        }
    }

    private func number(_ text: ByteView, _ position: inout Int) -> Int32? {
        var value: Int32 = 0
        var digits = 0
        while position < text.count, digits < 6, case let digit = text[position] &- UInt8(ascii: "0"), digit < 10 {
            value = value * 10 + Int32(digit)
            digits += 1
            position += 1
        }
        return digits == 0 ? nil : value
    }

    private func skip(_ literal: StaticString, _ text: ByteView, _ position: inout Int) -> Bool {
        guard text.dropFirst(position).hasPrefix(ByteView(literal)) else { return false }
        position += literal.utf8CodeUnitCount
        return true
    }

    private func contains(_ text: ByteView, _ literal: StaticString) -> Bool {
        index(of: literal, in: text, from: 0) != nil
    }

    private func index(of literal: StaticString, in text: ByteView, from: Int) -> Int? {
        let bytes = ByteView(literal)
        var position = from
        while position + bytes.count <= text.count {
            if text.slice(position, position + bytes.count) == bytes { return position }
            position += 1
        }
        return nil
    }
}
