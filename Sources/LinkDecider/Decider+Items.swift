internal import ByteStorage
internal import LinkIngest

// Records with several messages.
extension Decider {
    /// Decides about each item of a record that the reader has refused as a list, or returns the cause of the refusal.
    ///
    /// An item is decided like a record of its own with the key, the headers, and the timestamp of its record. An item
    /// without decisions does not affect the others. The limits of a record hold for all items together, so that a
    /// list causes no more output than any other record: a list beyond them becomes a dead letter as a whole.
    @inline(never)
    mutating func decideItems(
        _ value: ByteView, key: ByteView?, headers: [HeaderView], timestamp: Int64, into arena: inout OutputArena,
        body: (ProducedDecision) -> Void
    ) -> DeadLetterCause? {
        guard let batch = reader.batch(of: value, key: key, headers: headers) else {
            return DeadLetterCause(reader.failure, value: value)
        }
        arena.recordLimit = limits.decisionBytes
        candidate?.clearCounts()
        defer {
            arena.recordLimit = .max
            source.set(item: nil)
        }
        // The dead letter of an item has the bytes and the headers of the record.
        let deadLetterBytes = headers.reduce(value.count) { $0 + $1.name.count + ($1.value?.count ?? 0) }
        let headers = RecordBatch.headers(headers)
        var decisions: [ProducedDecision] = []
        var refused: [DeadLetterCause] = []
        var devices = 0
        var bytes = 0
        for (item, place) in batch.items.enumerated() where onlyItem ?? item == item {
            let text = value.slice(place.lowerBound, place.upperBound)
            let (count, candidateCounts) = (decisions.count, candidate?.counts)
            source.set(item: item)
            let isRead = reader.readInPlace(value: text, key: key, headers: headers)
            devices += isRead ? reader.eventPointer.pointee.deviceCount : 0
            let cause =
                isRead
                ? decideDevices(text, timestamp: timestamp, into: &arena) { decision in
                    decisions.append(decision)
                }.map { DeadLetterCause($0, item: item) }
                : DeadLetterCause(reader.failure, value: text, item: item)
            bytes += decisions[count...].reduce(0) { $0 + $1.value.count }
            if let cause {
                refused.append(cause)
                decisions.removeSubrange(count...)
                if let candidateCounts { candidate?.counts = candidateCounts }
                bytes += deadLetterBytes
            }
            if devices > limits.devices || bytes > limits.outputBytes {
                candidate?.clearCounts()
                return devices > limits.devices ? tooManyDevices : oversizeItems
            }
        }
        for decision in decisions { body(decision) }
        return DeadLetterCause(refused)
    }

    private var tooManyDevices: DeadLetterCause {
        DeadLetterCause(
            reason: .tooManyDevices,
            detail: "expected at most \(limits.devices) devices in all items together (limits.devices)")
    }

    private var oversizeItems: DeadLetterCause {
        DeadLetterCause(
            reason: .oversizeOutput,
            detail: "the decisions and the dead letters of the items exceed the limit of \(limits.outputBytes) bytes "
                + "together (limits.output.bytes)")
    }
}
