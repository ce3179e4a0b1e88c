internal import LinkCoordinator
internal import LinkDecider
internal import LinkIngest
internal import StrictJSON

/// The documents of a configuration, whose edits can be made one by one.
struct ConfigurationDocuments {
    /// A document of a configuration.
    enum Name: Hashable, Comparable, Sendable {
        /// The table with an id.
        case table(String)
        /// The candidate for a table.
        case candidate
        /// The vendor table with a number, from 0.
        case vendors(Int)
        case platforms
        /// The settings that decide.
        case settings

        /// The name in messages.
        var text: String {
            switch self {
            case .table(let id): "table \(id)"
            case .candidate: "candidate"
            case .vendors(let index): index == 0 ? "vendors" : "vendors (file \(index + 1))"
            case .platforms: "link platforms"
            case .settings: "settings"
            }
        }
    }

    /// A configuration that uses the documents.
    let loaded: LoadedConfiguration
    private(set) var values: [Name: JSONValue] = [:]

    /// The limit of nested values of a document.
    private static let depth = 512

    /// Reads the documents of a configuration that a reader has loaded.
    init(_ loaded: LoadedConfiguration, _ reader: ArchiveReader) {
        self.loaded = loaded
        let archived = loaded.entry.configuration
        func value(_ file: ArchivedConfiguration.File) -> JSONValue? {
            reader.contents(of: file).flatMap { try? JSONValue.parse($0, maxDepth: Self.depth) }
        }
        for (table, entry) in zip(loaded.decider.tables.tables, archived.tables) {
            values[.table(table.id)] = value(entry.file)?.withoutExamples
        }
        values[.candidate] = (archived.canary?.table.file).flatMap(value)?.withoutExamples
        for (index, file) in archived.vendors.enumerated() { values[.vendors(index)] = value(file) }
        values[.platforms] = archived.platforms.flatMap(value)
        values[.settings] = Self.settings(archived)
    }

    /// Returns the settings that decide what a link opens, as a document.
    private static func settings(_ archived: ArchivedConfiguration) -> JSONValue? {
        let document = try? JSONValue.parse(archived.document)
        var members = ["limits", "passthrough"].compactMap { name in
            document?[name].map { JSONMember(name: name, value: $0) }
        }
        if let percent = document?["canary"]?["percent"] {
            members.append(
                JSONMember(name: "canary", value: JSONValue(.object([JSONMember(name: "percent", value: percent)]))))
        }
        return JSONValue(.object(members))
    }

    /// An edit of a document.
    struct Edit: Sendable, Equatable {
        var document: Name
        var edit: JSONEdit
    }

    /// Returns the edits from these documents to others.
    func edits(to other: ConfigurationDocuments) -> [Edit] {
        names(with: other).flatMap { name in
            JSONEdits.list(values[name], other.values[name]).map { Edit(document: name, edit: $0) }
        }
    }

    private func names(with other: ConfigurationDocuments) -> [Name] {
        Set(values.keys).union(other.values.keys).sorted()
    }

    /// Returns the configuration of a decider with some of the edits to other documents, or nil if it is not valid.
    ///
    /// - Parameters:
    ///   - other: The other documents.
    ///   - chosen: The numbers of the edits in `edits(to:)`.
    func decider(_ other: ConfigurationDocuments, with chosen: Set<Int>) -> DeciderConfiguration? {
        var merged: [Name: JSONValue] = [:]
        var first = 0
        for name in names(with: other) {
            let count = JSONEdits.list(values[name], other.values[name]).count
            let offset = first
            merged[name] = JSONEdits.apply(values[name], other.values[name]) { chosen.contains(offset + $0) }
            first += count
        }
        var tables: [RouteTable] = []
        for case .table(let id) in names(with: other) {
            guard let value = merged[.table(id)] else { continue }
            guard let table = table(value, .table(id), other) else { return nil }
            tables.append(table)
        }
        guard !tables.isEmpty else { return nil }
        let settings = merged[.settings]
        var result = loaded.decider
        result.tables = TableSet(tables)
        result.limits = ArchivedConfiguration.limits(settings?["limits"]) ?? result.limits
        result.passthrough = ArchivedConfiguration.passthrough(settings?["passthrough"]) ?? result.passthrough
        result.candidate = nil
        if let value = merged[.candidate], let candidate = table(value, .candidate, other) {
            guard let base = tables.first(where: { $0.id == candidate.id }) else { return nil }
            let percent = settings?["canary"]?["percent"]?.integer ?? 0
            result.candidate = CanaryPlan(base: base, candidate: candidate, percent: Int(percent), compare: 0)
        }
        guard addRules(merged, other, to: &result) else { return nil }
        return result
    }

    /// Returns a table, which is compiled only if it is not one of the two configurations.
    private func table(_ value: JSONValue, _ name: Name, _ other: ConfigurationDocuments) -> RouteTable? {
        for documents in [self, other] where documents.values[name]?.isEqual(to: value) == true {
            let decider = documents.loaded.decider
            switch name {
            case .table(let id): return decider.tables.tables.first { $0.id == id }
            default: return decider.candidate?.candidate
            }
        }
        return TableLoader(Array(value.text.utf8)).finish().table
    }

    /// Adds the vendors and link platforms, or returns false if they are not valid.
    ///
    /// Their examples are not run, because an edit without the edit of its example is tried too.
    private func addRules(
        _ merged: [Name: JSONValue], _ other: ConfigurationDocuments, to result: inout DeciderConfiguration
    ) -> Bool {
        let names = names(with: other)
        func isOf(_ documents: ConfigurationDocuments, _ filter: (Name) -> Bool) -> Bool {
            names.filter(filter).allSatisfy { name in
                guard let a = merged[name], let b = documents.values[name] else {
                    return merged[name] == nil && documents.values[name] == nil
                }
                return a.isEqual(to: b)
            }
        }
        let isVendors = { (name: Name) in if case .vendors = name { true } else { false } }
        if let same = [self, other].first(where: { isOf($0, isVendors) }) {
            result.vendors = same.loaded.decider.vendors
        } else {
            result.vendors = nil
            for name in names.filter(isVendors) {
                guard let value = merged[name] else { continue }
                let bytes = Array(value.text.utf8)
                guard let table = try? VendorTable(json: bytes),
                    let sum = result.vendors == nil ? table : try? result.vendors?.adding(table, of: bytes)
                else { return false }
                result.vendors = sum
            }
        }
        if let same = [self, other].first(where: { isOf($0) { $0 == .platforms } }) {
            result.platforms = same.loaded.decider.platforms
        } else {
            guard let value = merged[.platforms], let rules = try? LinkPlatforms(file: Array(value.text.utf8)) else {
                return false
            }
            result.platforms = rules
        }
        return true
    }
}

extension JSONValue {
    /// The document of a table without its examples, which need not hold after some of the edits.
    fileprivate var withoutExamples: JSONValue {
        JSONValue(.object((object ?? []).filter { $0.name != "examples" }))
    }
}
