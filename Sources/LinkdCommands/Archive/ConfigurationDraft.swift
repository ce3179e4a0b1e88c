internal import LinkCoordinator
internal import LinkDecider
internal import LinkIngest

/// A configuration with the bytes of its files, before it is stored in an archive.
struct ConfigurationDraft: Sendable {
    var configuration: ArchivedConfiguration
    /// The bytes of the files, in any order.
    var files: [[UInt8]]

    /// Creates a draft.
    ///
    /// - Parameters:
    ///   - decider: The configuration of the worker's deciders, with its tables and its candidate.
    ///   - tables: The bytes of the tables in their order, and of the candidate after them.
    ///   - vendors: The rules for push messages of the configuration.
    ///   - devices: The facts of the registry that are joined, or nil without a registry.
    ///   - messageBytes: `max.message.bytes` of the output, or nil if it is not known.
    init(
        _ decider: DeciderConfiguration, tables: [[UInt8]], vendors: LoadedVendors, devices: DeviceMembers?,
        messageBytes: Int?
    ) {
        let loaded = decider.tables.tables + [decider.candidate?.candidate].compactMap(\.self)
        let entries = zip(loaded, tables).map { table, json in
            ArchivedConfiguration.Table(
                file: ArchivedConfiguration.File(hash: table.hash, bytes: json.count), identity: table.identity)
        }
        let platforms = vendors.platformFile
        configuration = ArchivedConfiguration(
            version: LinkdVersion.text, tables: Array(entries.prefix(decider.tables.tables.count)),
            canary: decider.candidate.flatMap { plan in
                entries.last.map {
                    ArchivedConfiguration.Canary(table: $0, percent: plan.percent, compare: plan.compare)
                }
            },
            vendors: vendors.vendorFiles.map(ArchivedConfiguration.File.init),
            platforms: platforms.map(ArchivedConfiguration.File.init),
            limits: decider.limits, passthrough: decider.passthrough, devices: devices, messageBytes: messageBytes)
        files = tables + vendors.vendorFiles + [platforms].compactMap(\.self)
    }
}

extension ArchivedConfiguration.File {
    /// Describes the bytes of a file.
    init(_ contents: [UInt8]) { self.init(hash: SHA256.hex(contents), bytes: contents.count) }
}
