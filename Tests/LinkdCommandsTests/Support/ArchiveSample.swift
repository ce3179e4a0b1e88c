internal import ByteStorage
internal import Foundation
internal import KafkaClient
internal import LinkCoordinator
internal import LinkDecider
internal import LinkIngest
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

/// Configurations and records for tests of the archive.
enum ArchiveSample {
    /// A record of an archive's topic, which is a deletion without a value.
    struct Record {
        var key: [UInt8]
        var value: [UInt8]?
    }

    /// Returns a configuration with its files.
    ///
    /// - Parameters:
    ///   - tables: The texts of the tables.
    ///   - candidate: The text of a candidate that decides for all devices, or nil.
    ///   - vendors: The text of a vendor table, or nil.
    static func draft(
        _ tables: String..., candidate: String? = nil, vendors: String..., limits: Limits = Limits(),
        passthrough: Passthrough = .campaign, contextQuery: [String] = [], devices: DeviceMembers? = nil,
        messageBytes: Int? = nil
    ) throws -> ConfigurationDraft {
        let json = (tables + [candidate].compactMap(\.self)).map { Array($0.utf8) }
        let loaded = try json.map { try RouteTable(json: $0) }
        let set = Array(loaded.prefix(tables.count))
        let rules = try #require(
            LoadedVendors(vendorFiles: vendors.map { Array($0.utf8) }, platformFile: nil))
        let plan = candidate.map { _ in
            CanaryPlan(base: set[0], candidate: loaded[tables.count], percent: 10_000, compare: 100)
        }
        let decider = DeciderConfiguration(
            tables: TableSet(set), candidate: plan, limits: limits, passthrough: passthrough,
            contextQuery: contextQuery, vendors: rules.table)
        return ConfigurationDraft(
            decider, tables: json, vendors: rules, devices: devices, messageBytes: messageBytes)
    }

    /// Returns the records of files.
    static func pieces(_ files: [[UInt8]]) -> [Record] {
        files.flatMap { bytes in
            (0..<ConfigurationArchive.pieceCount(bytes.count)).map { index in
                let start = index * ConfigurationArchive.pieceBytes
                let end = min(bytes.count, start + ConfigurationArchive.pieceBytes)
                return Record(
                    key: ConfigurationArchive.key(SHA256.hex(bytes), .piece(index)), value: Array(bytes[start..<end]))
            }
        }
    }

    /// Returns the records of a configuration that was used at these times.
    static func records(_ draft: ConfigurationDraft, usedAt times: Int64...) -> [Record] {
        let document = draft.configuration.document
        let uses = times.map { ConfigurationUse(first: $0, last: $0) }
        return pieces(draft.files + [document]) + [
            Record(
                key: ConfigurationArchive.key(SHA256.hex(document), .use), value: ConfigurationUse.value(uses))
        ]
    }

    /// Adds records to an archive, at offsets from 0 on.
    static func add(_ records: [Record], to archive: inout ConfigurationArchive) throws {
        for (offset, record) in records.enumerated() {
            let copy = InspectedRecord(
                topic: archive.topic, partition: 0, offset: Int64(offset), timestamp: 0, key: record.key,
                value: record.value, headers: [])
            try copy.withViews { try archive.add($0) }
        }
    }

    // MARK: Topics

    /// The connection to the broker of the tests.
    static var connection: Connection { Connection(bootstrap: [TestBroker.plain ?? ""]) }

    /// Creates the topic of an archive, and waits until it can be read.
    static func create(_ topic: String, settings: [String: String] = [:]) throws {
        let results = try KafkaAdmin(["bootstrap.servers": TestBroker.plain ?? ""]).create(
            topics: [
                TopicSpecification(
                    name: topic, partitions: 1,
                    settings: ["cleanup.policy": "compact"].merging(settings) { $1 })
            ], timeoutMilliseconds: 20_000)
        try #require(results.map(\.error) == [nil])
        let isReadable = becomesTrue(withinSeconds: 30) { (try? ArchiveReader(connection, topic: topic)) != nil }
        try #require(isReadable)
    }

    /// Writes records to a topic.
    static func write(_ records: [Record], to topic: String) throws {
        let producer = try KafkaProducer(["bootstrap.servers": TestBroker.plain ?? "", "enable.idempotence": "true"])
        defer { producer.close() }
        let handle = try producer.topic(topic)
        for record in records {
            try record.key.withUnsafeBufferPointer { key in
                try (record.value ?? []).withUnsafeBufferPointer { value in
                    try producer.produce(
                        handle, partition: 0, key: ByteView(key), value: record.value == nil ? nil : ByteView(value))
                }
            }
        }
        try producer.flush(timeoutMilliseconds: 30_000)
        #expect(producer.deliveries.delivered == records.count)
    }
}
