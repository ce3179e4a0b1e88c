internal import StrictJSON

/// A table that was read, with its problems and the parts that could not be read completely.
package struct TableReading: Sendable {
    /// The parts of the table that could be read, or nil if the file is not a JSON object.
    package var source: TableSource?

    /// The problems of the table.
    package var problems: ProblemList

    /// The parts of the table that could not be read completely.
    package var damage: TableDamage

    /// The schema version that the table declares, and the parts for which it matters.
    package var schema: TableSchema
}

extension TableSource {
    /// Reads a table file: syntax, keys, types, and small texts.
    ///
    /// `TableChecks` finds all other problems. A table that declares a newer schema version than is supported has no
    /// source.
    package static func read(_ file: [UInt8], versions: SchemaVersions = .current) -> TableReading {
        var reader = TableReader(file: file, versions: versions)
        let source = reader.table()
        reader.schema.check(versions, into: &reader.problems)
        return TableReading(
            source: reader.isNewer ? nil : source, problems: reader.problems, damage: reader.damage,
            schema: reader.schema)
    }
}

extension TableReader {
    /// Reads the whole file.
    mutating func table() -> TableSource? {
        guard file.count <= TableSource.maxFileBytes else {
            problems.error(
                .tooLarge, at: 0,
                "the file is larger than \(TableSource.maxFileBytes >> 20) MiB, the limit of a table file")
            return nil
        }
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue.parse(file, maxDepth: TableSource.maxFileDepth)
        } catch {
            if error.code == .duplicateName {
                problems.error(.duplicate, at: error.offset - 1, error.text, suggestion: "remove one of the two")
            } else {
                let advice = JSONAdvice(error, in: file)
                problems.error(.json, at: advice.offset, advice.message, suggestion: advice.suggestion)
            }
            return nil
        }
        if let version = value["schemaVersion"] { schemaVersion(version) }
        guard let all = object(value, "the table file", .file) else { return nil }
        if let schema = all["$schema"] { _ = text(schema, "$schema") }
        var source = head(all["table"])
        source.schemaVersion = schema.declared ?? versions.newest
        if let vars = all["vars"] { readVars(vars, &source) }
        if let link = all["link"] { damage.link = hasErrors { $0.link(link, &source) } }
        if let models = all["models"] { damage.models = hasErrors { source.models = $0.models(models) } }
        if let value = all["capabilities"] {
            damage.capabilities = hasErrors { source.capabilities = $0.capabilities(value) }
        }
        if let value = all["coordinators"] {
            damage.coordinators = hasErrors { source.coordinators = $0.coordinators(value) }
        }
        replacesVars = true
        if let guards = all["guards"] { damage.guards = hasErrors { source.guards = $0.guards(guards) } }
        source.externals.hosts = Self.defaultExternals(source.blocks)
        if let value = all["externals"] { damage.externals = hasErrors { $0.externals(value, &source.externals) } }
        if let routes = all["routes"] { source.routes = self.routes(routes, models: source.models) }
        source.fallback = all["fallback"].map { self.fallback($0) } ?? []
        replacesVars = false
        for index in source.vars.indices {
            source.vars[index].isUsed = usedVars.contains(source.vars[index].name.value)
        }
        if let examples = all["examples"] { source.examples = self.examples(examples) }
        return source
    }

    /// Reads a part and returns a Boolean value that indicates whether it has problems.
    private mutating func hasErrors(in part: (inout TableReader) -> Void) -> Bool {
        let before = problems.count
        part(&self)
        return problems.count > before
    }

    /// Reads `table`.
    private mutating func head(_ value: JSONValue?) -> TableSource {
        var source = TableSource(id: Located("", at: 0), version: Located("", at: 0))
        guard let value, let members = object(value, "table", .table) else { return source }
        if let id = members["id"].flatMap({ text($0, "table.id") }) {
            name(id.value, at: id.offset, "a table", .identifier)
            source.id = id
        }
        if let version = members["version"].flatMap({ nonemptyText($0, "table.version") }) {
            if version.value.utf8.count > 256 {
                problems.error(
                    .badValue, at: version.offset,
                    "table.version has \(version.value.utf8.count) bytes, the limit is 256")
            }
            source.version = version
        }
        source.applications = members["applications"].map { texts($0, "table.applications") } ?? []
        source.canary = members["canary"].flatMap { canary($0) }
        return source
    }

    private mutating func canary(_ value: JSONValue) -> TableSource.Canary? {
        guard let members = object(value, "canary", .canary) else { return nil }
        var percent: Double?
        if let share = members["percent"] {
            if case .number(let text) = share.kind, let number = Double(text), (0...100).contains(number) {
                percent = number
            } else {
                problems.error(.badValue, at: share.offset, "canary.percent must be a number from 0 to 100")
            }
        }
        return TableSource.Canary(
            percent: percent, salt: members["salt"].flatMap { text($0, "canary.salt") }?.value ?? "",
            compareTo: members["compareTo"].flatMap { nonemptyText($0, "canary.compareTo") }?.value,
            offset: value.offset)
    }

    /// Reads `vars`.
    private mutating func readVars(_ value: JSONValue, _ source: inout TableSource) {
        for member in members(value, "vars") ?? [] {
            name(member.name, at: member.nameOffset - 1, "a var", .identifier)
            source.vars.append(TableSource.Var(name: Located(member.name, at: member.nameOffset - 1), isUsed: false))
            if let text = text(member.value, "the var `\(member.name)`") { vars[member.name] = text.value }
        }
    }

    /// Returns the hosts of the link blocks except `""` and `*`, without duplicates.
    private static func defaultExternals(_ blocks: [TableSource.LinkBlock]) -> [HostRule] {
        var seen = Set<HostRule>()
        return blocks.flatMap { $0.hosts.map(\.value) }.filter {
            $0 != .empty && $0 != .any && seen.insert($0).inserted
        }
    }

    /// Reads `externals`.
    private mutating func externals(_ value: JSONValue, _ externals: inout TableSource.Externals) {
        guard let members = object(value, "externals", .externals) else { return }
        if let schemes = members["schemes"] {
            externals.schemes = texts(schemes, "externals.schemes").map { scheme in
                checkScheme(scheme, exactCase: false)
                return scheme.value
            }
        }
        if let hosts = members["hosts"] { externals.hosts = hostRules(hosts, "externals.hosts").map(\.value) }
    }
}
