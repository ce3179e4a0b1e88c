internal import ByteStorage
internal import KafkaClient
internal import LinkCoordinator

/// A writer of an archive's topic.
///
/// Every record is acknowledged by all replicas that are in sync. Several processes can write at the same time: they
/// write the same bytes under the same hashes, and a record of uses that another process has replaced is written again.
struct ArchiveWriter: Sendable {
    private let connection: Connection
    private let topic: String

    /// Creates a writer, which connects when it is used.
    init(_ connection: Connection, topic: String) {
        self.connection = connection
        self.topic = topic
    }

    /// Stores a configuration with its files, and records that it is used from now on.
    ///
    /// Files that are stored already are not written again. A record that is not acknowledged throws a failure.
    ///
    /// - Parameters:
    ///   - draft: The configuration with its files.
    ///   - program: The program that uses it.
    ///   - replaced: The configuration that this process has used until now, or nil.
    ///   - deadline: The time on the monotonic clock at which the attempt ends.
    /// - Returns: The hash of the configuration.
    func store(
        _ draft: ConfigurationDraft, by program: ConfigurationUse.Program,
        insteadOf replaced: ConfigurationDraft? = nil, deadline: Double
    ) throws(CommandFailure) -> String {
        var reader = try ArchiveReader(connection, topic: topic, deadline: deadline)
        let sender = try ArchiveSender(connection, topic: topic, deadline: deadline)
        defer { sender.close() }
        try reader.fetch([draft.configuration])
        let hash = try complete(draft, reader, sender, isRead: true)
        if let replaced, replaced.configuration != draft.configuration { try keepUse(of: replaced, &reader, sender) }
        let now = Platform.nowMilliseconds
        try record(ConfigurationUse(first: now, last: now, program: program), of: hash, &reader, sender)
        // Another process can have removed unused files after they were found, and before they got a use.
        _ = try complete(draft, reader, sender, isRead: false)
        return hash
    }

    /// Records that the last use of a configuration by workers goes on, and stores what was removed of it meanwhile.
    func keepUse(of draft: ConfigurationDraft, deadline: Double) throws(CommandFailure) {
        var reader = try ArchiveReader(connection, topic: topic, deadline: deadline)
        let sender = try ArchiveSender(connection, topic: topic, deadline: deadline)
        defer { sender.close() }
        try keepUse(of: draft, &reader, sender)
    }

    private func keepUse(
        of draft: ConfigurationDraft, _ reader: inout ArchiveReader, _ sender: ArchiveSender
    ) throws(CommandFailure) {
        let hash = try complete(draft, reader, sender, isRead: false)
        let now = Platform.nowMilliseconds
        var use =
            reader.archive.uses(of: hash).last { $0.program == .worker } ?? ConfigurationUse(first: now, last: now)
        use.last = max(use.last, now)
        try record(use, of: hash, &reader, sender)
    }

    /// Stores what is missing of a configuration and its files, and returns its hash.
    ///
    /// - Parameter isRead: A Boolean value that indicates whether the reader has read the files, so that damaged ones
    ///   are missing.
    private func complete(
        _ draft: ConfigurationDraft, _ reader: ArchiveReader, _ sender: ArchiveSender, isRead: Bool
    ) throws(CommandFailure) -> String {
        let document = draft.configuration.document
        let hash = SHA256.hex(document)
        for bytes in draft.files {
            let file = ArchivedConfiguration.File(bytes)
            if reader.archive.places(of: file) == nil || isRead && reader.contents(of: file) == nil {
                try sender.send(bytes, hash: file.hash)
            }
        }
        if reader.archive.documents[hash] == nil { try sender.send(document, hash: hash) }
        // A configuration has uses only if it is complete.
        try sender.flush()
        return hash
    }

    /// The attempts to write the uses of a configuration while other processes write them too.
    private static let tries = 10

    /// Adds a use to the uses of a configuration, and reads them back.
    private func record(
        _ use: ConfigurationUse, of hash: String, _ reader: inout ArchiveReader, _ sender: ArchiveSender
    ) throws(CommandFailure) {
        let key = ConfigurationArchive.key(hash, .use)
        var uses = reader.archive.uses(of: hash) + [use]
        for _ in 0..<Self.tries {
            uses = ConfigurationUse.joined(uses, others: reader.archive.beginnings(except: hash))
            try sender.send(key: key, value: ConfigurationUse.value(uses))
            try sender.flush()
            var seen: [ConfigurationUse] = []
            try reader.update { record in
                guard let found = record.key, found.buffer.elementsEqual(key), let value = record.value else { return }
                seen += ConfigurationUse.read(value) ?? []
            }
            let others = reader.archive.beginnings(except: hash)
            let all = ConfigurationUse.joined(uses + seen, others: others)
            if ConfigurationUse.joined(reader.archive.uses(of: hash), others: others) == all { return }
            uses = all
        }
        throw CommandFailure(
            .unavailable, "the uses of a configuration in \(topic) are replaced all the time",
            advice: "let only workers write to \(topic)")
    }

