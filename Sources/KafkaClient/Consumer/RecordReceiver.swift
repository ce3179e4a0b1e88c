package import ByteStorage

/// The common part of `KafkaConsumer` and `KafkaReader`: the batch of the last poll, the topics' indices, and events.
///
/// All calls come from one thread.
package class RecordReceiver {
    final let handle: ClientHandle
    private final var batch = MessageBatch()
    private final var topics = TopicNames()
    private final var inbox = ClientInbox()

    init(_ handle: ClientHandle) { self.handle = handle }

    /// Releases the previous batch and receives a new one of at most `max` messages, which `poll` appends.
    ///
    /// Returns the number of records and events.
    final func receive(max limit: Int, _ poll: (inout MessageBatch, Int) -> Void) -> (records: Int, events: Int) {
        batch.release()
        let limit = Swift.max(1, limit)
        batch.reserve(limit)
        poll(&batch, limit)
        batch.read(&topics)
        serve()
        return (batch.records.count, batch.events.count)
    }

    /// The records of the last poll, which are valid until `releaseBatch` or the next poll.
    package final var records: UnsafeBufferPointer<ConsumedRecord> { batch.records }

    /// The events of the last poll.
    package final var events: [ConsumerEvent] { batch.events }

    /// Returns the batch's messages to librdkafka and invalidates all views into them.
    package final func releaseBatch() { batch.release() }

    /// Appends the headers of the record with this `index` as views that are valid as long as the batch.
    package final func headerViews(of index: Int32, into views: inout [HeaderView]) {
        batch.headers(of: index, into: &views)
    }

    /// Returns a Boolean value that indicates whether a broker has set the timestamp of the record with this `index`.
    ///
    /// It sets the timestamps of a topic with `message.timestamp.type=LogAppendTime`.
    package final func hasBrokerTimestamp(_ index: Int32) -> Bool { batch.hasBrokerTimestamp(index) }

    /// Returns a copy of the headers of the record with this `index`, in order and including repeated names.
    package final func headers(of index: Int32) -> [RecordHeader] {
        var views: [HeaderView] = []
        batch.headers(of: index, into: &views)
        return views.map(\.copied)
    }

    /// Returns the name of the topic with this index.
    package final func topicName(at index: Int32) -> String { topics.name(at: index) }

    /// Returns the bytes of the name of the topic with this index, which are valid as long as this object.
    package final func topicNameBytes(at index: Int32) -> ByteView { topics.bytes(at: index) }

    /// Returns the index of a topic, which never changes.
    package final func topicIndex(of name: String) -> Int32 { name.withCString { topics.index(ofName: $0) } }

    /// The number of topics with an index.
    package final var topicCount: Int { topics.count }

    /// Returns and removes the log lines, statistics, and errors that have arrived, oldest first.
    package final func takeEvents() -> [ClientEvent] {
        serve()
        return inbox.takeEvents()
    }

    final func serve() {
        guard handle.isOpen else { return }
        handle.serveMain(timeoutMilliseconds: 0, into: &inbox)
        handle.drainLog(into: &inbox)
    }
}
