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
        for (index, file) in archived.vendors.enumerated() {
            values[.vendors(index)] = value(file)?.withoutExamples(of: "vendors")
        }
        values[.platforms] = archived.platforms.flatMap(value)?.withoutExamples(of: "platforms")
        values[.settings] = Self.settings(archived)
    }

    /// Returns the settings that decide what a link opens, as a document.
    private static func settings(_ archived: ArchivedConfiguration) -> JSONValue? {
        let document = try? JSONValue.parse(archived.document)
        var members = ["limits", "passthrough", "context_query"].compactMap { name in
            document?[name].map { JSONMember(name: name, value: $0) }
        }
        if let percent = document?["canary"]?["percent"] {
            members.append(
                JSONMember(name: "canary", value: JSONValue(.object([JSONMember(name: "percent", value: percent)]))))
        }
        return JSONValue(.object(members))
    }
}

/// The documents of two configurations, and configurations between them.
struct ConfigurationEdits {
    private typealias Name = ConfigurationDocuments.Name

    /// An edit of a document.
    struct Edit: Sendable, Equatable {
        var document: ConfigurationDocuments.Name
        var edit: JSONEdit
    }

    private let old: ConfigurationDocuments
    private let new: ConfigurationDocuments
    /// The documents that differ, each with the number of its first edit.
    private let changed: [(name: Name, first: Int)]
    private let names: [Name]
    /// The edits from the old documents to the new ones.
    let list: [Edit]

    init(from old: ConfigurationDocuments, to new: ConfigurationDocuments) {
        (self.old, self.new) = (old, new)
        names = Set(old.values.keys).union(new.values.keys).sorted()
        var list: [Edit] = []
        var changed: [(name: Name, first: Int)] = []
        for name in names {
            let edits = JSONEdits.list(old.values[name], new.values[name])
            if !edits.isEmpty { changed.append((name, list.count)) }
            list += edits.map { Edit(document: name, edit: $0) }
        }
        (self.list, self.changed) = (list, changed)
    }

    /// Returns the configuration of a decider with some of the edits, or nil if it is not valid.
    ///
    /// - Parameter chosen: The numbers of the edits in `list`.
    func decider(with chosen: Set<Int>) -> DeciderConfiguration? {
        var merged = old.values
        for (name, first) in changed {
            merged[name] = JSONEdits.apply(old.values[name], new.values[name]) { chosen.contains(first + $0) }
        }
        var tables: [RouteTable] = []
        for case .table(let id) in names {
            guard let value = merged[.table(id)] else { continue }
            guard let table = table(value, .table(id)) else { return nil }
            tables.append(table)
        }
        guard !tables.isEmpty else { return nil }
        let settings = merged[.settings]
        var result = old.loaded.decider
        result.tables = TableSet(tables)
        result.limits = ArchivedConfiguration.limits(settings?["limits"]) ?? result.limits
        result.passthrough = ArchivedConfiguration.passthrough(settings?["passthrough"]) ?? result.passthrough
        result.contextQuery = ArchivedConfiguration.contextQuery(settings?["context_query"]) ?? []
        result.candidate = nil
        if let value = merged[.candidate], let candidate = table(value, .candidate) {
            guard let base = tables.first(where: { $0.id == candidate.id }) else { return nil }
            let percent = settings?["canary"]?["percent"]?.integer ?? 0
            result.candidate = CanaryPlan(base: base, candidate: candidate, percent: Int(percent), compare: 0)
        }
        return addRules(merged, to: &result) ? result : nil
    }

    /// Returns a Boolean value that indicates whether a document equals the document of a configuration.
    private func isEqual(_ value: JSONValue?, _ name: Name, of documents: ConfigurationDocuments) -> Bool {
        guard let value, let other = documents.values[name] else {
            return value == nil && documents.values[name] == nil
        }
        return value.isEqual(to: other)
    }

    /// Returns a table, which is compiled only if it is not one of the two configurations.
    private func table(_ value: JSONValue, _ name: Name) -> RouteTable? {
        for documents in [old, new] where isEqual(value, name, of: documents) {
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
    private func addRules(_ merged: [Name: JSONValue], to result: inout DeciderConfiguration) -> Bool {
        let vendors = names.filter { if case .vendors = $0 { true } else { false } }
        func owner(_ names: [Name]) -> DeciderConfiguration? {
            [old, new].first { documents in names.allSatisfy { isEqual(merged[$0], $0, of: documents) } }?.loaded
                .decider
        }
        if let same = owner(vendors) {
            result.vendors = same.vendors
        } else {
            result.vendors = nil
            for value in vendors.compactMap({ merged[$0] }) {
                let bytes = Array(value.text.utf8)
                guard let table = try? VendorTable(json: bytes),
                    let sum = result.vendors == nil ? table : try? result.vendors?.adding(table, of: bytes)
                else { return false }
                result.vendors = sum
            }
        }
        if let same = owner([.platforms]) {
            result.platforms = same.platforms
        } else {
            let rules = merged[.platforms].flatMap { try? LinkPlatforms(file: Array($0.text.utf8)) }
            guard let rules else { return false }
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

    /// The document of rules with no example in its rows.
    fileprivate func withoutExamples(of rows: String) -> JSONValue {
        func replaced(_ value: JSONValue, _ name: String, _ body: (JSONValue) -> JSONValue) -> JSONValue {
            JSONValue(
                .object(
                    (value.object ?? []).map {
                        JSONMember(name: $0.name, value: $0.name == name ? body($0.value) : $0.value)
                    }))
        }
        return replaced(self, rows) { rows in
            JSONValue(
                .array((rows.array ?? []).map { row in replaced(row, "examples") { _ in JSONValue(.array([])) } }))
        }
    }
}