    /// Stores a configuration whose files are stored, with all its uses.
    func store(
        again entry: ConfigurationArchive.Entry, beside archive: ConfigurationArchive, deadline: Double
    ) throws(CommandFailure) {
        let sender = try ArchiveSender(connection, topic: topic, deadline: deadline)
        defer { sender.close() }
        try sender.send(entry.configuration.document, hash: entry.hash)
        try sender.flush()
        let uses = ConfigurationUse.joined(entry.uses, others: archive.beginnings(except: entry.hash))
        try sender.send(key: ConfigurationArchive.key(entry.hash, .use), value: ConfigurationUse.value(uses))
        try sender.flush()
    }

    /// Stores files.
    func store(files: [[UInt8]], deadline: Double) throws(CommandFailure) {
        let sender = try ArchiveSender(connection, topic: topic, deadline: deadline)
        defer { sender.close() }
        for bytes in files { try sender.send(bytes, hash: SHA256.hex(bytes)) }
        try sender.flush()
    }

    /// Removes records.
    func remove(keys: [[UInt8]], deadline: Double) throws(CommandFailure) {
        let sender = try ArchiveSender(connection, topic: topic, deadline: deadline)
        defer { sender.close() }
        for key in keys { try sender.send(key: key, value: nil) }
        try sender.flush()
    }
}

/// A producer whose records are all acknowledged before `flush` returns.
private struct ArchiveSender {
    private let producer: KafkaProducer
    private let handle: ProducerTopic
    private let topic: String
    private let principal: String
    private let deadline: Double

    init(_ connection: Connection, topic: String, deadline: Double) throws(CommandFailure) {
        let left = Int((deadline - Platform.monotonicSeconds) * 1000)
        let client = try connection.make(
            connection.configuration(
                .producer,
                [
                    "enable.idempotence": "true", "acks": "all", "partitioner": "murmur2_random", "linger.ms": "5",
                    "compression.codec": LibraryInfo.hasLZ4 ? "lz4" : "none",
                    "message.timeout.ms": "\(max(1000, min(left, 300_000)))",
                ])
        ) { config throws(ConfigurationError) in try KafkaProducer(config) }
        (producer, self.topic, self.deadline, principal) = (client, topic, deadline, connection.principal)
        handle = try attempt(
            "writing to \(topic)", needing: AccessRight("Write", on: .topic, topic), as: connection.principal
        ) { () throws(KafkaError) in
            let handle = try client.topic(topic)
            _ = try client.partitionCount(of: handle, timeoutMilliseconds: Int32(max(1, min(left, 10_000))))
            return handle
        }
    }

    func close() { producer.close() }

    /// Sends a file in pieces.
    func send(_ bytes: [UInt8], hash: String) throws(CommandFailure) {
        for index in 0..<ConfigurationArchive.pieceCount(bytes.count) {
            let start = index * ConfigurationArchive.pieceBytes
            let piece = bytes[start..<min(bytes.count, start + ConfigurationArchive.pieceBytes)]
            try send(key: ConfigurationArchive.key(hash, .piece(index)), value: Array(piece))
        }
    }

    /// Sends a record, or removes the one with its key if the value is nil.
    func send(key: [UInt8], value: [UInt8]?) throws(CommandFailure) {
        while true {
            do throws(KafkaError) {
                return try key.withUnsafeBufferPointer { key throws(KafkaError) in
                    try (value ?? []).withUnsafeBufferPointer { bytes throws(KafkaError) in
                        try producer.produce(
                            handle, partition: nil, key: ByteView(key), value: value == nil ? nil : ByteView(bytes))
                    }
                }
            } catch {
                guard error.code == .queueFull, Platform.monotonicSeconds < deadline else { throw failure(error) }
                producer.poll(timeoutMilliseconds: 50)
            }
        }
    }

    /// Waits until every record is acknowledged.
    func flush() throws(CommandFailure) {
        while producer.outstanding > 0 {
            do throws(KafkaError) {
                try producer.flush(timeoutMilliseconds: 200)
            } catch {
                guard error.code == .timedOut, Platform.monotonicSeconds < deadline else { throw failure(error) }
            }
            if let error = producer.fatalError { throw failure(error) }
        }
        let deliveries = producer.deliveries
        guard deliveries.failed == 0, deliveries.purged == 0 else {
            throw failure(deliveries.lastError ?? KafkaError(code: .timedOut))
        }
    }

    private func failure(_ error: KafkaError) -> CommandFailure {
        CommandFailure(
            error, while: "writing to \(topic)", needing: AccessRight("Write", on: .topic, topic), as: principal)
    }
}
