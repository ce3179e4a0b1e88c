internal import LinkCoordinator
internal import LinkDecider
internal import LinkIngest
internal import StrictJSON

/// A configuration that decides, as a document of the archive.
///
/// Files are named by their SHA-256, so that configurations share those that do not differ.
struct ArchivedConfiguration: Sendable, Equatable {
    /// A file of the archive.
    struct File: Sendable, Hashable {
        /// The SHA-256 of the bytes, in lowercase hexadecimal digits.
        var hash: String
        /// The size in bytes.
        var bytes: Int
    }

    /// A route table.
    struct Table: Sendable, Equatable {
        var file: File
        /// The identity in decisions: `id@version+hash`.
        var identity: String
    }

    /// A candidate for one of the tables.
    struct Canary: Sendable, Equatable {
        var table: Table
        /// The share of devices for which the candidate decides, in hundredths of a percent.
        var percent: Int
        /// The share of the other devices that are compared, in hundredths of a percent.
        var compare: Int
    }

    /// The version of linkd.
    var version: String
    /// The tables, in the order of the set.
    var tables: [Table]
    var canary: Canary?
    /// The vendor tables, in the order in which they are added to each other.
    var vendors: [File]
    /// The rules of link platforms, or nil for none.
    var platforms: File?
    var limits: Limits
    var passthrough: Passthrough
    /// The names of query items that are copied, which documents of older versions do not have.
    var contextQuery: [String] = []
    /// The facts of the registry that are joined, or nil without a registry.
    var devices: DeviceMembers?
    /// The smallest `max.message.bytes` of the outputs, or nil if it is not known.
    var messageBytes: Int?

