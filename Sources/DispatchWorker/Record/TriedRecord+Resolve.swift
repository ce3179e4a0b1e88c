internal import KafkaClient
internal import LinkIngest
internal import ByteStorage

extension TriedRecord {
    /// Resolves the record as a lane does, and discards the decisions.
    package func resolve(with processor: inout RecordProcessor) {
        var input = OutputArena(chunkBytes: 1 << 20)
        func view(_ bytes: [UInt8]) -> ByteView {
            input.begin()
            input.append(bytes)
            return input.finish()
        }
        let topic = view(Array(mark.topic.utf8))
        let views = headers.map { HeaderView(name: view($0.name), value: $0.value.map(view)) }
        let record = ConsumedRecord(
            topic: 0, partition: mark.partition, offset: mark.offset, timestamp: timestamp, key: key.map(view),
            value: value.map(view), index: 0, hasHeaders: !headers.isEmpty)
        #if DEBUG
        TestCrash.crash(at: topic, record)
        #endif
        var envelope = EnvelopeHeaders()
        if envelope.add(views) != nil { return }
        var outputs = OutputArena(chunkBytes: 1 << 20)
        var decisions: [ProducedDecision] = []
        if envelope.isEmpty {
            _ = processor.process(record, topicName: topic, into: &outputs, decisions: &decisions)
        } else {
            _ = processor.process(
                record, headers: envelope, topicName: topic, into: &outputs, decisions: &decisions)
        }
    }
}
