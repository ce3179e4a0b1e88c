internal import DecisionIndex
internal import KafkaClient
internal import SystemThreads

extension DecisionFeed {
    /// Returns the rows of a page, each read at its offset unless it was read lately.
    ///
    /// A record that no longer exists becomes a row with what the index has. So does every record that was not read
    /// lately while the broker does not answer.
    func rows(_ rows: [DecisionIndex.Row], _ site: (topics: FeedTopics, epoch: Int)) -> [FeedRow] {
        var found: [RowCache.Place: FeedRow] = [:]
        var keys: [RowCache.Place: RowKey] = [:]
        var missing: [TopicPartition: [Int64]] = [:]
        let topics = site.topics
        cache.withLock { cache in
            cache.enter(epoch: site.epoch)
            for row in rows {
                if let known = cache.row(row.key) {
                    found[RowCache.Place(row.key)] = known
                } else if let partition = topics.partition(row.key.source) {
                    missing[partition, default: []].append(row.key.offset)
                    keys[RowCache.Place(row.key)] = row.key
                }
            }
        }
        if !missing.isEmpty, !state.withLock({ $0.status.isBroken }) {
            var tape = DecisionTape()
            // The reader of the topics reports what is wrong with the broker.
            try? records.read(missing) { record in
                let partition = TopicPartition(topic: record.topic, partition: record.partition)
                guard let source = topics.source(partition) else { return }
                tape.begin(record.value)
                var facts = RowFacts(record, &tape, source, now: Platform.nowMilliseconds)
                let place = RowCache.Place(facts.key)
                guard let key = keys[place] else { return }
                // The index can have another time for a record whose own time is in the future.
                facts.key = key
                let row = FeedRow(record, &tape, facts, mask)
                found[place] = row
                cache.withLock { $0.insert(row) }
            }
        }
        return rows.map { row in
            found[RowCache.Place(row.key)] ?? FeedRow(row, topic: topics.partition(row.key.source)?.topic ?? "")
        }
    }
}