    /// The size limit of a document, in bytes.
    static let limitBytes = 128 << 10
    /// The first bytes of a document in this format, and the first bytes of a document in any format.
    static let (start, startOfAll) = (Array(#"{"configuration":1,"#.utf8), Array(#"{"configuration":"#.utf8))

    /// The files, each once.
    var files: [File] {
        var seen: Set<File> = []
        let all =
            tables.map(\.file) + [canary?.table.file].compactMap(\.self) + vendors + [platforms].compactMap(\.self)
        return all.filter { seen.insert($0).inserted }
    }

    /// The identities of the tables that can decide, the candidate last.
    var identities: [String] { tables.map(\.identity) + [canary?.table.identity].compactMap(\.self) }

    // MARK: Documents

    /// The document, whose SHA-256 names the configuration.
    ///
    /// Equal configurations have equal documents.
    var document: [UInt8] {
        Array(
            JSONText.object { json in
                json.number("configuration", 1)
                json.text("linkd", version)
                json.objects("tables", of: tables, Self.write)
                json.object("canary", of: canary) { json, canary in
                    Self.write(&json, canary.table)
                    json.number("percent", Int64(canary.percent))
                    json.number("compare", Int64(canary.compare))
                }
                json.objects("vendors", of: vendors, Self.write)
                json.object("platforms", of: platforms, Self.write)
                json.object("limits") { json in
                    for (name, path) in Self.limitMembers { json.number(name, Int64(limits[keyPath: path])) }
                }
                if passthrough == .campaign {
                    json.text("passthrough", "campaign")
                } else {
                    json.texts("passthrough", passthrough.names)
                }
                if !contextQuery.isEmpty { json.texts("context_query", contextQuery) }
                json.text("devices", devices?.text)
                json.number("max_message_bytes", messageBytes.map { Int64($0) })
            }.utf8)
    }

    private static var limitMembers: [(name: String, path: WritableKeyPath<Limits, Int>)] {
        [
            ("record_bytes", \.recordBytes), ("json_depth", \.depth), ("devices", \.devices),
            ("decision_bytes", \.decisionBytes), ("output_bytes", \.outputBytes),
        ]
    }

    private static func write(_ json: inout JSONText, _ table: Table) {
        json.text("identity", table.identity)
        write(&json, table.file)
    }

    private static func write(_ json: inout JSONText, _ file: File) {
        json.text("hash", file.hash)
        json.number("bytes", Int64(file.bytes))
    }
}

extension ArchivedConfiguration {
    /// Reads a document, or returns nil if it is not valid or is of a format that this version does not know.
    ///
    /// Every value is in the bounds of its setting, because whoever can write to the topic can write any document.
    init?(document: [UInt8]) {
        guard document.count <= Self.limitBytes, document.starts(with: Self.start),
            let json = try? JSONValue.parse(document), let version = json["linkd"]?.string,
            let tables = Self.list(json["tables"], limit: TableFiles.limit * 2, Self.table), !tables.isEmpty,
            let vendors = Self.list(json["vendors"], limit: Self.maxVendors, Self.vendors),
            let limits = Self.limits(json["limits"]), let passthrough = Self.passthrough(json["passthrough"])
        else { return nil }
        self.version = version
        (self.tables, self.vendors, self.limits, self.passthrough) = (tables, vendors, limits, passthrough)
        if let value = json["canary"], !value.isNull {
            guard let table = Self.table(value), let percent = Self.share(value["percent"]),
                let compare = Self.share(value["compare"])
            else { return nil }
            canary = Canary(table: table, percent: percent, compare: compare)
        }
        if let value = json["platforms"], !value.isNull {
            guard let file = Self.vendors(value) else { return nil }
            platforms = file
        }
        if let value = json["context_query"] {
            guard let names = Self.contextQuery(value) else { return nil }
            contextQuery = names
        }
        if let value = json["devices"], !value.isNull {
            guard let text = value.string, let members = DeviceMembers(text.split(separator: ",").map(String.init))
            else { return nil }
            devices = members
        }
        if let value = json["max_message_bytes"], !value.isNull {
            guard let bytes = value.integer, (0...Int64(Int32.max)).contains(bytes) else { return nil }
            messageBytes = Int(bytes)
        }
    }

    /// The limit of vendor tables: the shipped one, and the 16 that the setting can name.
    private static let maxVendors = 17

    private static func list<Element>(
        _ value: JSONValue?, limit: Int, _ read: (JSONValue) -> Element?
    ) -> [Element]? {
        guard let array = value?.array, array.count <= limit else { return nil }
        let elements = array.compactMap(read)
        return elements.count == array.count ? elements : nil
    }

    private static func table(_ value: JSONValue) -> Table? {
        guard let file = file(value, limit: CheckedTable.limitBytes), let identity = value["identity"]?.string,
            identity.hasSuffix("+" + file.hash.prefix(8))
        else { return nil }
        return Table(file: file, identity: identity)
    }

    private static func vendors(_ value: JSONValue) -> File? { file(value, limit: CheckedVendors.limitBytes) }

    private static func file(_ value: JSONValue, limit: Int) -> File? {
        guard let hash = value["hash"]?.string, TableArchive.isHash(hash), let bytes = value["bytes"]?.integer,
            (0...Int64(limit)).contains(bytes)
        else { return nil }
        return File(hash: hash, bytes: Int(bytes))
    }

    private static func share(_ value: JSONValue?) -> Int? {
        guard let share = value?.integer, (0...10_000).contains(share) else { return nil }
        return Int(share)
    }

    /// Reads the limits of a document, or returns nil if one is missing or not in its bounds.
    static func limits(_ value: JSONValue?) -> Limits? {
        var limits = Limits()
        for (name, path) in limitMembers {
            guard let bound = Limits.bounds(name), let number = value?[name]?.integer, bound.contains(number) else {
                return nil
            }
            limits[keyPath: path] = Int(number)
        }
        return limits
    }

    /// Reads the members that are passed through, or returns nil if they are not valid.
    static func passthrough(_ value: JSONValue?) -> Passthrough? {
        if value?.string == "campaign" { return .campaign }
        return list(value, limit: 16) { $0.string }.map { Passthrough($0) }
    }

    /// Reads the names of query items that are copied, or returns nil if they are not valid.
    static func contextQuery(_ value: JSONValue?) -> [String]? {
        list(value, limit: QueryNames.most) { $0.string.flatMap { 1...64 ~= $0.utf8.count ? $0 : nil } }
    }
}

extension Limits {
    /// Returns the bounds of a limit's setting by its name in documents of the archive.
    fileprivate static func bounds(_ name: String) -> ClosedRange<Int64>? {
        switch SettingsTable.row("limits." + name.replacing("_", with: "."))?.type {
        case .integer(let bounds), .size(let bounds): bounds
        default: nil
        }
    }
}

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
    ///   - messageBytes: The smallest `max.message.bytes` of the outputs, or nil if it is not known.
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
            limits: decider.limits, passthrough: decider.passthrough, contextQuery: decider.contextQuery,
            devices: devices, messageBytes: messageBytes)
        files = tables + vendors.vendorFiles + [platforms].compactMap(\.self)
    }
}

extension ArchivedConfiguration.File {
    /// Describes the bytes of a file.
    init(_ contents: [UInt8]) { self.init(hash: SHA256.hex(contents), bytes: contents.count) }
}
